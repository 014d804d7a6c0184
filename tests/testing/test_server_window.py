"""A request that does not fit is refused in the words of its provider, and counted as Elision counts."""

from __future__ import annotations

import pytest
from model_client import asked, post

from elision.testing import ModelServer, conversation
from elision.tokens import count_messages, count_system

SMALL = {"window": {"input_tokens": 500}}
TEXT = "word " * 700
WORDS = {
    "gpt-4.1": "This model's maximum context length is 500 tokens. However, your messages resulted in",
    "gpt-5.2": "Input tokens exceed the configured limit of 500 tokens. Your messages resulted in",
    "a-model-of-ours": "Input tokens exceed the configured limit of 500 tokens.",
    "claude-sonnet-4-5": "tokens > 500 maximum",
    "deepseek-v4-pro": "This model's maximum context length is 500 tokens. However, you requested",
    "gemini-3.1-pro": "exceeds the maximum number of tokens allowed (500)",
    "glm-5.3": "Prompt exceeds max length",
    "grok-4.7": "This model's maximum prompt length is 500 but the request contains",
    "kimi-k3.1-pro": "Your request exceeded model token limit: 500",
    "minimax-m3": "context window exceeds limit",
    "qwen3-max": "Range of input length should be [1, 500]",
}


@pytest.mark.parametrize("model", WORDS)
def test_chat_completions_that_do_not_fit_are_refused_in_the_words_of_the_provider(model: str) -> None:
    with ModelServer(profile=SMALL) as server:
        status, answer = post(server, "openai", {"model": model, "messages": [{"role": "user", "content": TEXT}]})
        near, _ = post(server, "openai", {"model": model, "messages": [{"role": "user", "content": TEXT[:1000]}]})

    assert (status, near) == (400, 200)
    assert WORDS[model] in answer["error"]["message"]
    assert [each.rule for each in server.invalid] == ["window"]


def test_messages_that_do_not_fit_are_refused_with_their_size() -> None:
    history = conversation("anthropic").system("Be brief.").user(TEXT)
    body = {"model": "claude-sonnet-4-5", "max_tokens": 9, **history.request()}
    tokens = count_messages([history.messages()], "anthropic", "claude-sonnet-4-5")[0]
    tokens += count_system("Be brief.", "claude-sonnet-4-5")
    with ModelServer(profile=SMALL) as server:
        _, answer = post(server, "anthropic", body)

    assert answer["error"]["type"] == "invalid_request_error"
    assert answer["error"]["message"] == f"prompt is too long: {tokens} tokens > 500 maximum"


def test_responses_that_do_not_fit_are_refused_unless_the_provider_may_truncate() -> None:
    body = {"model": "gpt-5.2", "input": TEXT}
    with ModelServer(profile=SMALL) as server:
        status, answer = post(server, "responses", body)
        asked(server, "responses", {**body, "truncation": "auto"})

    assert (status, answer["error"]["code"]) == (400, "context_length_exceeded")


def test_the_window_is_that_of_the_model() -> None:
    body = {"messages": [{"role": "user", "content": "word " * 150_000}]}
    with ModelServer() as server:
        short, _ = post(server, "openai", {"model": "gpt-4o", **body})
        long, _ = post(server, "openai", {"model": "gpt-4.1", **body})

    assert (short, long) == (400, 200)
