"""Builders: what each call writes, in each shape."""

from __future__ import annotations

import json
from typing import Any

import pytest

from elision import Chain, processor_types
from elision.testing import (
    DIALECT_OF,
    SHAPES,
    Conversation,
    Shape,
    call,
    conversation,
    image,
    redacted_thinking,
    result,
    text,
    thinking,
)

MARK = {"type": "ephemeral"}


def small(shape: Shape) -> Conversation:
    return (
        conversation(shape)
        .system("You fix bugs.")
        .user("Fix a.py.")
        .step("I look first.", call("read_file", path="a.py"), result("x = 1"))
    )


def test_openai_has_calls_with_json_arguments_and_a_tool_message_for_each() -> None:
    messages = small("openai").step(call("bash", command="ls"), call("bash", command="pwd"), result("a.py")).messages()

    assert messages == [
        {"role": "system", "content": "You fix bugs."},
        {"role": "user", "content": "Fix a.py."},
        {
            "role": "assistant",
            "content": "I look first.",
            "tool_calls": [openai_call("call_1", "read_file", '{"path": "a.py"}')],
        },
        {"role": "tool", "tool_call_id": "call_1", "content": "x = 1"},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                openai_call("call_2", "bash", '{"command": "ls"}'),
                openai_call("call_3", "bash", '{"command": "pwd"}'),
            ],
        },
        {"role": "tool", "tool_call_id": "call_2", "content": "a.py"},
    ]


def openai_call(call_id: str, name: str, arguments: str) -> dict[str, Any]:
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}


def test_anthropic_has_blocks_and_the_system_prompt_beside_the_messages() -> None:
    built = small("anthropic").step(
        thinking("Hm.", signature="c2ln"), call("bash", command="ls"), result("no", error=True), then="Go on."
    )

    assert built.request() == {
        "system": "You fix bugs.",
        "messages": [
            {"role": "user", "content": "Fix a.py."},
            {
                "role": "assistant",
                "content": [
                    {"type": "text", "text": "I look first."},
                    {"type": "tool_use", "id": "call_1", "name": "read_file", "input": {"path": "a.py"}},
                ],
            },
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "call_1", "content": "x = 1"}]},
            {
                "role": "assistant",
                "content": [
                    {"type": "thinking", "thinking": "Hm.", "signature": "c2ln"},
                    {"type": "tool_use", "id": "call_2", "name": "bash", "input": {"command": "ls"}},
                ],
            },
            {
                "role": "user",
                "content": [
                    {"type": "tool_result", "tool_use_id": "call_2", "content": "no", "is_error": True},
                    {"type": "text", "text": "Go on."},
                ],
            },
        ],
    }


def test_sweagent_has_history_items() -> None:
    messages = small("sweagent").messages()

    assert messages[1:] == [
        {"role": "user", "content": "Fix a.py.", "agent": "main", "message_type": "observation"},
        {
            "role": "assistant",
            "content": "I look first.",
            "agent": "main",
            "message_type": "action",
            "thought": "I look first.",
            "action": "read_file a.py",
            "tool_calls": [openai_call("call_1", "read_file", '{"path": "a.py"}')],
        },
        {
            "role": "tool",
            "content": "x = 1",
            "agent": "main",
            "message_type": "observation",
            "tool_call_ids": ["call_1"],
        },
    ]


def test_text_shapes_write_the_command_into_the_message_and_the_result_as_the_users() -> None:
    sweagent, miniswe = small("sweagent_text").messages(), small("miniswe_text").messages()

    assert sweagent[2]["content"] == "I look first.\n```\nread_file a.py\n```"
    assert sweagent[3] == {"role": "user", "content": "x = 1", "agent": "main", "message_type": "observation"}
    assert miniswe[2]["content"] == "I look first.\n\n```mswea_bash_command\nread_file a.py\n```"
    assert miniswe[3]["content"] == "<returncode>0</returncode>\n<output>\nx = 1</output>"
    assert miniswe[3]["extra"]["raw_output"] == "x = 1"


def test_miniswe_keeps_the_commands_beside_the_calls() -> None:
    action, output = small("miniswe").step(call("bash", command="ls"), result("a.py")).messages()[-2:]

    assert action["extra"]["actions"] == [{"command": "ls", "tool_call_id": "call_2"}]
    assert (output["tool_call_id"], output["extra"]["returncode"]) == ("call_2", 0)


def test_parts_make_list_content_and_marks_stand_where_the_shape_has_them() -> None:
    built = conversation("openai").user("Look.", image("https://example.org/a.png"), text("here", cached=True, x=1))
    *_, tool = built.step(call("bash"), result(text("a"), cached=True)).messages()

    assert built.messages()[0]["content"] == [
        {"type": "text", "text": "Look."},
        {"type": "image_url", "image_url": {"url": "https://example.org/a.png"}},
        {"type": "text", "text": "here", "cache_control": MARK, "x": 1},
    ]
    assert (tool["content"], tool["cache_control"]) == ([{"type": "text", "text": "a"}], MARK)


def test_anthropic_images_are_base64_or_url_sources() -> None:
    content = conversation("anthropic").user(image("data:image/png;base64,AAAA"), image("https://x/a.png")).messages()

    assert content[0]["content"] == [
        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"}},
        {"type": "image", "source": {"type": "url", "url": "https://x/a.png"}},
    ]


def test_thinking_is_reasoning_content_or_signed_blocks() -> None:
    plain, signed = (
        conversation("openai").step(part, "Done.").messages()[0]
        for part in (thinking("Hm."), redacted_thinking("c2VjcmV0"))
    )

    assert plain["reasoning_content"] == "Hm."
    assert signed["thinking_blocks"] == [{"type": "redacted_thinking", "data": "c2VjcmV0"}]


def test_demonstrations_and_tags_stand_in_sweagent_items() -> None:
    demo, observation = (
        conversation("sweagent")
        .user("Here is a demonstration.", demo=True)
        .step(call("ls"), result("a.py", tags=("keep_output",)))
        .messages()[::2]
    )

    assert (demo["message_type"], demo["is_demo"]) == ("demonstration", True)
    assert observation["tags"] == ["keep_output"]


def test_none_leaves_out_the_result_of_one_call_and_stray_results_come_by_themselves() -> None:
    messages = (
        conversation("openai")
        .step(call("a"), call("b", call_id="b!"), None, result("second"))
        .stray(result("late", call_id="call_1"))
        .messages()
    )

    assert [message.get("tool_call_id") for message in messages] == [None, "b!", "call_1"]


def test_null_content_unknown_keys_and_whole_messages_are_written_as_given() -> None:
    messages = (
        conversation("openai")
        .user("hi", extra={"name": "me"})
        .step(call("a", raw_arguments="{bad"), result(None), extra={"x": 1})
        .raw({"role": "developer", "content": "new"})
        .messages()
    )

    assert (messages[0]["name"], messages[1]["x"], messages[2]["content"]) == ("me", 1, None)
    assert messages[1]["tool_calls"][0]["function"]["arguments"] == "{bad"
    assert messages[3] == {"role": "developer", "content": "new"}


def test_a_conversation_is_a_value_that_two_histories_can_begin_with() -> None:
    begin = small("openai")
    left, right = begin.user("left"), begin.user("right")

    assert len(begin.messages()) == 4
    assert [left.messages()[-1]["content"], right.messages()[-1]["content"]] == ["left", "right"]
    assert begin.messages()[0] is not begin.messages()[0]


@pytest.mark.parametrize("shape", SHAPES)
def test_every_shape_is_json_and_read_by_its_dialect(shape: Shape) -> None:
    built = small(shape)
    processor = processor_types()["tag_tool_call_observations"](function_names={"read_file"})
    view = Chain([processor]).process(json.loads(json.dumps(built.messages())), dialect=built.dialect)

    assert built.dialect == DIALECT_OF[shape]
    assert [(edit.action, edit.tool) for edit in view.edits] in ([("tag", "read_file")], [("tag", "bash")], [])


def test_a_shape_that_is_not_there_is_named() -> None:
    with pytest.raises(ValueError, match="no shape 'cohere'; there are openai, anthropic"):
        conversation("cohere")  # type: ignore[arg-type]


def test_a_result_too_many_says_what_to_use() -> None:
    with pytest.raises(ValueError, match=r"2 results for 1 calls; use stray\(\)"):
        conversation().step(call("a"), result("1"), result("2"))


def test_text_shapes_hold_one_call_a_step() -> None:
    with pytest.raises(ValueError, match="miniswe_text holds one call a step; make 2 steps of it"):
        conversation("miniswe_text").step(call("a"), call("b"))
