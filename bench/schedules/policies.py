"""Policies: what is cleared when, without knowing how the run goes on."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from schedules.runs import Bill, Charges, Run

from elision.economics import SHARE, Meter, carried_tokens, polling_auto, request_cost

SUMMARY_TOKENS = 800
WINDOW_SHARE = 0.75


@dataclass
class Request:
    """A request that is about to be sent, and what has been cleared before it."""

    run: Run
    charges: Charges
    t: int = 0
    tokens: int = 0
    cleared: list[bool] = field(default_factory=list)
    first: int = 0

    def stale(self, keep: int) -> list[int]:
        """Return the steps whose results may be cleared: all but the newest, that still stand whole."""
        return [i for i in range(self.first, self.t - keep) if not self.cleared[i] and self.run.results[i]]

    def clear(self, steps: Sequence[int]) -> None:
        """Take note of what is cleared."""
        for step in steps:
            self.tokens -= self.run.removable[step]
            self.cleared[step] = True
        while self.first < self.t and (self.cleared[self.first] or not self.run.results[self.first]):
            self.first += 1


Decide: TypeAlias = Callable[[Request], Sequence[int]]


@dataclass(frozen=True)
class Policy:
    """A name, the results that are kept, and what makes a fresh decision for a run."""

    name: str
    keep: int
    begin: Callable[[Run, Charges], Decide]
    ours: bool = False


def schedule(policy: Policy, run: Run, charges: Charges) -> dict[int, Sequence[int]]:
    """Return what a policy clears in which request."""
    decide = policy.begin(run, charges)
    request = Request(run, charges, tokens=run.head, cleared=[False] * len(run))
    made: dict[int, Sequence[int]] = {}
    for t in range(1, len(run)):
        request.t = t
        request.tokens += run.said[t - 1] + run.results[t - 1]
        steps = sorted(decide(request))
        if steps:
            made[t] = steps
            request.clear(steps)
    return made


def pure(decide: Decide) -> Callable[[Run, Charges], Decide]:
    """Make a policy of a decision that remembers nothing."""
    return lambda _run, _charges: decide


def polling(keep: int, every: int) -> Decide:
    """SWE-agent's ``last_n_observations``; the task is its first observation."""

    def decide(request: Request) -> Sequence[int]:
        stop = (request.t + 1) // every * every - keep - 1
        return [i for i in request.stale(keep) if i < stop]

    return decide


def polling_by_price(keep: int) -> Callable[[Run, Charges], Decide]:
    """``polling: auto``: the economic order quantity of what the run has shown so far."""

    def begin(run: Run, charges: Charges) -> Decide:
        removed = 0

        def decide(request: Request) -> Sequence[int]:
            nonlocal removed
            removed += run.removable[request.t - 1]
            added = run.said_before[request.t] + run.results_before[request.t]
            stale = request.stale(keep)
            price = charges.price
            return stale if len(stale) >= polling_auto(price.write, price.read, keep, added, removed) else ()

        return decide

    return begin


def over(trigger: int, keep: int, at_least: int = 0) -> Decide:
    """Clear all that is stale once the view is over a number of tokens, if that frees enough."""

    def decide(request: Request) -> Sequence[int]:
        if request.tokens <= trigger:
            return ()
        stale = request.stale(keep)
        return stale if sum(request.run.removable[i] for i in stale) >= at_least else ()

    return decide


def over_again(trigger: int, keep: int, at_least: int = 0) -> Decide:
    """The same decided from the whole history each time: from the oldest on, until enough is freed."""

    def decide(request: Request) -> Sequence[int]:
        run, t = request.run, request.t
        if run.head + run.said_before[t] + run.results_before[t] <= trigger:
            return ()
        chosen, freed = [], 0
        for i in range(t - keep):
            if run.results[i]:
                chosen.append(i)
                freed += run.removable[i]
            if 0 < at_least <= freed:
                break
        return [i for i in chosen if not request.cleared[i]]

    return decide


def over_window(keep: int) -> Decide:
    """Clear all that is stale over three quarters of the window."""
    return lambda request: request.stale(keep) if request.tokens > WINDOW_SHARE * request.charges.window else ()


def newest_first(trigger: int, keep: int, share: float = 0.5) -> Decide:
    """Over a number of tokens, clear from the newest stale result back, down to a share of that number."""

    def decide(request: Request) -> Sequence[int]:
        if request.tokens <= trigger:
            return ()
        chosen, tokens = [], request.tokens
        for i in reversed(request.stale(keep)):
            if tokens <= share * trigger:
                break
            chosen.append(i)
            tokens -= request.run.removable[i]
        return chosen

    return decide


def break_even(keep: int, share: float = SHARE, *, limited: bool = True) -> Callable[[Run, Charges], Decide]:
    """Clear all that is stale once it has cost what the clear costs, and where the cache is cold or the window full."""

    def begin(run: Run, charges: Charges) -> Decide:
        price = charges.price
        meter = Meter(price.read, price.write, share)
        spent = request_cost(price, 0, run.head)

        def decide(request: Request) -> Sequence[int]:
            nonlocal meter, spent
            t = request.t
            new = request.tokens if t in run.cold else run.said[t - 1] + run.results[t - 1]
            old = request.tokens - new
            spent += request_cost(price, old, new)
            stale = [i for i in request.stale(keep) if run.removable[i]]
            if not stale:
                return ()
            meter = meter.stepped(carried_tokens(price, old, new, sum(run.removable[i] for i in stale)))
            rewritten = 0 if t in run.cold else run.rewritten(stale[0], t, keep)
            pays = meter.pays(rewritten, spent if limited else math.inf)
            if not pays and request.tokens <= WINDOW_SHARE * charges.window:
                return ()
            spent += (price.write - price.read) * rewritten
            meter = meter.reset()
            return stale

        return decide

    return begin


def dropping(run: Run, charges: Charges, max_size: int, keep_first: int) -> Bill:
    """OpenHands' summarising condenser: over so many events it drops the middle, text included, for a summary.

    The summary's own request pays for what is dropped at the price of input, and for its tokens at that of output.
    """
    made = Bill()
    events = [run.head // 2, run.head - run.head // 2]
    before = 0
    for t in range(len(run)):
        cached = before
        if t:
            events += [run.said[t - 1], run.results[t - 1]]
        if len(events) > max_size:
            stop = len(events) - (max_size // 2 - keep_first - 1)
            stop += (len(events) - stop) % 2
            made.cost += charges.input * sum(events[keep_first:stop]) + charges.output * SUMMARY_TOKENS
            cached = sum(events[:keep_first])
            events[keep_first:stop] = [SUMMARY_TOKENS]
            made.breaks += 1
        before = sum(events)
        made.request(charges.price, cached, before, cold=t in run.cold)
    return made


CLEARING = (
    Policy("no clearing", 5, pure(lambda _request: ())),
    *(Policy(f"last_n_observations 5, polling {n}", 5, pure(polling(5, n))) for n in (1, 5, 10, 25)),
    Policy("last_n_observations 5, polling auto", 5, polling_by_price(5), ours=True),
    Policy("clear_tool_uses 100k, keep 3, stateless", 3, pure(over_again(100_000, 3))),
    Policy("clear_tool_uses 100k, keep 3, sticky", 3, pure(over(100_000, 3))),
    Policy("clear_tool_uses 30k, keep 3, at least 20k", 3, pure(over(30_000, 3, 20_000))),
    Policy("ContextEditing 30k, keep 3, at least 5k", 3, pure(over_again(30_000, 3, 5_000))),
    Policy("over 75 % of the window", 5, pure(over_window(5))),
    Policy("over 64k, oldest first", 5, pure(over(64_000, 5))),
    Policy("over 64k, newest first, down to 32k", 5, pure(newest_first(64_000, 5))),
    Policy("break_even", 5, break_even(5), ours=True),
    Policy("break_even, keep 3", 3, break_even(3), ours=True),
    Policy("break_even, share 0.5", 5, break_even(5, 0.5), ours=True),
    Policy("break_even, share 1", 5, break_even(5, 1.0), ours=True),
    Policy("break_even, share 1, no limit", 5, break_even(5, 1.0, limited=False), ours=True),
)
"""LangChain's ContextEditing with its own defaults is the stateless ``clear_tool_uses``."""

DROPPING = (("OpenHands max_size 240", 240, 2), ("OpenHands max_size 80", 80, 4))
