"""litellm takes the model server for the real thing, on every route."""

from __future__ import annotations

from typing import Any

import pytest
from forked import RunScript
from litellm_calls import LONG, ROUTES

LOOPS = [f"{model} {way}" for model in ROUTES for way in ("whole", "stream")]
PRICED = [run for run in LOOPS if "kimi" not in run]
"""litellm 1.110 does not understand what Kimi reports as read."""
COSTED = [run for run in PRICED if "deepseek" not in run]
"""DeepSeek's price depends on the hour."""


@pytest.fixture(scope="module")
def seen(with_litellm: RunScript) -> dict[str, Any]:
    return dict(with_litellm("litellm_calls.py")[0])


@pytest.mark.parametrize("run", LOOPS)
def test_an_agent_finishes_its_task_over_litellm(seen: dict[str, Any], run: str) -> None:
    found = seen["loops"][run]

    assert found["invalid"] == []
    assert found["texts"] == ["Looking.", "", "Done."]


@pytest.mark.parametrize("run", PRICED)
def test_litellm_reads_the_figures_of_the_cache(seen: dict[str, Any], run: str) -> None:
    found = seen["loops"][run]

    assert found["reads"] == found["server_reads"]
    assert found["reads"][2] > 0


@pytest.mark.parametrize("run", COSTED)
def test_litellm_comes_to_the_cost_of_the_server(seen: dict[str, Any], run: str) -> None:
    found = seen["loops"][run]

    assert found["cost"] == pytest.approx(found["server_cost"])


@pytest.mark.parametrize("model", LONG)
def test_litellm_knows_a_request_that_is_too_long(seen: dict[str, Any], model: str) -> None:
    assert seen["too_long"][model] == "ContextWindowExceededError"


@pytest.mark.parametrize("model", ["openai/gpt-4.1", "anthropic/claude-opus-5"])
def test_litellm_knows_the_failures(seen: dict[str, Any], model: str) -> None:
    names = ["AuthenticationError", "RateLimitError", "InternalServerError", "ServiceUnavailableError"]

    assert seen["failures"][model] == names


def test_responses_go_through_litellm_with_sealed_reasoning(seen: dict[str, Any]) -> None:
    assert seen["responses"] == {"text": "Done.", "read": 2944, "invalid": []}
