"""Messages that say nothing: a fixed text stands in them when they are sent, and the host's stay as they are."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from wire_rules import wire_faults

import elision
from elision import SentView

CALL = {"id": "a", "type": "function", "function": {"name": "bash", "arguments": '{"command": "true"}'}}
ACTION = {"role": "assistant", "content": "", "tool_calls": [CALL]}
GO = {"role": "user", "content": "Go."}
THOUGHT = {"type": "thinking", "thinking": "Hm.", "signature": "c2ln"}
USE = {"role": "assistant", "content": [{"type": "tool_use", "id": "a", "name": "bash", "input": {}}]}
CLAUDE = "claude-sonnet-4-5"
NOTHING: tuple[Any, ...] = (None, [], "", " \n", [{"type": "text", "text": ""}])


def processed(messages: list[Any], dialect: str, model: str | None = None) -> SentView:
    """Put a history through a chain of nothing, twice; the host's messages stay."""
    before = copy.deepcopy(messages)
    chain = elision.loads("history_processors: []", archive="memory:")
    view = chain.process(messages, dialect=dialect, model=model)

    assert messages == before
    assert wire_faults(dialect, view.messages) == []
    assert chain.process(view.messages, dialect=dialect, model=model).messages == view.messages
    return view


@pytest.mark.parametrize("content", NOTHING)
def test_what_claude_would_refuse_behind_chat_completions_is_empty(content: Any) -> None:
    result = {"role": "tool", "tool_call_id": "a", "content": content, "x_host": 1}
    view = processed([GO, ACTION, result, {"role": "assistant", "content": content}, GO], "openai", CLAUDE)

    assert [message["content"] for message in view.messages] == ["Go.", "", "(empty)", "(empty)", "Go."]
    assert view.messages[2]["x_host"] == 1
    assert [(repair.fault, repair.position) for repair in view.repairs] == [("blank_text", 2), ("blank_text", 3)]


@pytest.mark.parametrize("model", [None, "gpt-4o", "deepseek-chat"])
def test_blank_text_stays_where_nobody_is_known_to_refuse_it(model: str | None) -> None:
    messages = [GO, ACTION, {"role": "tool", "tool_call_id": "a", "content": ""}, {"role": "assistant", "content": ""}]
    view = processed(messages, "openai", model)

    assert all(sent is held for sent, held in zip(view.messages, messages, strict=True))


@pytest.mark.parametrize("model", [None, "gpt-4o", CLAUDE])
def test_no_content_is_refused_by_all(model: str | None) -> None:
    messages = [{"role": "user", "content": None}, {"role": "assistant", "content": None}, GO]
    view = processed(messages, "openai", model)

    assert [message["content"] for message in view.messages] == ["(empty)", "(empty)", "Go."]


@pytest.mark.parametrize("key", ["refusal", "audio", "function_call"])
def test_an_assistant_that_says_it_otherwise_needs_no_content(key: str) -> None:
    refused = {"role": "assistant", "content": None, key: {"name": "f", "arguments": "{}"}}
    chain = elision.loads("history_processors: []", archive="memory:")

    assert chain.process([GO, refused], dialect="openai", model=CLAUDE).messages[1] is refused


@pytest.mark.parametrize("content", NOTHING)
def test_an_empty_result_of_anthropics_is_empty(content: Any) -> None:
    block = {"type": "tool_result", "tool_use_id": "a", "content": content}
    view = processed([GO, USE, {"role": "user", "content": [block]}], "anthropic", CLAUDE)

    assert view.messages[2]["content"] == [{**block, "content": view.messages[2]["content"][0]["content"]}]
    assert "(empty)" in str(view.messages[2]["content"])


@pytest.mark.parametrize("content", [[THOUGHT], [{"type": "text", "text": "So."}, THOUGHT], []])
def test_no_message_of_anthropics_ends_with_thinking_or_has_nothing(content: list[Any]) -> None:
    """As a host stores them that was stopped while the model thought."""
    view = processed([GO, {"role": "assistant", "content": content}, GO], "anthropic", CLAUDE)
    sent = view.messages[1]["content"]

    assert sent == ([*content, {"type": "text", "text": "(empty)"}] if content else "(empty)")


def test_a_session_sends_it_as_a_fresh_process_does() -> None:
    messages = [GO, ACTION, {"role": "tool", "tool_call_id": "a", "content": ""}, {"role": "assistant", "content": ""}]
    chain = elision.loads("history_processors: [{type: cache_control}]", archive="memory:")
    with chain.session() as session:
        views = [session.process([*messages[:stop], GO], model=CLAUDE) for stop in (1, 3, 4)]

    assert views[-1].messages == chain.process([*messages, GO], model=CLAUDE).messages
    assert [len(view.repairs) for view in views] == [0, 1, 2]


def test_where_an_orphan_was_first_the_user_still_is() -> None:
    """The host has cut its history between a call and its result."""
    orphan = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "gone", "content": "Lost."}]}
    view = processed([orphan, {"role": "assistant", "content": "I have read it."}, GO], "anthropic", CLAUDE)

    assert [message["role"] for message in view.messages] == ["user", "assistant", "user"]
    assert view.messages[0]["content"] == "(What came before is not in this history.)"
    assert [repair.fault for repair in view.repairs] == ["orphan_result", "no_user_first"]
