"""Responses are checked as OpenAI does; what is nearly the same passes."""

from __future__ import annotations

import pytest
from model_client import PATHS
from model_requests import MARK, OPENAI_MARK, Change, answered, case, changed, drop, edit, move, nothing, valid

from elision.testing import call, conversation, result, text

# Responses: 0 system, 1 user, 2 message, 3 and 4 calls, 5 and 6 results, 7 message, 8 call, 9 result, 10 user.
RESPONSES = [
    case(
        "a call without an output",
        drop("input", -2),
        nothing,
        "pairing",
        "No tool output found for function call call_3.",
    ),
    case(
        "an output without its call",
        drop("input", -3),
        nothing,
        "pairing",
        "No tool call found for function call output with call_id call_3.",
    ),
    case("an output before its call", move("input", -2, -3), move("input", -2, -1), "pairing", "No tool call found"),
    case("a second output", lambda b: b["input"].append(b["input"][-2]), nothing, "pairing", "No tool call found"),
    case("no input", drop("input"), edit("input", to="Go."), "form", "Missing required parameter: 'input'"),
    case("an unknown key of the request", edit("messages", to=[]), edit("store", to=False), "keys", "'messages'"),
    case(
        "an unknown key of an item",
        edit("input", -1, "tags", to=[]),
        edit("input", -1, "type", to="message"),
        "keys",
        ".tags'",
    ),
    case(
        "a part of chat completions",
        edit("input", -1, "content", to=[{"type": "text", "text": "x"}]),
        edit("input", -1, "content", to=[{"type": "input_text", "text": "x"}]),
        "form",
        "Invalid value: 'text'",
    ),
    case(
        "a part of the other side",
        edit("input", -1, "content", to=[{"type": "output_text", "text": "x"}]),
        nothing,
        "form",
        "Invalid value: 'output_text'",
    ),
    case(
        "a role that is none",
        edit("input", -1, "role", to="tool"),
        edit("input", -1, "role", to="developer"),
        "form",
        "Invalid value: 'tool'",
    ),
    case(
        "arguments that are no JSON",
        edit("input", -3, "arguments", to="{bad"),
        edit("input", -3, "arguments", to="{}"),
        "arguments",
        "arguments",
    ),
    case("a call without an id", edit("input", -3, "call_id", to=""), nothing, "form", "call_id"),
    case(
        "no content",
        edit("input", -1, "content", to=None),
        edit("input", -1, "content", to=""),
        "blank_text",
        "content",
    ),
    case("a lone surrogate", edit("input", -1, "content", to="\ud800"), nothing, "surrogates", "could not parse"),
    case(
        "Anthropic's breakpoint",
        edit("input", -1, "content", to=[{"type": "input_text", "text": "x", **MARK}]),
        edit("input", -1, "content", to=[{"type": "input_text", "text": "x", **OPENAI_MARK}]),
        "keys",
        "cache_control",
        model="gpt-5.6",
    ),
    case(
        "a response that is not kept",
        edit("previous_response_id", to="resp_9"),
        edit("previous_response_id", to=None),
        "form",
        "resp_9",
    ),
    case(
        "reasoning that was never given",
        lambda b: b["input"].insert(
            -3, {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "gAAA"}
        ),
        nothing,
        "thinking",
        "could not be verified",
    ),
]


@pytest.mark.parametrize(("invalid", "near", "rule", "told", "model"), RESPONSES)
def test_responses_refuse(invalid: Change, near: Change, rule: str, told: str, model: str | None) -> None:
    base = valid("responses", model or "gpt-5.2")
    status, error, broken = answered("responses", changed(base, invalid))

    assert (status, broken) == (400, rule), error
    assert told in error["message"]
    assert error["type"] == "invalid_request_error"
    assert answered("responses", changed(base, near)) == (200, None, "")


@pytest.mark.parametrize("shape", PATHS)
def test_a_long_conversation_of_all_that_is_allowed_passes(shape: str) -> None:
    history = conversation(shape).system("Be brief.").user(text("Go."), text("On."))  # type: ignore[arg-type]
    for number in range(20):
        history = history.step(f"{number}", call("a"), call("b", x=[1, {"y": None}]), result("one"), result("é\n😀"))
    limit = {"max_tokens": 1} if shape == "anthropic" else {}

    assert answered(shape, {"model": "some-model-of-ours", **history.request(), **limit})[0] == 200
