"""The bench's optimum is what trying every schedule gives, and no policy does better."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from importlib import import_module
from itertools import product
from typing import Any

import pytest
from doc_blocks import ROOT
from hypothesis import given, settings
from hypothesis import strategies as st

from elision.economics import MOST_OF_SPENT, Price

sys.path.append(str(ROOT / "bench"))
runs: Any = import_module("schedules.runs")
optimum: Any = import_module("schedules.optimum")
policies: Any = import_module("schedules.policies")

RATIOS = (1, 2, 4, 12.5, 25, 50)
few = settings(max_examples=25, deadline=None)


@st.composite
def small_runs(draw: st.DrawFn, longest: int = 7, head: int = 2000) -> Any:
    steps = draw(st.integers(1, longest))
    said = draw(st.lists(st.integers(0, 300), min_size=steps, max_size=steps))
    sizes = st.one_of(st.integers(0, 30), st.integers(100, 5000))
    results = draw(st.lists(sizes, min_size=steps, max_size=steps))
    return runs.Run("small", head, said, results)


def schedules(run: Any, keep: int) -> Iterator[dict[int, list[int]]]:
    """Every schedule: each result is cleared in one of the requests in which it is stale, or never."""
    times = [[None, *range(step + keep + 1, len(run))] if run.removable[step] else [None] for step in range(len(run))]
    for chosen in product(*times):
        yield {t: [step for step, time in enumerate(chosen) if time == t] for t in range(len(run))}


def prefixes(run: Any, keep: int) -> Iterator[dict[int, list[int]]]:
    """Every schedule that clears all that is stale whenever it clears."""
    for fires in product([False, True], repeat=len(run)):
        made, start = {}, 0
        for t in range(1, len(run)):
            if fires[t] and t - keep > start:
                made[t] = [step for step in range(start, t - keep) if run.removable[step]]
                start = t - keep
        yield made


@few
@given(small_runs(), st.sampled_from(RATIOS), st.integers(1, 2))
def test_the_interval_programme_finds_the_cheapest_of_all_schedules(run: Any, ratio: float, keep: int) -> None:
    price = Price(1, ratio)
    least = min(runs.bill(run, price, each).cost for each in schedules(run, keep))

    assert optimum.of_subsets(run, price, keep) == pytest.approx(least, rel=1e-9)


@few
@given(small_runs(longest=9), st.sampled_from(RATIOS), st.integers(1, 3), st.frozensets(st.integers(1, 8)))
def test_the_prefix_programme_finds_the_cheapest_schedule_that_clears_all_with_tiers_and_cold_requests(
    run: Any, ratio: float, keep: int, cold: frozenset[int]
) -> None:
    run = runs.Run("cold", run.head, run.said, run.results, cold)
    price = Price(1, ratio, tiers=((5000, 2.0), (9000, 5.0)))
    least = min(runs.bill(run, price, each).cost for each in prefixes(run, keep))

    assert optimum.of_prefixes(run, price, keep) == pytest.approx(least, rel=1e-9)


@few
@given(small_runs(head=0), st.sampled_from(RATIOS))
def test_tiers_and_small_requests_cost_no_less_than_the_interval_programme_says(run: Any, ratio: float) -> None:
    price = Price(1, ratio, tiers=((3000, 5.0),))
    least = min(runs.bill(run, price, each).cost for each in schedules(run, 1))

    assert optimum.of_subsets(run, price, 1) <= least * (1 + 1e-9)


@pytest.mark.parametrize("ratio", RATIOS)
@pytest.mark.parametrize("steps", [10, 40])
def test_clearing_all_that_is_stale_is_hardly_dearer_than_the_best_choice(steps: int, ratio: float) -> None:
    run, price = runs.synthetic(steps, seed=1), Price(1, ratio)
    best = optimum.of_subsets(run, price, 5)

    assert best * (1 - 1e-9) <= optimum.of_prefixes(run, price, 5) <= 1.02 * best


@pytest.mark.parametrize("policy", policies.CLEARING, ids=lambda policy: policy.name)
def test_no_policy_is_cheaper_than_the_optimum_or_clears_what_it_has_to_keep(policy: Any) -> None:
    run = runs.synthetic(60, seed=3)
    for charges in runs.CHARGES:
        made = policies.schedule(policy, run, charges)
        cleared = [step for steps in made.values() for step in steps]

        assert runs.bill(run, charges.price, made).cost >= optimum.of_subsets(run, charges.price, policy.keep)
        assert len(cleared) == len(set(cleared))
        assert all(step < t - policy.keep for t, steps in made.items() for step in steps)


def break_even(run: Any, ratio: float) -> dict[int, list[int]]:
    charges = runs.Charges("any", Price(1, ratio), 1, 1, 10**9)
    made: dict[int, list[int]] = policies.schedule(policies.Policy("any", 5, policies.break_even(5)), run, charges)
    return made


@pytest.mark.parametrize("ratio", [12.5, 25, 50])
def test_a_short_run_is_left_alone_where_leaving_it_alone_is_best(ratio: float) -> None:
    run = runs.Run("short", 6000, [180] * 14, [1200] * 14)
    none = runs.bill(run, Price(1, ratio), {}).cost

    assert optimum.of_subsets(run, Price(1, ratio), 5) == pytest.approx(none)
    assert break_even(run, ratio) == {}


@few
@given(small_runs(longest=40), st.sampled_from(RATIOS[1:]))
def test_a_run_that_ends_right_after_a_first_clear_has_lost_no_more_than_was_allowed(run: Any, ratio: float) -> None:
    first = next(iter(break_even(run, ratio)), len(run) - 1)
    cut = runs.Run("cut", run.head, run.said[: first + 1], run.results[: first + 1])
    price = Price(1, ratio)

    limit = (1 + MOST_OF_SPENT) * runs.bill(cut, price, {}).cost
    assert runs.bill(cut, price, break_even(cut, ratio)).cost <= limit


def test_without_a_cache_everything_stale_is_cleared_at_once() -> None:
    run = runs.synthetic(40, seed=2)

    assert runs.bill(run, Price(1, 1), break_even(run, 1)).cost == pytest.approx(
        optimum.of_subsets(run, Price(1, 1), 5)
    )


def test_a_cold_cache_is_used_to_clear() -> None:
    run = runs.Run("cold", 6000, [180] * 20, [1200] * 20, frozenset({12}))

    assert list(break_even(run, 50)) == [12]
