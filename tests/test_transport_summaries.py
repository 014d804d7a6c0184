"""Models that are asked for summaries: their cost is in the session's usage, and the chain says how to reach them."""

from __future__ import annotations

from typing import Any

import pytest
from forked import RunScript
from summary_runs import chain

from elision import ConfigError
from elision.transport.reaching import reached, ways_to


@pytest.fixture(scope="module")
def seen(with_litellm: RunScript) -> dict[str, Any]:
    return dict(with_litellm("transport_summaries.py", ELISION_ARCHIVE="", ELISION_PLUGINS="")[0])


@pytest.mark.parametrize(
    ("way", "purposes"),
    [
        ("waited for", {"request": 8, "summary": 1}),
        ("probed", {"request": 8, "summary": 1, "probe": 1}),
        ("in the background", {"request": 8, "summary": 1}),
    ],
)
def test_the_usage_of_a_session_is_the_whole_bill_with_summaries_and_probes(
    seen: dict[str, Any], way: str, purposes: dict[str, int]
) -> None:
    bill, billed = seen["bills"][way]

    assert bill["purposes"] == purposes
    assert bill["tokens"] == billed["tokens"]
    assert bill["cost"] == pytest.approx(billed["cost"])


def test_a_summary_that_is_of_no_use_is_in_the_bill(seen: dict[str, Any]) -> None:
    assert seen["useless"]["bill"]["purposes"] == {"request": 8, "summary": 2}
    assert seen["useless"]["bill"]["tokens"] == seen["useless"]["billed"]["tokens"]


def test_a_host_that_sends_its_requests_itself_has_the_bill_of_summaries(seen: dict[str, Any]) -> None:
    assert seen["sent_elsewhere"]["purposes"] == {"summary": 2}
    assert seen["sent_elsewhere"]["cost"] > 0


@pytest.mark.parametrize("name", ["unnamed", "run-7"])
def test_a_run_that_is_gone_on_with_has_its_bill(seen: dict[str, Any], name: str) -> None:
    before, after = (seen["goes_on"][name][when] for when in ("before", "after"))

    assert before["purposes"] == {"request": 8, "summary": 1, "probe": 1}
    assert after["purposes"] == {"request": 9, "summary": 2, "probe": 2}
    assert after["cost"] > before["cost"]


@pytest.mark.parametrize("name", ["unnamed", "run-7"])
def test_a_run_that_begins_like_another_has_a_bill_of_its_own(seen: dict[str, Any], name: str) -> None:
    assert seen["goes_on"][name]["fresh"]["purposes"] == {"request": 1}


@pytest.mark.parametrize(
    ("case", "agents", "writers"),
    [
        ("as the call", ["Bearer k-1"], []),
        ("its own address", [], ["Bearer none"]),
        ("its own key", ["Bearer s-2"], []),
        ("another provider", [], ["a-3"]),
        ("its own address, no key", [], ["Bearer o-4"]),
    ],
)
def test_a_summarys_model_is_reached_as_the_chain_says_else_as_the_call_of_its_provider_else_as_the_environment_says(
    seen: dict[str, Any], case: str, agents: list[str], writers: list[str]
) -> None:
    found = seen["ways"][case]

    assert (found["agents"], found["writers"], found["failures"]) == (agents, writers, [])


def test_a_key_whose_variable_is_not_there_is_named_and_the_run_goes_on(seen: dict[str, Any]) -> None:
    found = seen["ways"]["no such variable"]

    assert (found["agents"], found["writers"]) == ([], [])
    assert "environment variable SUMMARY_KEY, and there is none; set it" in found["failures"][0]


def test_a_key_that_a_server_quotes_stands_in_no_report(seen: dict[str, Any]) -> None:
    assert seen["quoted"]["requests"] >= 1
    assert any("Incorrect API key provided: [removed: key]" in each for each in seen["quoted"]["failures"])
    assert seen["quoted"]["leaks"] == []


def test_a_key_of_the_call_does_not_go_to_an_address_that_the_chain_names_in_another_way() -> None:
    with reached("bedrock/anthropic.claude-v2", {"aws_session_token": "t-1", "api_key": "k-1"}):
        own = {"aws_bedrock_runtime_endpoint": "https://other.example.com"}

        assert ways_to("bedrock/amazon.titan", own) == own
        assert ways_to("bedrock/amazon.titan", {}) == {"aws_session_token": "t-1", "api_key": "k-1"}


def test_other_arguments_of_litellm_are_passed_on(seen: dict[str, Any]) -> None:
    assert seen["arguments"] == {"temperature": [0.2], "max_completion_tokens": [9000], "max_tokens": [None]}


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ("{api_key: sk-1234}", "api_key: a key does not belong in a chain; write os.environ/NAME"),
        ("{extra_headers: {Authorization: Bearer x}}", "extra_headers.Authorization: a key does not belong"),
        ("{extra_body: {servers: [{x-api-key: abc}]}}", "extra_body.servers.x-api-key: a key does not belong"),
        ("{aws_secret_access_key: abc}", "aws_secret_access_key: a key does not belong"),
        ("{extra_headers: {Ocp-Apim-Subscription-Key: abc}}", "Subscription-Key: a key does not belong"),
        ("{api_base: 'https://bob:hunter22@example.com'}", "api_base: a key does not belong"),
        ("{user: sk-ant-api03-abcdefghijklmnopqrst}", "user: a key does not belong"),
        ("{api_key: os.environ/}", "'os.environ/' names no environment variable"),
        ("{timeout: 5}", "timeout: it is the option `timeout_seconds`; remove it here"),
        ("{stream: true}", "stream: the answer is awaited as a whole; remove it here"),
        ("{model: x}", "model: it is the option `model`; remove it here"),
        ("[1]", "model_kwargs"),
    ],
)
def test_arguments_that_are_refused_say_what_to_write(arguments: str, told: str) -> None:
    with pytest.raises(ConfigError) as caught:
        chain(f"summarizer: llm, model: openai/gpt-4.1, model_kwargs: {arguments}")

    assert told in str(caught.value)
    assert not any(key in str(caught.value) for key in ("sk-1234", "hunter22", "sk-ant"))


@pytest.mark.parametrize("arguments", ["{api_key: none}", "{temperature: 0, seed: 7, stop: [x]}", "{max_tokens: 9000}"])
def test_arguments_without_secrets_are_taken(arguments: str) -> None:
    made = chain(f"summarizer: llm, model: openai/gpt-4.1, model_kwargs: {arguments}")

    assert len(made.processors) == 1


def test_arguments_for_a_summarizer_that_asks_no_model_are_an_error() -> None:
    with pytest.raises(ConfigError, match="model_kwargs are for the model of summarizer: llm"):
        chain("model_kwargs: {api_base: 'http://127.0.0.1:9'}")
