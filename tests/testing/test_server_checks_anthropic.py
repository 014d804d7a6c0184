"""Messages are checked as Anthropic does; what is nearly the same passes."""

from __future__ import annotations

import pytest
from model_requests import HOUR, MARK, Change, answered, both, case, changed, drop, edit, nothing, valid

# Anthropic: 0 user, 1 assistant with two calls, 2 results, 3 assistant, 4 result, 5 user.

ANTHROPIC = [
    case(
        "a call without a result",
        drop("messages", 2, "content", 1),
        nothing,
        "pairing",
        "messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: call_2",
    ),
    case(
        "the newest call without a result",
        lambda b: b.update(messages=b["messages"][:4]),
        lambda b: b.update(messages=b["messages"][:5]),
        "pairing",
        "messages.3",
    ),
    case(
        "a result without calls",
        drop("messages", 1),
        nothing,
        "pairing",
        "messages.1.content.0: unexpected `tool_use_id` found in `tool_result` blocks: call_1",
    ),
    case(
        "a result of another step",
        edit("messages", 4, "content", 0, "tool_use_id", to="call_1"),
        nothing,
        "pairing",
        "unexpected `tool_use_id`",
    ),
    case(
        "a second result",
        lambda b: b["messages"][2]["content"].append(b["messages"][2]["content"][0]),
        nothing,
        "pairing",
        "multiple `tool_result` blocks",
    ),
    case(
        "a batch that is split",
        lambda b: b["messages"].insert(3, {"role": "user", "content": [b["messages"][2]["content"].pop()]}),
        nothing,
        "pairing",
        "call_2",
    ),
    case(
        "a text before the results",
        lambda b: b["messages"][2]["content"].insert(0, {"type": "text", "text": "x"}),
        lambda b: b["messages"][2]["content"].append({"type": "text", "text": "x"}),
        "pairing",
        "immediately after",
    ),
    case(
        "an id that comes twice",
        both(
            edit("messages", 3, "content", 1, "id", to="call_1"),
            edit("messages", 4, "content", 0, "tool_use_id", to="call_1"),
        ),
        nothing,
        "ids",
        "must be unique",
    ),
    case("an id that is none", edit("messages", 1, "content", 1, "id", to=""), nothing, "ids", "should match pattern"),
    case(
        "an id of another form",
        both(
            edit("messages", 3, "content", 1, "id", to="functions.cat:0"),
            edit("messages", 4, "content", 0, "tool_use_id", to="functions.cat:0"),
        ),
        both(
            edit("messages", 3, "content", 1, "id", to="functions_cat-0"),
            edit("messages", 4, "content", 0, "tool_use_id", to="functions_cat-0"),
        ),
        "ids",
        "should match pattern",
    ),
    case("no limit of the answer", drop("max_tokens"), nothing, "form", "max_tokens: Field required"),
    case("no messages", edit("messages", to=[]), nothing, "form", "at least one message"),
    case(
        "a role of OpenAI's", edit("messages", 5, "role", to="tool"), nothing, "form", "should be 'user' or 'assistant'"
    ),
    case("a system message", edit("messages", 5, "role", to="system"), nothing, "order", 'Unexpected role "system"'),
    case(
        "a system message for a newer model",
        edit("messages", 0, "role", to="system"),
        edit("messages", 5, "role", to="system"),
        "order",
        'Unexpected role "system"',
        model="claude-opus-5-5",
    ),
    case("an assistant first", drop("messages", 0), nothing, "order", 'first message must use the "user" role'),
    case(
        "an unknown key of the request",
        edit("frobnicate", to=1),
        edit("top_k", to=1),
        "keys",
        "frobnicate: Extra inputs",
    ),
    case(
        "an unknown key of a message", edit("messages", 0, "id", to="x"), nothing, "keys", "messages.0.id: Extra inputs"
    ),
    case(
        "an unknown key of a block",
        edit("messages", 1, "content", 0, "x", to=1),
        edit("messages", 1, "content", 0, "citations", to=None),
        "keys",
        "messages.1.content.0.text.x: Extra inputs",
    ),
    case(
        "an unknown key in a result",
        edit("messages", 2, "content", 0, "content", to=[{"type": "text", "text": "a", "x": 1}]),
        edit("messages", 2, "content", 0, "content", to=[{"type": "text", "text": "a"}]),
        "keys",
        "tool_result.content.0.text.x",
    ),
    case(
        "a block of OpenAI's",
        edit("messages", 5, "content", to=[{"type": "image_url", "image_url": {}}]),
        nothing,
        "form",
        "Input tag 'image_url'",
    ),
    case(
        "a call of the user's",
        edit("messages", 5, "content", to=[{"type": "tool_use", "id": "a", "name": "b", "input": {}}]),
        nothing,
        "form",
        "Input tag 'tool_use'",
    ),
    case(
        "arguments that are no object",
        edit("messages", 1, "content", 1, "input", to="{}"),
        nothing,
        "arguments",
        "tool_use.input: Input should be a valid dictionary",
    ),
    case(
        "an empty text",
        edit("messages", 5, "content", to=[{"type": "text", "text": ""}]),
        nothing,
        "blank_text",
        "must be non-empty",
    ),
    case(
        "a text of white space",
        edit("messages", 5, "content", to=[{"type": "text", "text": " \n"}]),
        edit("messages", 5, "content", to=[{"type": "text", "text": " x"}]),
        "blank_text",
        "non-whitespace",
    ),
    case(
        "a blank text in a result",
        edit("messages", 2, "content", 0, "content", to=[{"type": "text", "text": " "}]),
        edit("messages", 2, "content", 0, "content", to=""),
        "blank_text",
        "non-whitespace",
    ),
    case(
        "a blank text of the system's",
        edit("system", to=[{"type": "text", "text": ""}]),
        drop("system"),
        "blank_text",
        "system: text content blocks must be non-empty",
    ),
    case(
        "a breakpoint on an empty text",
        edit("messages", 5, "content", to=[{"type": "text", "text": "", **MARK}]),
        edit("messages", 5, "content", to=[{"type": "text", "text": "x", **MARK}]),
        "blank_text",
        "cache_control cannot be set for empty text",
    ),
    case(
        "an empty message", edit("messages", 5, "content", to=""), nothing, "blank_text", "must have non-empty content"
    ),
    case(
        "an answer that is begun with a blank",
        edit("messages", 5, to={"role": "assistant", "content": "So "}),
        edit("messages", 5, to={"role": "assistant", "content": "So"}),
        "blank_text",
        "trailing whitespace",
    ),
    case(
        "a lone surrogate",
        edit("messages", 5, "content", to="\udc00"),
        edit("messages", 5, "content", to="\U0001f600"),
        "surrogates",
        "not valid JSON",
    ),
    case(
        "five breakpoints",
        both(
            edit("system", to=[{"type": "text", "text": "x", **MARK}]),
            edit("messages", 2, "content", 0, "content", to=[{"type": "text", "text": "x", **MARK}] * 2),
            edit("messages", 2, "content", 1, "cache_control", to=MARK["cache_control"]),
            edit("tools", to=[{"name": "ls", "input_schema": {"type": "object"}, **MARK}]),
        ),
        both(
            edit("system", to=[{"type": "text", "text": "x", **MARK}]),
            edit("messages", 2, "content", 0, "content", to=[{"type": "text", "text": "x", **MARK}] * 2),
            edit("messages", 2, "content", 1, "cache_control", to=MARK["cache_control"]),
        ),
        "breakpoints",
        "A maximum of 4 blocks with cache_control may be provided. Found 5.",
    ),
    case(
        "an hour behind five minutes",
        both(
            edit("system", to=[{"type": "text", "text": "x", **MARK}]),
            edit("messages", 5, "content", to=[{"type": "text", "text": "x", **HOUR}]),
        ),
        both(
            edit("system", to=[{"type": "text", "text": "x", **HOUR}]),
            edit("messages", 5, "content", to=[{"type": "text", "text": "x", **MARK}]),
        ),
        "breakpoints",
        "must not come after",
    ),
    case(
        "a breakpoint on thinking",
        edit("messages", 1, "content", 0, to={"type": "thinking", "thinking": "Hm.", "signature": "x", **MARK}),
        nothing,
        "keys",
        "thinking.cache_control",
    ),
    case(
        "binding without its header",
        edit("thinking", to={"type": "adaptive", "block_binding": {}}),
        edit("thinking", to={"type": "adaptive"}),
        "parameters",
        "thinking-binding-controls-2026-08-01",
        model="claude-opus-5-5",
    ),
    case(
        "thinking that cannot be switched off",
        edit("thinking", to={"type": "disabled"}),
        nothing,
        "parameters",
        '"thinking.type.disabled" is not supported for this model',
        model="claude-opus-5-5",
    ),
    case(
        "thinking with a budget",
        edit("thinking", to={"type": "enabled", "budget_tokens": 1024}),
        edit("thinking", to={"type": "adaptive"}),
        "parameters",
        '"thinking.type.enabled" is not supported for this model',
        model="claude-haiku-5-5",
    ),
    case(
        "a forced tool with a budget",
        both(edit("thinking", to={"type": "enabled"}), edit("tool_choice", to={"type": "any"})),
        edit("tool_choice", to={"type": "any"}),
        "parameters",
        "forces tool use",
    ),
    case(
        "a forced tool",
        edit("tool_choice", to={"type": "any"}),
        edit("tool_choice", to={"type": "auto"}),
        "parameters",
        "forces tool use",
        model="claude-fable-5-1",
    ),
]


@pytest.mark.parametrize(("invalid", "near", "rule", "told", "model"), ANTHROPIC)
def test_anthropic_refuses(invalid: Change, near: Change, rule: str, told: str, model: str | None) -> None:
    base = valid("anthropic", model or "claude-sonnet-4-5")
    status, error, broken = answered("anthropic", changed(base, invalid))

    assert (status, broken) == (400, rule), error
    assert told in error["message"]
    assert error["type"] == "invalid_request_error"
    assert answered("anthropic", changed(base, near)) == (200, None, "")


def test_the_binding_header_lets_the_parameter_pass() -> None:
    body = valid("anthropic", "claude-opus-5-5")
    body["thinking"] = {"type": "adaptive", "block_binding": {"prefix_mismatch_behavior": "drop_block"}}

    assert answered("anthropic", body, anthropic_beta="thinking-binding-controls-2026-08-01")[0] == 200
