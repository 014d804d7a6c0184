"""When clearing pays, from prices and token counts alone."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from elision.economics import (
    MAX_POLLING,
    MOST_OF_SPENT,
    Meter,
    Price,
    break_even_steps,
    carried_tokens,
    polling_auto,
    request_cost,
)

tokens = st.integers(0, 100_000)
prices = st.floats(0.01, 50, allow_nan=False)
few = settings(max_examples=50, deadline=None)


def stepped(meter: Meter, stale: list[int]) -> Meter:
    for number in stale:
        meter = meter.stepped(number)
    return meter


@pytest.mark.parametrize(
    ("ratio", "steps"), [(2, 3), (4, 6), (10, 10), (12.5, 12), (20, 15), (25, 17), (50, 24)], ids=str
)
def test_the_best_polling_grows_with_the_root_of_the_price_of_a_rewrite(ratio: float, steps: int) -> None:
    assert polling_auto(ratio, 1, keep=5, added_tokens=1380, removed_tokens=1200) == steps


@pytest.mark.parametrize("write", [0, 0.5, 1])
def test_polling_is_every_step_where_a_rewrite_costs_nothing_more(write: float) -> None:
    assert polling_auto(write, 1, keep=5, added_tokens=1380, removed_tokens=1200) == 1


def test_polling_is_as_rare_as_can_be_where_reading_is_free_or_nothing_can_go() -> None:
    assert polling_auto(1, 0, keep=5, added_tokens=1380, removed_tokens=1200) == MAX_POLLING
    assert polling_auto(10, 1, keep=5, added_tokens=180, removed_tokens=0) == MAX_POLLING


@few
@given(prices, prices, st.integers(0, 100), tokens, tokens)
def test_polling_is_always_a_number_of_steps(write: float, read: float, keep: int, added: int, removed: int) -> None:
    assert 1 <= polling_auto(write, read, keep, added, removed) <= MAX_POLLING


@pytest.mark.parametrize(("ratio", "steps"), [(12.5, 66), (25, 138), (50, 282)])
def test_clearing_one_result_at_a_time_takes_long_to_pay(ratio: float, steps: int) -> None:
    assert round(break_even_steps(ratio, 1, rewritten_tokens=6900, removed_tokens=1200)) == steps


def test_a_clear_that_removes_nothing_or_saves_nothing_never_breaks_even_and_a_free_one_does_at_once() -> None:
    assert break_even_steps(10, 1, rewritten_tokens=100, removed_tokens=0) == math.inf
    assert break_even_steps(10, 0, rewritten_tokens=100, removed_tokens=100) == math.inf
    assert break_even_steps(1, 1, rewritten_tokens=100, removed_tokens=100) == 0
    assert break_even_steps(10, 1, rewritten_tokens=0, removed_tokens=100) == 0


def test_the_meter_pays_once_what_was_carried_has_cost_as_much_as_the_rewrite() -> None:
    meter = Meter(read=1, write=11, share=1.0)
    paid = [stepped(meter, [100] * steps).pays(rewritten_tokens=50) for steps in range(8)]

    assert paid == [False, False, False, False, False, True, True, True]


def test_a_smaller_share_pays_earlier() -> None:
    carried = [100] * 3

    assert stepped(Meter(1, 11, share=0.5), carried).pays(50)
    assert not stepped(Meter(1, 11, share=1.0), carried).pays(50)


def test_the_meter_begins_again_after_a_clear() -> None:
    meter = stepped(Meter(1, 11), [1000])

    assert meter.reset() == Meter(1, 11)
    assert not meter.reset().pays(0)


def test_a_rewrite_never_costs_more_than_a_part_of_what_was_spent() -> None:
    meter = stepped(Meter(1, 11), [10_000])
    cost = 10 * 500

    assert meter.pays(500, spent=cost / MOST_OF_SPENT)
    assert not meter.pays(500, spent=cost / MOST_OF_SPENT - 1)


def test_a_cold_cache_makes_clearing_free_and_so_does_a_write_price_that_is_not_above_the_read_price() -> None:
    assert Meter(1, 50).stepped(1).pays(rewritten_tokens=0)
    assert Meter(2, 2).stepped(1).pays(rewritten_tokens=100_000)
    assert Meter(2, 1).stepped(1).pays(rewritten_tokens=100_000)


def test_nothing_is_cleared_where_reading_is_free_or_nothing_is_stale() -> None:
    assert not stepped(Meter(0, 1), [100_000] * 100).pays(rewritten_tokens=1)
    assert not stepped(Meter(1, 1), [0] * 100).pays(rewritten_tokens=0)


@few
@given(prices, prices, st.lists(tokens, max_size=20), tokens, tokens)
def test_waiting_longer_or_carrying_more_never_makes_a_clear_pay_less(
    read: float, write: float, stale: list[int], more: int, rewritten: int
) -> None:
    meter = stepped(Meter(read, write), stale)

    assert meter.stepped(more).pays(rewritten) or not meter.pays(rewritten)
    assert meter.pays(max(rewritten - more, 0)) or not meter.pays(rewritten)


@few
@given(prices, prices, st.lists(tokens, max_size=20), tokens, st.integers(-20, 20))
def test_only_the_ratio_of_the_prices_counts(
    read: float, write: float, stale: list[int], rewritten: int, power: int
) -> None:
    unit = 2.0**power
    given_prices, others = (stepped(Meter(read * by, write * by), stale) for by in (1.0, unit))

    assert given_prices.pays(rewritten, spent=1e6) == others.pays(rewritten, spent=1e6 * unit)
    assert polling_auto(write, read, 5, 1380, 1200) == polling_auto(write * unit, read * unit, 5, 1380, 1200)


def test_a_request_in_a_higher_tier_costs_more_for_all_its_tokens() -> None:
    price = Price(read=1, write=10, tiers=((100, 2.0), (200, 5.0)))

    assert request_cost(price, 90, 10) == 90 + 100
    assert request_cost(price, 90, 11) == 2 * (90 + 110)
    assert request_cost(price, 200, 1) == 5 * (200 + 10)


def test_what_is_carried_costs_more_than_its_tokens_where_it_lifts_the_request_into_a_higher_tier() -> None:
    price = Price(read=1, write=10, tiers=((100, 2.0),))

    assert carried_tokens(price, 90, 0, 40) == 40
    assert carried_tokens(price, 120, 0, 40) == 2 * 120 - 80
    assert carried_tokens(price, 300, 0, 40) == 40


@pytest.mark.parametrize("wrong", [-1, math.nan, math.inf])
@pytest.mark.parametrize("make", [lambda wrong: Meter(wrong, 1), lambda wrong: Price(1, wrong)])
def test_what_is_no_price_is_refused(make: Any, wrong: float) -> None:
    with pytest.raises(ValueError, match=r"^(read|write): .* is no price; give a number from 0 up$"):
        make(wrong)


@pytest.mark.parametrize("wrong", [0, -1, math.nan, math.inf])
def test_a_share_must_be_a_number_above_zero(wrong: float) -> None:
    with pytest.raises(ValueError, match=r"^share: .* is not allowed; give a number above 0"):
        Meter(1, 10, share=wrong)
