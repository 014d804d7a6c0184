from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest

import elision

Named = Callable[[str], elision.Dialect]
Read = Callable[[str, Sequence[Any]], elision.History]
MARK = {"type": "ephemeral"}
SYSTEM = {"role": "system", "content": "You are an agent.", "agent": "main", "message_type": "system_prompt"}
TASK = {"role": "user", "content": "Fix it.", "agent": "main", "message_type": "observation"}
ACTION = {
    "role": "assistant",
    "content": "Look.\n```\nls -a\n```",
    "thought": "Look.",
    "action": "ls -a",
    "agent": "main",
    "tool_calls": None,
    "message_type": "action",
}
OUTPUT = {"role": "user", "content": "a.py", "agent": "main", "message_type": "observation"}
CALLED = {
    **ACTION,
    "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "bash", "arguments": '{"command": "ls"}'}}],
    "thinking_blocks": [{"type": "thinking", "thinking": "Hm.", "signature": "sig=="}],
}
RESULT = {
    "role": "tool",
    "content": "a.py",
    "agent": "main",
    "message_type": "observation",
    "tool_call_ids": ["c1"],
}


def bare(*items: dict[str, Any]) -> list[dict[str, Any]]:
    """Items as the oldest files have them."""
    return [{key: value for key, value in item.items() if key not in {"message_type", "tool_calls"}} for item in items]


def kinds(history: elision.History) -> list[str]:
    return [message.kind for message in history.messages]


def patched(dialect: Named, raw: Any, patch: elision.Patch) -> Any:
    reader = dialect("sweagent")
    return reader.patch(reader.parse(raw, elision.History(reader.wire)), patch)


@pytest.mark.parametrize("items", [[SYSTEM, TASK, ACTION, OUTPUT], bare(SYSTEM, TASK, ACTION, OUTPUT)])
def test_the_user_item_after_an_action_in_text_is_its_result(items: list[Any], read: Read) -> None:
    history = read("sweagent", items)

    assert kinds(history) == ["system", "task", "action", "observation"]
    assert [paired.call for paired in history.observations] == [elision.ToolCall("", "ls", {"command": "ls -a"})]
    assert not history.poisoned


def test_a_tool_item_answers_by_its_first_id(read: Read) -> None:
    history = read("sweagent", [SYSTEM, TASK, CALLED, RESULT])

    (paired,) = history.observations
    assert paired.call is not None
    assert (paired.call.id, paired.call.name) == ("c1", "bash")
    assert [type(part).__name__ for part in history.messages[2].parts] == ["Thinking", "Text", "ToolCall"]
    assert not history.poisoned


def test_a_second_observation_item_is_an_observation_even_without_an_action(read: Read) -> None:
    history = read("sweagent", [TASK, OUTPUT, OUTPUT])

    assert kinds(history) == ["task", "observation", "observation"]
    assert [paired.call for paired in history.observations] == [None, None]


def test_demonstrations_are_neither_the_task_nor_observations(read: Read) -> None:
    demo = {"role": "user", "content": "Here is a demonstration.", "message_type": "demonstration", "is_demo": True}
    steps = [{**item, "is_demo": True} for item in (TASK, ACTION, OUTPUT)]

    history = read("sweagent", [SYSTEM, demo, *steps, TASK, ACTION, OUTPUT])

    assert kinds(history) == ["system", "demo", "demo", "demo", "demo", "task", "action", "observation"]
    assert history.task == 5
    assert [paired.address.position for paired in history.observations] == [7]
    assert [paired.address.position for paired in history.demos.values()] == [4]


def test_items_of_a_question_asked_again_are_plain_messages(read: Read) -> None:
    again = [
        {"role": "assistant", "content": "no command", "agent": "main", "message_type": "assistant"},
        {"role": "user", "content": "Give a command.", "agent": "main", "message_type": "user"},
    ]

    history = read("sweagent", [SYSTEM, TASK, ACTION, OUTPUT, *again])

    assert kinds(history)[4:] == ["action", "user"]
    assert history.steps[1].calls == ()


def test_a_user_item_that_follows_no_action_is_the_users(read: Read) -> None:
    history = read("sweagent", bare(SYSTEM, TASK, ACTION, OUTPUT, {**OUTPUT, "content": "Stop."}))

    assert kinds(history)[3:] == ["observation", "user"]


@pytest.mark.parametrize(
    ("tags", "known"), [(["b", "a"], {"a", "b"}), ("a", {"a"}), (None, set()), ([], set()), (3, set())]
)
def test_tags_are_read_in_any_form(tags: Any, known: set[str], read: Read) -> None:
    assert read("sweagent", [{**OUTPUT, "tags": tags}]).messages[0].tags == known


def test_tags_are_written_in_order(dialect: Named) -> None:
    assert patched(dialect, RESULT, elision.Patch(tags=frozenset("cab"))) == {**RESULT, "tags": ["a", "b", "c"]}
    assert "tags" not in RESULT


@pytest.mark.parametrize(
    ("item", "marked"),
    [
        (OUTPUT, {**OUTPUT, "content": [{"type": "text", "text": "a.py", "cache_control": MARK}]}),
        (RESULT, {**RESULT, "content": [{"type": "text", "text": "a.py"}], "cache_control": MARK}),
        (
            {**RESULT, "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]},
            {
                **RESULT,
                "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}],
                "cache_control": MARK,
            },
        ),
        (
            {**OUTPUT, "content": [{"type": "text", "text": "a"}, {"type": "image_url", "image_url": {"url": "u"}}]},
            {
                **OUTPUT,
                "content": [
                    {"type": "text", "text": "a"},
                    {"type": "image_url", "image_url": {"url": "u"}, "cache_control": MARK},
                ],
            },
        ),
    ],
    ids=["user", "tool", "tool with parts", "text and image"],
)
def test_breakpoints_are_written_as_sweagent_writes_them_on_the_last_part(
    item: Any, marked: Any, dialect: Named
) -> None:
    sent = patched(dialect, item, elision.Patch(mark=True))

    assert sent == marked
    assert "cache_control" not in str(patched(dialect, sent, elision.Patch(mark=False)))


def test_an_elided_item_has_a_string_and_keeps_its_other_keys(dialect: Named) -> None:
    raw = {**RESULT, "content": [{"type": "text", "text": "a.py"}], "unknown": 1}

    assert patched(dialect, raw, elision.Patch(contents={0: (elision.Text("gone"),)})) == {**raw, "content": "gone"}


@pytest.mark.parametrize("items", [[SYSTEM, TASK, CALLED, RESULT], [SYSTEM, TASK, ACTION, OUTPUT]])
def test_what_was_read_can_be_built_again(items: list[Any], dialect: Named, read: Read) -> None:
    history = read("sweagent", items)

    built = [raw for message in history.messages for raw in dialect("sweagent").build(message)]

    assert built[:2] == items[:2]
    assert built[2] | {"action": ""} | {"thought": ""} == items[2] | {"action": ""} | {"thought": ""}
    assert built[3] is items[3]
    assert [(m.kind, m.parts) for m in read("sweagent", built).messages][2] == (
        history.messages[2].kind,
        history.messages[2].parts,
    )


def test_a_dangling_call_is_reported_and_not_mended(send: Callable[..., elision.SentView]) -> None:
    view = send([SYSTEM, TASK, CALLED, {**OUTPUT, "message_type": "user"}])

    assert view.dialect == "sweagent"
    assert [pending.call_id for pending in view.pending] == ["c1"]
    assert not view.repairs
    assert len(view.messages) == 4
