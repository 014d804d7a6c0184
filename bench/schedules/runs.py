"""Runs as token counts, what models charge, and the exact bill of a schedule of clears.

Request ``t`` of a run sends its head and, of each step before, what the assistant said and the step's results or their
placeholder.  A run of parallel calls counts as one result, and text of the user as said by the assistant before it.
"""

from __future__ import annotations

import json
import math
import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from pathlib import Path
from typing import Any

from elision.dialect import Dialect, detect
from elision.documents import read_runs
from elision.economics import Price, request_cost
from elision.errors import InputError
from elision.history import History
from elision.registry import plugins
from elision.tokens import count_messages, count_text

PLACEHOLDER_TOKENS = 14
MIN_CACHED = 1024


@dataclass(frozen=True)
class Run:
    """The tokens of a run, a step each; ``cold`` are the requests that find no cache."""

    name: str
    head: int
    said: Sequence[int]
    results: Sequence[int]
    cold: frozenset[int] = frozenset()

    def __len__(self) -> int:
        return len(self.said)

    @cached_property
    def left(self) -> list[int]:
        """Tokens of the placeholder that a step's results leave behind."""
        return [min(result, PLACEHOLDER_TOKENS) for result in self.results]

    @cached_property
    def removable(self) -> list[int]:
        """Tokens that clearing a step's results removes."""
        return [result - left for result, left in zip(self.results, self.left, strict=True)]

    @cached_property
    def said_before(self) -> list[int]:
        """Tokens said before each step, and in all."""
        return [0, *accumulate(self.said)]

    @cached_property
    def results_before(self) -> list[int]:
        """Tokens of results before each step, and in all."""
        return [0, *accumulate(self.results)]

    @cached_property
    def left_before(self) -> list[int]:
        """Tokens of placeholders before each step, and in all."""
        return [0, *accumulate(self.left)]

    def rewritten(self, first: int, t: int, keep: int) -> int:
        """Tokens that the cache holds at request ``t`` and that clearing from step ``first`` on writes again."""
        said = self.said_before[t] - self.said_before[first + 1]
        left = self.left_before[t - keep] - self.left_before[first]
        kept = self.results_before[t] - self.results_before[t - keep]
        return said + left + kept - self.said[t - 1] - self.results[t - 1]


@dataclass(frozen=True)
class Charges:
    """What a model charges for a million tokens, and its window."""

    name: str
    price: Price
    input: float
    output: float
    window: int

    @property
    def ratio(self) -> float:
        """The price of a write over that of a read."""
        return self.price.write / self.price.read


CHARGES = (
    Charges("gpt-4o", Price(1.25, 2.5), 2.5, 10, 128_000),
    Charges("gpt-4.1", Price(0.5, 2), 2, 8, 1_050_000),
    Charges("sonnet-4-6", Price(0.3, 3.75), 3, 15, 1_000_000),
    Charges("gemini-4", Price(0.1, 2), 2, 10, 1_050_000),
    Charges("sonnet-5-5", Price(0.1, 2.5), 2, 10, 1_000_000),
    Charges("fable-5-1", Price(0.25, 12.5), 10, 50, 1_000_000),
    Charges("haiku-5-5 tier", Price(0.01, 0.125, ((100_000, 5.0),)), 0.1, 0.5, 1_000_000),
    Charges("no cache", Price(2, 2), 2, 10, 200_000),
)
"""From litellm's price map; deepseek-v4-flash has the ratio of fable-5-1, and without tiers only the ratio counts."""


@dataclass
class Bill:
    """What a run cost, its largest request, and how many requests broke the cache."""

    cost: float = 0.0
    peak: int = 0
    breaks: int = 0

    def request(self, price: Price, cached: int, total: int, *, cold: bool = False) -> None:
        """Add one request, of whose tokens so many stand in the cache if that is warm and they are enough."""
        cached = 0 if cold or cached < MIN_CACHED else min(cached, total)
        self.cost += request_cost(price, cached, total - cached)
        self.peak = max(self.peak, total)


Schedule = Mapping[int, Sequence[int]]
"""The steps whose results are cleared, in ascending order, under the request that clears them."""


def bill(run: Run, price: Price, schedule: Schedule) -> Bill:
    """Return the exact bill of a run under a schedule of clears."""
    made = Bill()
    standing = list(run.results)
    total = before = run.head
    for t in range(len(run)):
        if t:
            total += run.said[t - 1] + run.results[t - 1]
        cached = before if t else 0
        cleared = schedule.get(t, ())
        if cleared:
            first = cleared[0]
            cached = run.head + run.said_before[first + 1] + sum(standing[:first])
            made.breaks += 1
        for step in cleared:
            total -= standing[step] - run.left[step]
            standing[step] = run.left[step]
        made.request(price, cached, total, cold=t in run.cold)
        before = total
    return made


def synthetic(steps: int, seed: int, *, cold_share: float = 0.0) -> Run:
    """Return a run of results of log-normal size: 1,200 tokens on average, sigma 1.2, at most 16,000."""
    chance = random.Random(f"{steps}/{seed}")  # noqa: S311 (made-up sizes)
    results = [min(16_000, round(lognormal(chance, 1200, 1.2))) for _ in range(steps)]
    said = [round(lognormal(chance, 180, 0.5)) for _ in range(steps)]
    cold = frozenset(t for t in range(1, steps) if chance.random() < cold_share)
    return Run(f"{steps} steps, seed {seed}", 6000, said, results, cold)


def lognormal(chance: random.Random, mean: float, sigma: float) -> float:
    """Return a number of log-normal size with a given mean."""
    return chance.lognormvariate(math.log(mean) - sigma * sigma / 2, sigma)


def recorded(paths: Iterable[Path], *, at_least: int = 5, of_a_file: int = 3) -> Iterator[Run]:
    """Yield the longest runs of recorded histories that an installed dialect reads."""
    dialects = plugins().dialects()
    for path in paths:
        try:
            found = read_runs(path)
        except (InputError, RecursionError):
            continue
        for given in sorted(found, key=lambda each: -len(each.messages))[:of_a_file]:
            try:
                run = counted(path.name, given.messages, detect(dialects, given.messages, given.document), given.system)
            except InputError:
                continue
            if len(run) >= at_least and any(run.results):
                yield run


def counted(name: str, messages: Sequence[Any], dialect: Dialect, system: Any = None) -> Run:
    """Return the tokens of a recorded history, counted as Elision counts them.

    Recordings lack the tools' schemas, so the head is taken to be large enough to be cached.
    """
    history = History(dialect.wire)
    for raw in messages:
        history.append(dialect.parse(raw, history))
    tokens = count_messages([[raw] for raw in messages], dialect.name)
    head = count_text(system if isinstance(system, str) else json.dumps(system)) if system else 0
    said: list[int] = []
    results: list[int] = []
    answers = {address.position for step in history.steps for address in step.results if address is not None}
    for position, message in enumerate(history.messages):
        if message.role == "assistant":
            said.append(tokens[position])
            results.append(0)
        elif not said:
            head += tokens[position]
        elif position in answers:
            results[-1] += tokens[position]
        else:
            said[-1] += tokens[position]
    return Run(name, max(head, MIN_CACHED), said, results)
