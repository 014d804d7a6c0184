from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pydantic
import pytest

import elision

Named = Callable[[str], elision.Dialect]
Read = Callable[[str, Sequence[Any]], elision.History]
MARK = {"type": "ephemeral"}
USER = {"role": "user", "content": "Read a."}
THINKING = {"type": "thinking", "thinking": "Look first.  \n", "signature": "sig=="}
USE = {"type": "tool_use", "id": "t1", "name": "read", "input": {"path": "a"}}
ASSISTANT = {"role": "assistant", "content": [THINKING, {"type": "text", "text": "Reading."}, USE]}


def answer(content: Any = "A", **more: Any) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": "t1", "content": content, **more}


def user(*blocks: Any) -> dict[str, Any]:
    return {"role": "user", "content": list(blocks)}


def patched(dialect: Named, raw: Any, patch: elision.Patch) -> Any:
    reader = dialect("anthropic")
    history = elision.History(reader.wire)
    for before in (USER, ASSISTANT):
        history.append(reader.parse(before, history))
    return reader.patch(reader.parse(raw, history), patch)


def test_each_block_is_one_part_at_its_own_index(read: Read) -> None:
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="}}
    document = {"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "…"}}

    history = read("anthropic", [user({"type": "text", "text": "See."}, image, document, {"type": "new_thing"})])

    parts = history.messages[0].parts
    assert [type(part).__name__ for part in parts] == ["Text", "Image", "Opaque", "Opaque"]
    assert isinstance(parts[1], elision.Image)
    assert parts[1].url == "data:image/png;base64,iVBORw0KGgo="


def test_kinds_are_told_by_what_a_message_holds(read: Read) -> None:
    messages = [
        USER,
        ASSISTANT,
        user(answer(), {"type": "text", "text": "Hurry."}),
        {"role": "assistant", "content": "Done."},
        {"role": "system", "content": [{"type": "text", "text": "Be brief."}]},
        {"role": "user", "content": "Thanks."},
    ]

    history = read("anthropic", messages)

    assert [message.kind for message in history.messages] == [
        "task", "action", "observation", "action", "system", "user",
    ]  # fmt: skip
    assert [message.role for message in history.messages] == [
        "user", "assistant", "user", "assistant", "system", "user",
    ]  # fmt: skip
    assert isinstance(history.messages[2].parts[1], elision.Text)


def test_the_status_is_what_the_host_says_and_never_what_the_text_says(read: Read) -> None:
    statuses = []
    for block in (answer(is_error=True), answer("Error: failed", is_error=False), answer("Error: failed")):
        part = read("anthropic", [USER, ASSISTANT, user(block)]).messages[2].parts[0]
        assert isinstance(part, elision.ToolResult)
        statuses.append(part.status)

    assert statuses == ["error", None, None]


@pytest.mark.parametrize("content", ["A", [{"type": "text", "text": "A"}]])
def test_a_result_is_replaced_as_text_and_keeps_its_other_keys(content: Any, dialect: Named) -> None:
    raw = user(answer(content, is_error=True, note=1), {"type": "text", "text": "Hurry."})

    sent = patched(dialect, raw, elision.Patch(contents={0: (elision.Text("gone"),)}))

    assert sent == user(answer("gone", is_error=True, note=1), {"type": "text", "text": "Hurry."})
    assert sent["content"][1] is raw["content"][1]


def test_a_result_without_content_is_read_and_can_be_replaced(dialect: Named, read: Read) -> None:
    raw = user({"type": "tool_result", "tool_use_id": "t1"})

    assert read("anthropic", [USER, ASSISTANT, raw]).messages[2].parts[0] == elision.ToolResult(
        "t1", (), None, raw["content"][0]
    )
    assert patched(dialect, raw, elision.Patch(contents={0: ()})) == raw
    assert patched(dialect, raw, elision.Patch(contents={0: (elision.Text("x"),)})) == user(answer("x"))


def test_server_tools_stay_in_the_assistants_message_and_are_never_paired(read: Read) -> None:
    server = {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {"query": "q"}}
    found = {"type": "web_search_tool_result", "tool_use_id": "s1", "content": [{"type": "web_search_result"}]}

    history = read("anthropic", [USER, {"role": "assistant", "content": [server, found, USE]}, user(answer())])

    assert [len(step.calls) for step in history.steps] == [1]
    assert len(history.observations) == 1
    assert not history.poisoned


def test_a_call_in_a_users_message_or_a_result_in_an_assistants_is_carried_and_not_paired(read: Read) -> None:
    history = read("anthropic", [user(USE), {"role": "assistant", "content": [answer()]}])

    assert [part.raw for message in history.messages for part in message.parts] == [USE, answer()]
    assert not history.poisoned


def test_a_text_with_an_image_in_it_becomes_blocks_and_keeps_its_breakpoint(dialect: Named) -> None:
    pieces = (elision.Text("See "), elision.Image("data:image/png;base64,iVBORw0KGgo="), elision.Text("."))
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="}}

    sent = patched(
        dialect, user({"type": "text", "text": "See …", "cache_control": MARK}), elision.Patch(contents={0: pieces})
    )

    assert sent == user({"type": "text", "text": "See "}, image, {"type": "text", "text": ".", "cache_control": MARK})


@pytest.mark.parametrize(
    ("blocks", "marked"),
    [
        ([answer(), answer()], 1),
        ([answer(), {"type": "text", "text": "  "}], 0),
        ([{"type": "text", "text": "a"}, THINKING], 0),
        ([{"type": "text", "text": "a"}, {"type": "new_thing"}], 0),
        ([USE, {"type": "redacted_thinking", "data": "x"}], 0),
    ],
)
def test_the_breakpoint_goes_on_the_last_block_that_can_carry_one(
    blocks: list[Any], marked: int, dialect: Named
) -> None:
    sent = patched(dialect, user(*blocks), elision.Patch(mark=True))

    assert [index for index, block in enumerate(sent["content"]) if "cache_control" in block] == [marked]
    assert sent["content"][marked]["cache_control"] == MARK


def test_string_content_becomes_one_block_that_carries_the_breakpoint(dialect: Named) -> None:
    assert patched(dialect, USER, elision.Patch(mark=True)) == user(
        {"type": "text", "text": "Read a.", "cache_control": MARK}
    )
    assert patched(dialect, {"role": "user", "content": " "}, elision.Patch(mark=True)) == {
        "role": "user",
        "content": " ",
    }


def test_breakpoints_are_counted_and_taken_away_wherever_they_stand(dialect: Named, read: Read) -> None:
    inside = answer([{"type": "text", "text": "A", "cache_control": MARK}])
    raw = user(inside, {"type": "text", "text": "b", "cache_control": MARK})

    assert read("anthropic", [USER, ASSISTANT, raw]).messages[2].marks == 2
    assert patched(dialect, raw, elision.Patch(mark=False)) == user(
        answer([{"type": "text", "text": "A"}]), {"type": "text", "text": "b"}
    )


def test_a_breakpoint_that_the_host_wants_to_live_longer_keeps_its_time(dialect: Named) -> None:
    long = {"type": "ephemeral", "ttl": "1h"}
    raw = user({"type": "text", "text": "a", "cache_control": long}, {"type": "text", "text": "b"})

    sent = patched(dialect, raw, elision.Patch(mark=True))

    assert sent == user({"type": "text", "text": "a"}, {"type": "text", "text": "b", "cache_control": long})
    assert patched(dialect, sent, elision.Patch(mark=True)) is sent


class Block(pydantic.BaseModel):
    """A block as an SDK gives it."""

    model_config = pydantic.ConfigDict(extra="allow")
    type: str


def test_blocks_may_be_the_sdks_objects(dialect: Named, read: Read) -> None:
    blocks = [Block(**THINKING), Block(type="text", text="Reading."), Block(**USE)]
    raw = {"role": "assistant", "content": blocks}

    history = read("anthropic", [USER, raw, user(answer())])
    sent = patched(dialect, raw, elision.Patch(contents={1: (elision.Text("R."),)}))

    assert not history.poisoned
    assert [type(part).__name__ for part in history.messages[1].parts] == ["Thinking", "Text", "ToolCall"]
    assert (sent["content"][0], sent["content"][2]) == (blocks[0], blocks[2])
    assert sent["content"][1].model_dump() == {"type": "text", "text": "R."}
    assert blocks[1].model_dump() == {"type": "text", "text": "Reading."}


def test_one_message_is_built_with_its_results_first(dialect: Named) -> None:
    parts = (
        elision.Text("Hurry."),
        elision.ToolResult("t1", (elision.Text("A"),)),
        elision.ToolResult("t2", (elision.Text("unknown"),), "error"),
    )

    assert dialect("anthropic").build(elision.Message("tool", "observation", parts, None)) == [
        user(
            answer(),
            {"type": "tool_result", "tool_use_id": "t2", "content": "unknown", "is_error": True},
            {"type": "text", "text": "Hurry."},
        )
    ]


def test_blocks_of_its_own_are_passed_on_as_they_are(dialect: Named, read: Read) -> None:
    message = read("anthropic", [USER, ASSISTANT]).messages[1]

    (built,) = dialect("anthropic").build(message)

    assert built == ASSISTANT
    assert all(block is given for block, given in zip(built["content"], ASSISTANT["content"], strict=True))


def test_what_the_wire_has_no_place_for_is_not_built(dialect: Named) -> None:
    build = dialect("anthropic").build

    assert build(elision.Message("assistant", "action", (elision.Thinking("unsigned"), elision.Text(" ")), None)) == []
    assert build(elision.Message("system", "note", (elision.Text("Be brief."),), None)) == [
        {"role": "user", "content": "Be brief."}
    ]


def test_texts_calls_and_results_survive_the_way_from_openai_and_back(dialect: Named, read: Read) -> None:
    given = [
        {"role": "user", "content": "Read both."},
        {
            "role": "assistant",
            "content": "Reading.",
            "tool_calls": [
                {"id": f"c{n}", "type": "function", "function": {"name": "read", "arguments": f'{{"n": {n}}}'}}
                for n in (1, 2)
            ],
        },
        {"role": "tool", "tool_call_id": "c1", "content": "A"},
        {"role": "tool", "tool_call_id": "c2", "content": "B"},
        {"role": "assistant", "content": "Done."},
    ]

    there = [raw for message in read("openai", given).messages for raw in dialect("anthropic").build(message)]
    back = [raw for message in read("anthropic", there).messages for raw in dialect("openai").build(message)]

    assert there[1]["content"][1:] == [
        {"type": "tool_use", "id": f"c{n}", "name": "read", "input": {"n": n}} for n in (1, 2)
    ]
    assert back == given
