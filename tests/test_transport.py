"""``elision.completion`` and ``acompletion``, over the loopback server in every shape."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from forked import RunScript
from transport_calls import ROUTES, TIGHT

import elision
from elision import ElisionError, Usage
from elision.transport.library import KNOWN_BAD, refuse_known_bad
from elision.transport.overflow import Overflow, overflow_of, sizes_in
from elision.transport.usage import usage_of

LOOPS = [f"{model} {way}" for model in ROUTES for way in ("whole", "stream")]
REPORTED = [run for run in LOOPS if run != "moonshot/kimi-k3.1-pro stream"]
"""litellm 1.110 loses what Kimi reports as read in a stream."""
DEMANDING = [run for run in LOOPS if run.startswith(("deepseek", "moonshot"))]


@pytest.fixture(scope="module")
def seen(with_litellm: RunScript) -> dict[str, Any]:
    found, stderr, noise = with_litellm("transport_calls.py", ELISION_ARCHIVE="", ELISION_PLUGINS="")
    return {**found, "stderr": stderr, "noise": noise}


def test_litellm_says_nothing_when_something_is_sent(seen: dict[str, Any]) -> None:
    assert seen["noise"] == []
    assert seen["stderr"] == ""


@pytest.mark.parametrize("run", LOOPS)
def test_an_agent_finishes_its_task_and_no_invalid_request_reaches_the_server(seen: dict[str, Any], run: str) -> None:
    found = seen["loops"][run]

    assert found["invalid"] == []
    assert found["said"] == "Done."


@pytest.mark.parametrize("run", REPORTED)
def test_usage_and_cache_figures_come_back(seen: dict[str, Any], run: str) -> None:
    found = seen["loops"][run]

    assert [each[:2] for each in found["usage"]] == [each[:2] for each in found["server"]]
    assert found["output"]
    assert found["costs"]
    assert found["factor"] == [pytest.approx(1, abs=0.05)]


@pytest.mark.parametrize("run", LOOPS)
def test_unknown_keys_never_leave(seen: dict[str, Any], run: str) -> None:
    assert not {"agent", "trace"} & {key for message in seen["loops"][run]["last"] for key in message}


@pytest.mark.parametrize("run", DEMANDING)
def test_reasoning_that_a_host_does_not_store_is_kept_in_the_ledger_and_put_back_by_step(
    seen: dict[str, Any], run: str
) -> None:
    said = [each for each in seen["loops"][run]["last"] if each["role"] == "assistant"]

    assert [each["reasoning_content"] for each in said] == [f"I look {number}." for number in range(5)]


@pytest.mark.parametrize("way", ["whole", "stream"])
def test_signed_thinking_is_put_back_too(seen: dict[str, Any], way: str) -> None:
    said = [each for each in seen["loops"][f"anthropic/claude-opus-5-5 {way}"]["last"] if each["role"] == "assistant"]

    assert [each["content"][0]["type"] for each in said] == ["thinking"] * 5


def test_reasoning_is_put_back_after_a_restart(seen: dict[str, Any]) -> None:
    assert seen["restarts"]["reasoning"] == ["I look 0.", "I look 1."]


def test_calls_whose_reasoning_nobody_has_get_the_key_that_deepseek_wants(seen: dict[str, Any]) -> None:
    assert seen["bare"]["reasoning"] == ["", ""]


def test_retries_are_litellms_and_what_the_host_gives_is_never_changed(seen: dict[str, Any]) -> None:
    assert seen["bare"]["said"] == "Done."
    assert seen["bare"]["requests"] == 2
    assert seen["bare"]["untouched"]


@pytest.mark.parametrize("model", TIGHT)
def test_a_request_that_is_too_long_goes_out_once_more_strictly_smaller(seen: dict[str, Any], model: str) -> None:
    assert seen["overflows"][model] == {"said": "Done.", "rules": ["window"], "smaller": True, "requests": 2}


TELLING = [model for model in TIGHT if model != "dashscope/qwen3-max"]
"""Models whose provider says how long the request was."""


@pytest.mark.parametrize("model", TELLING)
def test_what_a_provider_says_of_its_limit_holds_for_the_run(seen: dict[str, Any], model: str) -> None:
    assert seen["overflows"][f"{model} again"] == 3


def test_what_cannot_be_made_to_fit_is_a_clear_error(seen: dict[str, Any]) -> None:
    kind, told, requests = seen["hopeless"]["nothing to take"]

    assert (kind, requests) == ("OverBudgetError", 1)
    assert "message 0 (system) 9,001" in told
    assert "maximum context length is 3000 tokens" in told


def test_there_is_exactly_one_smaller_request(seen: dict[str, Any]) -> None:
    kind, told, requests = seen["hopeless"]["refused again"]

    assert (kind, requests) == ("OverBudgetError", 2)
    assert "though it had been reduced" in told


def test_without_a_chain_the_error_is_litellms(seen: dict[str, Any]) -> None:
    kind, _, requests = seen["hopeless"]["no chain"]

    assert (kind, requests) == ("ContextWindowExceededError", 1)


def test_the_chain_decides_anew_for_the_profile_of_each_fallback(seen: dict[str, Any]) -> None:
    found = seen["fallbacks"]

    assert found["said"] == "Second."
    assert found["marks"] == [False, True]
    assert found["invalid"] == []


def test_what_the_budget_refuses_is_not_sent(seen: dict[str, Any]) -> None:
    kind, told, requests = seen["fallbacks"]["over"]

    assert (kind, requests) == ("OverBudgetError", 0)
    assert "message 0 (system) 1,801" in told


@pytest.mark.parametrize("name", ["context_management", "truncation", "window", "fallbacks"])
def test_double_management_is_refused(seen: dict[str, Any], name: str) -> None:
    kind, told = seen["owners"][name]

    assert kind == "InputError"
    assert {"window": "context_window_fallback_dict", "fallbacks": "names no model"}.get(name, f"{name} asks") in told


def test_an_option_that_is_ours_but_for_a_slip_is_not_passed_on(seen: dict[str, Any]) -> None:
    kind, told = seen["owners"]["slip"]

    assert (kind, "did you mean 'chain'?" in told) == ("InputError", True)


def test_the_owner_says_what_is_sent(seen: dict[str, Any]) -> None:
    assert seen["owners"]["sent"] == 0
    assert seen["owners"]["kept"] == [False, True]
    assert seen["owners"]["invalid"] == []


@pytest.mark.parametrize(
    "shape",
    ["sweagent", "sweagent_text", "miniswe", "miniswe_text", "anthropic", "responses", "gemini", "openai", "broken"],
)
def test_histories_of_every_dialect_leave_as_valid_chat_completions(seen: dict[str, Any], shape: str) -> None:
    assert seen["dialects"][shape]["invalid"] == []


def test_acompletion_does_the_same(seen: dict[str, Any]) -> None:
    assert seen["waiting"] == {"said": ["One.", "Two.", "2"], "tight": "ok"}


@pytest.mark.parametrize("release", sorted(KNOWN_BAD))
def test_known_bad_releases_of_litellm_are_not_imported(release: str) -> None:
    with pytest.raises(ElisionError, match="install another"):
        refuse_known_bad(release)


@pytest.mark.parametrize(
    ("usage", "expected"),
    [
        (
            {"prompt_tokens": 100, "completion_tokens": 5, "prompt_tokens_details": {"cached_tokens": 64}},
            (100, 64, 0, 5),
        ),
        (
            {"input_tokens": 36, "cache_read_input_tokens": 64, "cache_creation_input_tokens": 10, "output_tokens": 5},
            (110, 64, 10, 5),
        ),
        (
            {"inputTokens": 36, "cacheReadInputTokens": 64, "cacheWriteInputTokens": 10, "outputTokens": 5},
            (110, 64, 10, 5),
        ),
        ({"input_tokens": 100, "output_tokens": 5, "input_tokens_details": {"cached_tokens": 64}}, (100, 64, 0, 5)),
        ({"prompt_tokens": 100, "completion_tokens": 5, "prompt_cache_hit_tokens": 64}, (100, 64, 0, 5)),
        ({"prompt_tokens": 100, "completion_tokens": 5, "cached_tokens": 64}, (100, 64, 0, 5)),
    ],
)
def test_usage_is_read_under_every_providers_names(usage: dict[str, Any], expected: tuple[int, ...]) -> None:
    assert usage_of({"usage": usage}, "m") == Usage("m", *expected)


@pytest.mark.parametrize(
    ("told", "status", "is_one"),
    [
        ("Input is too long for requested model.", 400, True),
        ("Prompt exceeds max length", 400, True),
        ("invalid params, context window exceeds limit (2013)", 400, True),
        ("Your input exceeds the context window of this model. Please adjust your input and try again.", 400, True),
        ("Request exceeds the maximum allowed number of bytes (32000000)", 413, True),
        ("Rate limit reached: too many tokens per minute", 429, False),
        ("max_tokens: 100000 > 8192, which is the maximum allowed number of output tokens", 400, False),
        ("Invalid value for 'content': expected a string, got null.", 400, False),
        ("The server had an error while processing your request", 500, False),
    ],
)
def test_a_refusal_as_too_long_is_told_from_other_errors(told: str, status: int, is_one: bool) -> None:
    error = RefusalError(told)
    error.status_code = status

    assert (overflow_of(error, SimpleNamespace(ContextWindowExceededError=KeyError)) is not None) is is_one


class RefusalError(Exception):
    """An error of some client, with the status of its response."""

    status_code = 0


def test_usage_of_gemini_is_read() -> None:
    told = {"promptTokenCount": 100, "cachedContentTokenCount": 64, "candidatesTokenCount": 5}

    assert usage_of({"usageMetadata": told}, "m") == Usage("m", 100, 64, 0, 5)
    assert usage_of({"choices": []}, "m") is None


@pytest.mark.parametrize(
    ("told", "expected"),
    [
        ("prompt is too long: 210000 tokens > 200000 maximum", (210000, 200000)),
        (
            "maximum context length is 128,000 tokens. However, your messages resulted in 130,500 tokens.",
            (130500, 128000),
        ),
        (
            "maximum context length is 65536 tokens. However, you requested 70000 tokens (69000 in the messages, 9 in",
            (69000, 65527),
        ),
        ("The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).", (1200000, 1048576)),
        ("input length and `max_tokens` exceed context limit: 188240 + 21333 > 200000, decrease", (188240, 178667)),
        ("request (9000 tokens) exceeds the available context size (4096 tokens)", (9000, 4096)),
        ("Your request exceeded model token limit: 8192 (requested: 9000)", (9000, 8192)),
        ("Range of input length should be [1, 30720]", (0, 30720)),
        ("Input is too long for requested model.", (0, 0)),
    ],
)
def test_the_sizes_in_an_error_are_read(told: str, expected: tuple[int, int]) -> None:
    assert sizes_in(told) == Overflow(*expected)


def test_completion_is_a_public_name_that_loads_nothing_early() -> None:
    assert callable(elision.completion)
    assert callable(elision.acompletion)
