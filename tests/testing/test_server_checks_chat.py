"""Chat completions are checked as OpenAI and those with its interface do; what is nearly the same passes."""

from __future__ import annotations

import pytest
from model_requests import MARK, OPENAI_MARK, Change, answered, both, case, changed, drop, edit, move, nothing, valid

# Chat completions: 0 system, 1 user, 2 assistant with two calls, 3 and 4 results, 5 assistant, 6 result, 7 user.

CHAT = [
    case("a call without a result", drop("messages", 4), nothing, "pairing", "did not have response messages: call_2"),
    case(
        "the newest call without a result",
        lambda b: b.update(messages=b["messages"][:6]),
        lambda b: b.update(messages=b["messages"][:7]),
        "pairing",
        "call_3",
    ),
    case(
        "a result without calls", drop("messages", 2), nothing, "pairing", "must be a response to a preceeding message"
    ),
    case(
        "a result of another step",
        edit("messages", 6, "tool_call_id", to="call_1"),
        nothing,
        "pairing",
        "'tool_call_id' of 'call_1' not found",
    ),
    case(
        "a second result", edit("messages", 4, "tool_call_id", to="call_1"), move("messages", 4, 3), "pairing", "call_1"
    ),
    case("a batch that is split", move("messages", 7, 4), nothing, "pairing", "call_2"),
    case("a result before its call", move("messages", 3, 2), move("messages", 3, 4), "pairing", "preceeding"),
    case(
        "an id that comes twice in one step",
        both(edit("messages", 2, "tool_calls", 1, "id", to="call_1"), edit("messages", 4, "tool_call_id", to="call_1")),
        nothing,
        "pairing",
        "Duplicate value for 'tool_call_id' of 'call_1'",
    ),
    case(
        "an image in a result",
        edit("messages", 3, "content", to=[{"type": "image_url", "image_url": {"url": "https://example.org/a.png"}}]),
        edit("messages", 1, "content", to=[{"type": "image_url", "image_url": {"url": "https://example.org/a.png"}}]),
        "form",
        "only allowed for messages with role 'user'",
    ),
    case(
        "an id that OpenAI finds too long",
        both(edit("messages", 2, "tool_calls", 0, "id", to="x" * 41), edit("messages", 3, "tool_call_id", to="x" * 41)),
        both(edit("messages", 2, "tool_calls", 0, "id", to="x" * 40), edit("messages", 3, "tool_call_id", to="x" * 40)),
        "ids",
        "maximum length 40",
    ),
    case("no messages", edit("messages", to=[]), nothing, "form", "empty array"),
    case("messages that are no list", edit("messages", to="Go."), nothing, "form", "expected an array of objects"),
    case("no model", drop("model"), nothing, "form", "Missing required parameter: 'model'"),
    case(
        "a role that is none",
        edit("messages", 1, "role", to="human"),
        edit("messages", 1, "role", to="developer"),
        "form",
        "Supported values are",
    ),
    case("an unknown key of the request", edit("frobnicate", to=1), edit("seed", to=1), "keys", "'frobnicate'"),
    case(
        "another provider's key",
        edit("thinking", to={"type": "enabled"}),
        edit("reasoning_effort", to="low"),
        "keys",
        "'thinking'",
    ),
    case(
        "an unknown key of a message",
        edit("messages", 1, "tags", to=["x"]),
        edit("messages", 1, "name", to="x"),
        "keys",
        "'messages[1].tags'",
    ),
    case(
        "reasoning that OpenAI does not take",
        edit("messages", 2, "reasoning_content", to="Hm."),
        edit("messages", 2, "refusal", to=None),
        "keys",
        "reasoning_content",
    ),
    case(
        "an unknown key of a part",
        edit("messages", 1, "content", to=[{"type": "text", "text": "Go.", "x": 1}]),
        edit("messages", 1, "content", to=[{"type": "text", "text": "Go."}]),
        "keys",
        "'messages[1].content[0].x'",
    ),
    case(
        "an unknown key of a call", edit("messages", 2, "tool_calls", 0, "x", to=1), nothing, "keys", "tool_calls[0].x"
    ),
    case(
        "Anthropic's breakpoint",
        edit("messages", 1, "content", to=[{"type": "text", "text": "Go.", **MARK}]),
        edit("messages", 1, "content", to=[{"type": "text", "text": "Go.", **OPENAI_MARK}]),
        "keys",
        "cache_control",
        model="gpt-5.6",
    ),
    case(
        "a part of Anthropic's",
        edit("messages", 1, "content", to=[{"type": "image", "source": {}}]),
        edit("messages", 1, "content", to=[{"type": "image_url", "image_url": {"url": "data:,"}}]),
        "form",
        "'image'",
    ),
    case(
        "arguments that are no JSON",
        edit("messages", 2, "tool_calls", 0, "function", "arguments", to="{bad"),
        edit("messages", 2, "tool_calls", 0, "function", "arguments", to="{}"),
        "arguments",
        "arguments",
    ),
    case(
        "arguments that are no object",
        edit("messages", 2, "tool_calls", 0, "function", "arguments", to="[1]"),
        nothing,
        "arguments",
        "JSON object",
    ),
    case(
        "arguments that are no text",
        edit("messages", 2, "tool_calls", 0, "function", "arguments", to={}),
        nothing,
        "arguments",
        "JSON object",
    ),
    case("a call without a name", drop("messages", 2, "tool_calls", 0, "function", "name"), nothing, "form", "name"),
    case(
        "an empty list of calls",
        edit("messages", 7, to={"role": "assistant", "content": "x", "tool_calls": []}),
        edit("messages", 7, to={"role": "assistant", "content": "x"}),
        "form",
        "empty array",
    ),
    case("an empty list of tools", edit("tools", to=[]), drop("messages", 7), "form", "empty array"),
    case(
        "no content",
        edit("messages", 7, "content", to=None),
        edit("messages", 7, "content", to=""),
        "blank_text",
        "expected a string, got null",
    ),
    case(
        "no content of an assistant",
        edit("messages", 7, to={"role": "assistant", "content": None}),
        edit("messages", 2, "content", to=None),
        "blank_text",
        "got null",
    ),
    case("an empty list of content", edit("messages", 7, "content", to=[]), nothing, "blank_text", "empty array"),
    case(
        "a lone surrogate",
        edit("messages", 7, "content", to="\ud83d"),
        edit("messages", 7, "content", to="\U0001f600"),
        "surrogates",
        "could not parse the JSON body",
    ),
    case(
        "five breakpoints of Qwen's",
        lambda b: [message.update(MARK) for message in b["messages"][:5]],
        lambda b: [message.update(MARK) for message in b["messages"][:4]],
        "breakpoints",
        "maximum of 4",
        model="qwen3-max",
    ),
    case(
        "calls without reasoning for DeepSeek",
        edit("messages", 2, "reasoning_content", to=""),
        both(edit("messages", 2, "reasoning_content", to=""), edit("messages", 5, "reasoning_content", to="Hm.")),
        "thinking",
        "must be passed back",
        model="deepseek-v4-pro",
    ),
    case(
        "calls without reasoning for Kimi",
        nothing,
        both(edit("messages", 2, "reasoning_content", to="Hm."), edit("messages", 5, "reasoning_content", to="Hm.")),
        "thinking",
        "at index 2",
        model="kimi-k3.1-pro",
    ),
    case(
        "calls without reasoning where it is off",
        nothing,
        edit("thinking", to={"type": "disabled"}),
        "thinking",
        "must be passed back",
        model="deepseek-v4-pro",
    ),
]


@pytest.mark.parametrize(("invalid", "near", "rule", "told", "model"), CHAT)
def test_chat_completions_refuse(invalid: Change, near: Change, rule: str, told: str, model: str | None) -> None:
    base = valid("openai", model or "gpt-4.1")
    status, error, broken = answered("openai", changed(base, invalid))

    assert (status, broken) == (400, rule), error
    assert told in error["message"]
    assert (set(error), error["type"]) == ({"message", "type", "param", "code"}, "invalid_request_error")
    assert answered("openai", changed(base, near)) == (200, None, "")
