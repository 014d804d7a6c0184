"""A dialect that was named: taken at its word where its messages are odd, refused where they are another one's."""

from __future__ import annotations

import json
from collections.abc import Sequence
from copy import deepcopy
from typing import Any

import pytest

import elision
from elision.dialect import detect
from elision.registry import plugins

USER = {"role": "user", "content": "Fix it."}
ANSWER = {"role": "assistant", "content": "Done."}
USE = {"role": "assistant", "content": [{"type": "tool_use", "id": "t1", "name": "ls", "input": {}}]}
RESULT = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": "a.py"}]}
CALLS = {
    "role": "assistant",
    "content": None,
    "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "ls", "arguments": "{}"}}],
}
TOOL = {"role": "tool", "tool_call_id": "c1", "content": "a.py"}


def refused(messages: list[Any], *, chain: elision.Chain | None = None, **options: Any) -> str:
    with pytest.raises(elision.InputError) as caught:
        (chain or elision.Chain([])).process(messages, **options)
    return str(caught.value)


def test_messages_of_another_dialect_are_refused_with_what_does_not_fit_and_which_dialect_does() -> None:
    told = (
        "dialect: 'anthropic' was named, but message 1 (role 'assistant', keys role, content, tool_calls) does not fit "
        "it; 'openai' fits; give --from openai (in Python and in chains dialect), or leave it out"
    )

    assert refused([USER, CALLS, TOOL], dialect="anthropic") == told
    assert refused([USER, CALLS, TOOL], chain=elision.Chain([], dialect="anthropic")) == told


def test_parts_that_do_not_fit_are_named() -> None:
    image = {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "u"}}]}

    assert "message 0 (role 'user', keys role, content, parts image_url) does not fit" in refused(
        [image], dialect="anthropic"
    )


def test_a_session_refuses_a_dialect_as_soon_as_its_messages_are_of_another_one() -> None:
    session = elision.Chain([], dialect="anthropic").session()
    session.process([USER])

    with pytest.raises(elision.InputError, match="'openai' fits"):
        session.process([USER, CALLS, TOOL])


@pytest.mark.parametrize("name", ["openai", "sweagent", "miniswe"])
@pytest.mark.parametrize("messages", [[USER], [USER, ANSWER], [USER, CALLS, TOOL]], ids=["task", "text", "calls"])
def test_chat_completions_can_be_read_as_each_dialect_that_is_made_of_them(name: str, messages: list[Any]) -> None:
    view = elision.Chain([]).process(messages, dialect=name)

    assert (view.dialect, view.messages) == (name, messages)


@pytest.mark.parametrize("name", ["openai", "anthropic", "sweagent", "miniswe"])
@pytest.mark.parametrize("message", [{"content": "Fix it."}, {"role": "martian", "content": "Fix it."}])
def test_messages_that_no_dialect_knows_are_read_as_the_one_that_was_named(name: str, message: Any) -> None:
    view = elision.Chain([]).process([message], dialect=name)

    assert view.messages[0] is message


@pytest.mark.parametrize(
    ("message", "told"),
    [
        ("Fix it.", "no dialect fits yet (message 1 is a string)"),
        ({"rol": "user", "content": "x"}, "no dialect fits (message 1 has the key 'rol'; did you mean 'role'?)"),
        (
            {"role": "user", "contnet": "x"},
            "no dialect fits (message 1 has the key 'contnet'; did you mean 'content'?)",
        ),
        ({"role": "asistant", "content": "x"}, "no dialect fits (message 1 has the role 'asistant'; did you mean"),
        ({"role": "human", "content": "x"}, "no dialect fits yet (message 1 has the role 'human'; roles: assistant, "),
        ({"role": "user", "parts": []}, "no dialect fits yet (message 1 has the keys role, parts)"),
    ],
    ids=["string", "key", "content", "misspelt role", "unknown role", "other shape"],
)
def test_the_message_that_no_dialect_reads_is_named_with_what_is_wrong_in_it(message: Any, told: str) -> None:
    assert refused([USER, message]).startswith(f"messages: {told}")


class Only(type(plugins().dialects()[0])):  # type: ignore[misc]
    """Reads messages of one role."""

    def __init__(self, name: str) -> None:
        self.name = name

    def recognises(self, messages: Sequence[Any], document: Any) -> int:
        return int(all(message["role"] == self.name for message in messages))


def test_messages_that_fit_one_dialect_each_and_none_together_are_told_as_such() -> None:
    with pytest.raises(elision.InputError) as caught:
        detect([Only("user"), Only("assistant")], [USER, ANSWER])

    assert str(caught.value) == (
        "messages: no dialect fits all of them, though each fits one; "
        "there are user, assistant; give messages of one dialect"
    )


OWN: dict[str, Any] = {
    "openai": {"role": "assistant", "content": "Hm.", "reasoning_content": "Hm."},
    "anthropic": {"role": "assistant", "content": [{"type": "redacted_thinking", "data": "x"}]},
    "sweagent": {"role": "assistant", "content": "Hm.", "agent": "main"},
    "miniswe": {"role": "assistant", "content": "Hm.", "extra": {"response": {}}},
}
ODD = [None, 1, "", [], {}, ["x"], [None], [{"type": []}], [{"type": "text"}], [{"type": "image", "source": 3}]]
KEYS = ["role", "content", "tool_calls", "tool_call_id", "tool_call_ids", "message_type", "tags", "extra", "is_demo"]


@pytest.mark.parametrize("name", OWN)
@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize("role", ["user", "assistant"])
def test_once_its_marks_were_seen_a_dialect_takes_values_of_the_wrong_type(name: str, key: str, role: str) -> None:
    begun = [USER, OWN[name]]
    messages = [*begun, *({"role": role, "content": "x", key: value} for value in ODD)]
    before = deepcopy(messages)
    with elision.Chain([]).session() as session:
        session.process(begun, dialect=name)
        view = session.process(messages, dialect=name)
    unmended = {repair.position for repair in view.repairs} ^ set(range(len(messages)))
    json.dumps(view.messages).encode()

    assert all(any(sent is messages[position] for sent in view.messages) for position in unmended)
    assert messages == before
