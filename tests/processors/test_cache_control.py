"""``cache_control``: marks on the newest messages, on what can carry them, and nowhere else."""

from __future__ import annotations

from typing import Any

import pytest

import elision

MARK = {"type": "ephemeral"}
CALL = {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}
HISTORY: list[dict[str, Any]] = [
    {"role": "system", "content": "You are an agent."},
    {"role": "user", "content": "Fix it."},
    {"role": "assistant", "content": "ok", "tool_calls": [CALL]},
    {"role": "tool", "tool_call_id": "c", "content": "first"},
    {"role": "assistant", "content": "ok", "tool_calls": [CALL]},
    {"role": "tool", "tool_call_id": "c", "content": "second"},
    {"role": "user", "content": "And?"},
]


def marked(history: list[Any], options: str = "") -> list[int]:
    view = elision.loads(f"history_processors: [{{type: cache_control, {options}}}]").process(history)
    return [i for i, message in enumerate(view.messages) if "cache_control" in str(message)]


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ("", [5, 6]),
        ("last_n_messages: 1", [6]),
        ("last_n_messages: 0", []),
        ("last_n_messages: 9", [1, 3, 5, 6]),
        ("last_n_messages_offset: 1", [3, 5]),
        ("last_n_messages_offset: 50", []),
        ("tagged_roles: [system]", [0]),
        ("tagged_roles: []", []),
    ],
)
def test_the_newest_messages_of_the_roles_are_marked(options: str, expected: list[int]) -> None:
    assert marked(HISTORY, options) == expected


def test_the_mark_stands_on_the_part_and_in_tool_messages_beside_the_content() -> None:
    view = elision.loads("history_processors: [{type: cache_control}]").process(HISTORY)

    assert view.messages[6]["content"] == [{"type": "text", "text": "And?", "cache_control": MARK}]
    assert view.messages[5]["cache_control"] == MARK
    assert view.messages[:5] == HISTORY[:5]


def test_the_mark_stands_on_the_last_part_that_can_carry_one() -> None:
    image = {"type": "image_url", "image_url": {"url": "u"}}
    content = [{"type": "text", "text": "see"}, image, {"type": "text", "text": "  "}]
    view = elision.loads("history_processors: [{type: cache_control}]").process([{"role": "user", "content": content}])

    assert view.messages[0]["content"] == [content[0], {**image, "cache_control": MARK}, content[2]]


@pytest.mark.parametrize("content", ["", " \n", None, [], [{"type": "text", "text": ""}]])
def test_a_message_without_text_is_passed_over(content: Any) -> None:
    history = [*HISTORY, {"role": "assistant", "content": "ok"}, {"role": "user", "content": content}]

    assert marked(history) == [5, 6]


def test_marks_of_the_host_are_taken_away_elsewhere_and_text_stays() -> None:
    system = {"role": "system", "content": [{"type": "text", "text": "sys", "cache_control": MARK}]}
    tool = {**HISTORY[3], "cache_control": MARK}
    history = [system, HISTORY[1], HISTORY[2], tool, *HISTORY[4:]]
    view = elision.loads("history_processors: [{type: cache_control}]").process(history)

    assert view.messages[0] == {"role": "system", "content": [{"type": "text", "text": "sys"}]}
    assert view.messages[3] == HISTORY[3]
    assert "cache_control" in history[3]


def test_marking_what_is_marked_changes_nothing() -> None:
    chain = elision.loads("history_processors: [{type: cache_control}]")
    once = chain.process(HISTORY).messages

    assert chain.process(once).messages == once


def test_marks_never_change_the_text_that_an_earlier_request_sent() -> None:
    chain = elision.loads("history_processors: [{type: cache_control}]")
    earlier, later = chain.process(HISTORY[:4]).messages, chain.process(HISTORY).messages

    assert later[:3] == HISTORY[:3]
    assert earlier[3]["content"] == HISTORY[3]["content"] == later[3]["content"]
