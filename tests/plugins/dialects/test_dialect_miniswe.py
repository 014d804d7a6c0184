from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest

import elision

Named = Callable[[str], elision.Dialect]
Read = Callable[[str, Sequence[Any]], elision.History]
Send = Callable[..., elision.SentView]
SYSTEM = {"role": "system", "content": "You run commands."}
TASK = {"role": "user", "content": "Fix it."}
OUTPUT = {"role": "user", "content": "<returncode>1</returncode>\n<output>\na.py\n</output>"}


def said(text: str, **more: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": text, **more}


def fenced(*commands: str, fence: str = "mswea_bash_command") -> dict[str, Any]:
    return said("THOUGHT: look.\n\n" + "\n\n".join(f"```{fence}\n{command}\n```" for command in commands))


def call_of(history: elision.History) -> elision.ToolCall | None:
    (paired,) = history.observations
    return paired.call


@pytest.mark.parametrize(
    "asked",
    [
        fenced("ls -a"),
        fenced("ls -a", fence="bash"),
        said("<mswea_bash_command>ls -a</mswea_bash_command>"),
        said("Look.", extra={"actions": [{"command": "ls -a"}]}),
        said([{"type": "text", "text": "```bash\nls -a\n```"}]),
    ],
    ids=["fence", "bash fence", "tag", "extra", "list content"],
)
def test_the_message_after_a_command_in_text_is_its_result(asked: Any, read: Read) -> None:
    history = read("miniswe", [SYSTEM, TASK, asked, OUTPUT])

    assert call_of(history) == elision.ToolCall("", "bash", {"command": "ls -a"})
    assert [message.kind for message in history.messages] == ["system", "task", "action", "observation"]
    assert [message.role for message in history.messages] == ["system", "user", "assistant", "user"]
    assert not history.poisoned


@pytest.mark.parametrize("asked", [said("I am done."), fenced("ls", "pwd"), said("```python\nx = 1\n```")])
def test_text_without_exactly_one_command_ran_nothing_so_the_answer_is_the_users(asked: Any, read: Read) -> None:
    history = read("miniswe", [TASK, asked, {"role": "user", "content": "Please give EXACTLY ONE action."}])

    assert not history.observations
    assert history.messages[2].kind == "user"
    assert not history.poisoned


@pytest.mark.parametrize(
    ("extra", "status"),
    [
        ({"returncode": 0}, "ok"),
        ({"returncode": 2}, "error"),
        ({"returncode": -1, "exception_info": "timed out"}, "error"),
        ({}, None),
        (None, None),
    ],
)
def test_the_status_comes_from_extra_and_never_from_the_text(extra: Any, status: str | None, read: Read) -> None:
    part = read("miniswe", [TASK, fenced("ls"), {**OUTPUT, "extra": extra}]).messages[2].parts[0]

    assert isinstance(part, elision.ToolResult)
    assert part.status == status


def test_tool_calls_are_those_of_chat_completions(read: Read) -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "bash", "arguments": '{"command": "ls"}'}}
    asked = said(None, tool_calls=[call], extra={"actions": [{"command": "ls", "tool_call_id": "c1"}]})
    answer = {"role": "tool", "tool_call_id": "c1", "content": "a.py", "extra": {"returncode": 0, "raw_output": "a.py"}}

    history = read("miniswe", [TASK, asked, answer])

    assert call_of(history) == elision.ToolCall("c1", "bash", {"command": "ls"}, call)
    assert history.messages[2].parts == (elision.ToolResult("c1", (elision.Text("a.py"),), "ok", answer),)


def test_an_interruption_is_the_users_word_and_no_result(read: Read) -> None:
    stop = {"role": "user", "content": "Not that.", "extra": {"interrupt_type": "UserRejection"}}

    history = read("miniswe", [TASK, fenced("rm -r ."), stop])

    assert not history.observations
    assert history.messages[2].kind == "user"


def test_a_result_stays_a_user_message_when_it_is_replaced_or_marked(dialect: Named, read: Read) -> None:
    raw = {**OUTPUT, "extra": {"returncode": 1}}
    message = read("miniswe", [TASK, fenced("ls"), raw]).messages[2]
    patch = dialect("miniswe").patch

    assert patch(message, elision.Patch(contents={0: (elision.Text("gone"),)})) == {**raw, "content": "gone"}
    assert patch(message, elision.Patch(mark=True))["content"][0]["cache_control"] == {"type": "ephemeral"}


@pytest.mark.parametrize(
    "messages",
    [
        [SYSTEM, TASK, fenced("ls")],
        [SYSTEM, TASK, fenced("ls"), fenced("ls"), OUTPUT],
        [SYSTEM, TASK, fenced("ls"), OUTPUT, {"role": "user", "content": "And?"}, said("Done.")],
    ],
    ids=["waiting", "asked twice", "a word beside"],
)
def test_nothing_is_put_into_a_conversation_in_text_which_no_wire_pairs(messages: list[Any], send: Send) -> None:
    view = send(messages)

    assert view.dialect == "miniswe"
    assert not view.repairs
    assert all(sent is given for sent, given in zip(view.messages, messages, strict=True))


def test_a_waiting_command_is_reported_as_pending(send: Send) -> None:
    assert [pending.tool for pending in send([SYSTEM, TASK, fenced("ls")]).pending] == ["bash"]


def test_a_dangling_tool_call_is_mended_as_in_chat_completions(send: Send) -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "bash", "arguments": "{}"}}

    view = send([TASK, said(None, tool_calls=[call], extra={"actions": []}), {"role": "user", "content": "Stop."}])

    assert view.dialect == "miniswe"
    assert [message["role"] for message in view.messages] == ["user", "assistant", "tool", "user"]
    assert [repair.fault for repair in view.repairs] == ["dangling_call"]


def test_the_last_message_of_a_stored_run_is_carried(read: Read, send: Send) -> None:
    last = {"role": "exit", "content": "diff --git", "extra": {"exit_status": "Submitted", "submission": "diff --git"}}

    assert read("miniswe", [TASK, last]).messages[1].kind == "note"
    assert send([TASK, fenced("ls"), OUTPUT, said("Done."), last]).messages[-1] is last


def test_a_call_without_an_id_is_built_as_text_and_read_back(dialect: Named, read: Read) -> None:
    parts = (elision.Text("Look."), elision.ToolCall("", "bash", {"command": "ls"}))
    build = dialect("miniswe").build

    (asked,) = build(elision.Message("assistant", "action", parts, None))
    (answer,) = build(elision.Message("tool", "observation", (elision.ToolResult("", (elision.Text("a"),)),), None))
    history = read("miniswe", [TASK, asked, answer])

    assert asked["content"] == "Look.\n\n```mswea_bash_command\nls\n```"
    assert answer == {"role": "user", "content": "a"}
    assert call_of(history) == parts[1]
    assert [raw for message in history.messages for raw in build(message)] == [TASK, asked, answer]
