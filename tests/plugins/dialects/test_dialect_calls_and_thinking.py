"""Arguments of calls and thinking under a patch, in every dialect: nothing else is new, and it reads as it was put."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import pytest

import elision
from elision import Message, Patch, Thinking, ToolCall
from elision.testing import DIALECT_OF, SHAPES, Shape, call, conversation, redacted_thinking, result, thinking

Named = Callable[[str], elision.Dialect]
Read = Callable[[str, Sequence[Any]], elision.History]

CALLED: tuple[Shape, ...] = tuple(shape for shape in SHAPES if not shape.endswith("_text"))
NEW = {"path": "b.py", "text": ["one", {"two": "é"}]}
SIGNED = {"role": "assistant", "content": None}


def said(shape: Shape) -> list[Any]:
    """Return what the model says in one step: thinking, a text and two calls."""
    return (
        conversation(shape)
        .user("Write it.")
        .step(
            thinking("First the file.", signature="c2ln"),
            "I write.",
            call("write_file", path="a.py", text="x" * 900),
            result("ok"),
            call("write_file", path="b.py", text="y" * 900),
            result("ok"),
            extra={"x_vendor": {"seen": [1]}},
        )
        .messages()
    )


def calls_in(history: elision.History) -> Iterator[tuple[Message, int, ToolCall]]:
    for message in history.messages:
        yield from ((message, index, part) for index, part in enumerate(message.parts) if isinstance(part, ToolCall))


def same_but(before: Any, after: Any, changed: str) -> bool:
    """Whether all but the value that holds ``changed`` is the very object that it was."""
    if before is after:
        return True
    if isinstance(before, Mapping) and isinstance(after, Mapping):
        return before.keys() == after.keys() and all(same_but(before[key], after[key], changed) for key in before)
    if isinstance(before, list) and isinstance(after, list):
        return len(before) == len(after) and all(same_but(*pair, changed) for pair in zip(before, after, strict=True))
    return isinstance(before, str) and (changed in before or before == after)


@pytest.mark.parametrize("shape", CALLED)
def test_a_call_gets_other_arguments_and_nothing_else_is_new(shape: Shape, dialect: Named, read: Read) -> None:
    reader, messages = dialect(DIALECT_OF[shape]), said(shape)
    before = copy.deepcopy(messages)
    *_, (message, index, part) = calls_in(read(reader.name, messages))

    sent = reader.patch(message, Patch(arguments={index: NEW}))
    patched = reader.parse(sent, read(reader.name, messages[:1])).parts

    assert messages == before
    assert same_but(message.raw, sent, "yyy")
    assert isinstance(patched[index], ToolCall)
    assert (patched[index].id, patched[index].name, patched[index].arguments) == (part.id, part.name, NEW)  # type: ignore[union-attr]
    assert [one for at, one in enumerate(patched) if at != index] == [
        one for at, one in enumerate(message.parts) if at != index
    ]


@pytest.mark.parametrize("shape", CALLED)
def test_arguments_that_are_put_back_give_what_was_there(shape: Shape, dialect: Named, read: Read) -> None:
    reader, messages = dialect(DIALECT_OF[shape]), said(shape)

    for message, index, part in calls_in(read(reader.name, messages)):
        assert reader.patch(message, Patch(arguments={index: part.arguments})) == message.raw


@pytest.mark.parametrize("shape", ["openai", "anthropic", "gemini", "sweagent", "miniswe"])
def test_thinking_goes_and_the_rest_stands_as_it_did(shape: Shape, dialect: Named, read: Read) -> None:
    reader, messages = dialect(DIALECT_OF[shape]), said(shape)
    before = copy.deepcopy(messages)
    message = read(reader.name, messages).messages[1]
    gone = frozenset(index for index, part in enumerate(message.parts) if isinstance(part, Thinking))

    sent = reader.patch(message, Patch(removed=gone))
    left = reader.parse(sent, read(reader.name, messages[:1])).parts

    assert gone
    assert messages == before
    assert "First the file." not in json.dumps(sent)
    assert left == tuple(part for part in message.parts if not isinstance(part, Thinking))
    assert sent.get("x_vendor") is message.raw.get("x_vendor")


def test_one_of_several_thinking_blocks_goes(dialect: Named, read: Read) -> None:
    messages = (
        conversation("anthropic")
        .user("Go on.")
        .step(thinking("One.", signature="c2ln"), redacted_thinking("c2VjcmV0"), "Done.")
        .messages()
    )
    message = read("anthropic", messages).messages[1]

    sent = dialect("anthropic").patch(message, Patch(removed=frozenset({0})))

    assert sent["content"] == message.raw["content"][1:]
    assert [new is old for new, old in zip(sent["content"], message.raw["content"][1:], strict=True)] == [True, True]


@pytest.mark.parametrize("name", ["openai", "sweagent", "miniswe"])
def test_a_message_with_calls_keeps_the_key_of_its_reasoning(name: str, dialect: Named, read: Read) -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "read", "arguments": "{}"}}
    raw = {
        "role": "assistant",
        "content": "",
        "tool_calls": [call],
        "reasoning_content": "Hm.",
        "reasoning_details": [1],
    }
    message = read(name, [raw]).messages[0]

    assert dialect(name).patch(message, Patch(removed=frozenset({0}))) == {**raw, "reasoning_content": ""}


def test_a_message_without_calls_loses_the_key_of_its_reasoning(dialect: Named, read: Read) -> None:
    raw = {"role": "assistant", "content": "31", "reasoning_content": "Hm."}
    message = read("openai", [raw]).messages[0]

    assert dialect("openai").patch(message, Patch(removed=frozenset({0}))) == {"role": "assistant", "content": "31"}


def test_arguments_of_a_custom_tool_are_text_and_stay_text(dialect: Named, read: Read) -> None:
    custom = {"id": "c1", "type": "custom", "custom": {"name": "apply_patch", "input": "*** Begin Patch"}}
    raw = {"role": "assistant", "content": None, "tool_calls": [custom]}
    message = read("openai", [raw]).messages[0]

    sent = dialect("openai").patch(message, Patch(arguments={0: "[15 chars removed]"}))

    assert sent["tool_calls"] == [{**custom, "custom": {"name": "apply_patch", "input": "[15 chars removed]"}}]


def test_the_one_call_of_old_completions_gets_other_arguments(dialect: Named, read: Read) -> None:
    raw = {"role": "assistant", "content": None, "function_call": {"name": "read", "arguments": '{"path": "a"}'}}
    message = read("openai", [raw]).messages[0]

    sent = dialect("openai").patch(message, Patch(arguments={0: {"path": "b"}}))

    assert sent == {**raw, "function_call": {"name": "read", "arguments": '{"path": "b"}'}}


@pytest.mark.parametrize(
    ("item", "changed"),
    [
        ({"type": "custom_tool_call", "call_id": "c", "name": "patch", "input": "diff"}, {"input": "…"}),
        ({"type": "local_shell_call", "call_id": "c", "action": {"command": ["ls"]}}, {"action": {"command": ["…"]}}),
        ({"type": "apply_patch_call", "call_id": "c", "operation": {"diff": "@@"}}, {"operation": {"diff": "…"}}),
    ],
)
def test_items_that_call_get_other_arguments_where_they_have_them(
    item: dict[str, Any], changed: dict[str, Any], dialect: Named, read: Read
) -> None:
    message = read("responses", [{**item, "id": "i_1", "status": "completed"}]).messages[0]

    sent = dialect("responses").patch(message, Patch(arguments={0: next(iter(changed.values()))}))

    assert sent == {**item, "id": "i_1", "status": "completed", **changed}


@pytest.mark.filterwarnings("ignore:Item '.*' on TypedDict class:UserWarning")
def test_an_object_of_a_library_stays_one(dialect: Named, read: Read, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LITELLM_LOCAL_MODEL_COST_MAP", "True")
    litellm = pytest.importorskip("litellm", reason="litellm is not installed")
    function = {"name": "read", "arguments": '{"path": "a"}'}
    raw = litellm.Message(
        role="assistant",
        content="Hi.",
        reasoning_content="Hm.",
        tool_calls=[{"id": "c1", "type": "function", "function": function}],
    )
    message = read("openai", [raw]).messages[0]

    sent = dialect("openai").patch(message, Patch(removed=frozenset({0}), arguments={2: {"path": "b"}}))

    assert (type(sent), type(sent.tool_calls[0])) == (type(raw), type(raw.tool_calls[0]))
    assert (sent.tool_calls[0].function.arguments, sent.reasoning_content) == ('{"path": "b"}', "")
    assert (raw.tool_calls[0].function.arguments, raw.reasoning_content) == ('{"path": "a"}', "Hm.")


@pytest.mark.parametrize(
    "extra",
    [
        {"provider_specific_fields": {"thought_signature": "c2ln"}},
        {"extra_content": {"google": {"thought_signature": "c2ln"}}},
        {"id": "call_1__thought__c2ln"},
    ],
)
def test_a_call_that_carries_a_thought_signature_stays_as_it_is(extra: dict[str, Any], read: Read) -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "read", "arguments": "{}"}, **extra}
    (part,) = read("openai", [{**SIGNED, "tool_calls": [call]}]).messages[0].parts

    assert isinstance(part, ToolCall)
    assert part.fixed


def test_what_the_provider_ties_to_what_follows_stays_as_it_is(read: Read) -> None:
    signed = {"role": "model", "parts": [{"functionCall": {"name": "f", "args": {}}, "thoughtSignature": "c2ln"}]}
    thought = {"role": "model", "parts": [{"text": "Hm.", "thought": True, "thoughtSignature": "c2ln"}, {"text": "31"}]}
    plain = {"role": "model", "parts": [{"text": "Hm.", "thought": True}, {"text": "31"}]}
    parts = [message.parts[0] for message in read("gemini", [signed, thought, plain]).messages]
    reasoning = read("responses", [{"type": "reasoning", "summary": []}]).messages[0].parts[0]

    assert [part.fixed for part in parts if isinstance(part, ToolCall | Thinking)] == [True, True, False]
    assert isinstance(reasoning, Thinking)
    assert reasoning.fixed


@pytest.mark.parametrize("other", [None, 5, [], "x", b"x"])
def test_what_is_no_call_among_calls_stays_and_the_calls_beside_it_keep_their_places(other: Any) -> None:
    """For Claude, a call without an id gets one."""
    named = {"type": "function", "function": {"name": "write_file", "arguments": json.dumps({"text": "x" * 900})}}
    messages: list[Any] = [
        {"role": "user", "content": "Write it."},
        {"role": "assistant", "content": None, "tool_calls": [other, {"id": "", **named}]},
        {"role": "tool", "tool_call_id": "", "content": "ok"},
        {"role": "assistant", "content": "Done."},
        {"role": "user", "content": "And now?"},
        {"role": "assistant", "content": "Nothing."},
    ]
    yaml = "history_processors: [{type: clear_tool_inputs, keep: 0, schedule: every_step}]"

    view = elision.loads(yaml, archive="memory:").process(messages, model="claude-sonnet-4-5")

    calls = view.messages[1]["tool_calls"]
    assert calls[0] == other
    assert calls[1]["id"] == view.messages[2]["tool_call_id"] == "call_1"
    assert "900 chars removed" in calls[1]["function"]["arguments"]
