"""A request over a tier costs more, all of it: what keeps it over the tier is worth more to clear."""

from __future__ import annotations

from typing import Any

import pytest
from scheduled_runs import breaks, reads, sent

import elision
from elision import Chain, open_archive

PRICES = {"input": 1.0, "cache_read": 0.02, "cache_write": 1.0, "output": 5.0}
RUN = reads(*[400] * 14).messages()


def broken(tiers: list[dict[str, Any]]) -> list[int]:
    (processor,) = elision.loads("history_processors: [{type: clear_tool_results, keep: 4}]").processors
    chain = Chain(
        [processor],
        archive=open_archive("memory:", environ={}),
        classification=None,
        profile={"prices": {**PRICES, "tiers": tiers}},
    )
    return breaks(sent(chain, RUN))


@pytest.mark.parametrize(("factor", "expected"), [(2, [13]), (5, [11]), (20, [10])])
def test_what_keeps_a_request_over_a_tier_is_cleared_sooner(factor: int, expected: list[int]) -> None:
    tier = {"above_tokens": 4000} | {name: factor * price for name, price in PRICES.items()}

    assert broken([]) == []
    assert broken([tier]) == expected


def test_a_tier_that_no_request_reaches_changes_nothing() -> None:
    tier = {"above_tokens": 400_000} | {name: 5 * price for name, price in PRICES.items()}

    assert broken([tier]) == broken([])
