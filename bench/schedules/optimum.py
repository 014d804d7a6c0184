"""The cheapest schedule of clears for a run that is known to its end.

A request costs ``r * tokens + (w - r) * written``.  Clearing writes again whatever stands behind the first cleared
result, so it is free to clear all that is stale behind it too.  A schedule is therefore a set of pairs (request, first
step), and what a pair costs and saves depends only on the pairs that it encloses: an interval programme.
"""

from __future__ import annotations

from itertools import accumulate

from schedules.runs import Bill, Run

from elision.economics import Price


def of_subsets(run: Run, price: Price, keep: int) -> float:
    """Return the least cost over all schedules that keep the newest results: O(T^3).

    Exact where no request is in a higher price tier, meets a cold cache or is too small to be cached; else a lower
    bound, because these only make requests dearer.
    """
    steps, read = len(run), price.read
    extra = price.write - read
    removed = [0, *accumulate(run.removable)]
    # gains[a][e]: what the best clears of steps from a on change in the requests before e, if none of them is cleared
    # before and all are cleared at e; by_end is the same, the other way round.
    gains = [[0.0] * (steps + 1) for _ in range(steps + 2)]
    by_end = [[0.0] * (steps + 2) for _ in range(steps + 1)]
    for a in range(steps - keep - 2, -1, -1):
        behind, earliest = gains[a + 1], a + keep + 1
        gains[a] = row = list(behind)
        if run.removable[a]:
            freed = [read * (removed[t - keep] - removed[a]) for t in range(earliest, steps)]
            fixed = [
                behind[t] + extra * run.rewritten(a, t, keep) + t * free
                for t, free in zip(range(earliest, steps), freed, strict=True)
            ]
            for end in range(earliest + 1, steps + 1):
                after = by_end[end][a + 1 : a + 1 + end - earliest]
                best = min(cost - end * free + later for cost, free, later in zip(fixed, freed, after, strict=False))
                row[end] = min(row[end], best)
        for end in range(steps + 1):
            by_end[end][a] = row[end]
    sent = [run.head + run.said_before[t] + run.results_before[t] for t in range(steps)]
    return read * sum(sent) + extra * sent[-1] + gains[0][steps]


def of_prefixes(run: Run, price: Price, keep: int) -> float:
    """Return the least cost over all schedules that clear everything stale whenever they clear: O(T^2).

    The state is the last request that cleared, so tiers and cold requests are exact.
    """
    whole = next_removable(run)
    costs = {0: request(run, price, 0, 0, keep)} if len(run) else {0: 0.0}
    for t in range(1, len(run)):
        cleared = [
            cost + request(run, price, t, t, keep, first=first)
            for last, cost in costs.items()
            if (first := whole[max(0, last - keep)]) < t - keep
        ]
        costs = {last: cost + request(run, price, t, last, keep) for last, cost in costs.items()}
        if cleared:
            costs[t] = min(cleared)
    return min(costs.values())


def next_removable(run: Run) -> list[int]:
    """Return, for each step, the first one from there on whose results can be cleared."""
    found = [len(run)] * (len(run) + 1)
    for step in range(len(run) - 1, -1, -1):
        found[step] = step if run.removable[step] else found[step + 1]
    return found


def request(run: Run, price: Price, t: int, last: int, keep: int, *, first: int | None = None) -> float:
    """Return the cost of request ``t`` after a clear at ``last``; ``first`` is the first step that it clears itself."""
    made = Bill()
    total = tokens(run, t, last, keep)
    if first is None:
        cached = tokens(run, t - 1, last, keep) if t else 0
    else:
        cached = run.head + run.said_before[first + 1] + run.left_before[first]
    made.request(price, cached, total, cold=t in run.cold)
    return made.cost


def tokens(run: Run, t: int, last: int, keep: int) -> int:
    """Return the tokens of request ``t`` if all that was stale at request ``last`` is cleared."""
    cut = max(0, last - keep)
    return run.head + run.said_before[t] + run.left_before[cut] + run.results_before[t] - run.results_before[cut]
