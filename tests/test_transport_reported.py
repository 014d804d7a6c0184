"""What providers report and sign is in the ledger: a run that another process goes on with has it."""

from __future__ import annotations

from typing import Any

import pytest
from forked import RunScript


@pytest.fixture(scope="module")
def restarts(with_litellm: RunScript) -> dict[str, Any]:
    return dict(with_litellm("transport_restarts.py", ELISION_ARCHIVE="", ELISION_PLUGINS="")[0])


@pytest.fixture(scope="module")
def gemini(with_litellm: RunScript) -> dict[str, Any]:
    return dict(with_litellm("gemini_calls.py", ELISION_ARCHIVE="", ELISION_PLUGINS="")[0])


def test_usage_and_cache_figures_are_known_after_a_restart(restarts: dict[str, Any]) -> None:
    found = restarts["answered"]

    assert found["after"]["usage"][:2] == found["before"]["usage"]
    assert len(found["after"]["usage"]) == 5
    assert found["again"]["usage"][:5] == found["after"]["usage"]
    assert len(found["again"]["usage"]) == found["server"]


def test_what_a_provider_counts_over_what_we_count_is_known_after_a_restart(restarts: dict[str, Any]) -> None:
    (before,), (after,), (again,) = (
        restarts["answered"][name]["factors"].values() for name in ("before", "after", "again")
    )

    assert (before[1], after[1], again[1]) == (2, 5, 6)
    assert 0.5 < after[0] < 2


def test_how_long_a_request_may_be_is_known_after_a_restart(restarts: dict[str, Any]) -> None:
    assert restarts["refused"] == {"requests": [2, 3], "rules": ["window"]}


@pytest.mark.parametrize("restarted", ["False", "True"])
@pytest.mark.parametrize("ids", ["True", "False"])
def test_thought_signatures_of_gemini_that_a_host_does_not_store_are_put_back_by_step(
    gemini: dict[str, Any], ids: str, restarted: str
) -> None:
    calls = [[None, f"c2lnbmF0dXJl{number}", None] for number in range(3)]

    assert gemini[f"{ids} {restarted}"] == [*calls, ["c2lnbmVkIHRleHQ="]]
