"""What is no newer answer to the same question takes nobody's place."""

from __future__ import annotations

import json
from typing import Any

import pytest

from elision import loads

CHAIN = 'history_processors: [{type: supersede, schedule: every_step}]\narchive: "memory:"'
Call = tuple[str, dict[str, Any]]


def read(path: Any, **options: Any) -> Call:
    return "read_file", {"path": path, **options}


def shell(command: str, **options: Any) -> Call:
    return "bash", {"command": command, **options}


def gone(calls: list[Call], table: str = "default") -> list[int]:
    """Return which of the calls have lost their results, where each had another one."""
    messages: list[Any] = [{"role": "user", "content": "Look around."}]
    for number, (tool, arguments) in enumerate(calls):
        function = {"name": tool, "arguments": json.dumps(arguments)}
        call = {"id": f"call_{number}", "type": "function", "function": function}
        messages.append({"role": "assistant", "content": None, "tool_calls": [call]})
        messages.append({"role": "tool", "tool_call_id": f"call_{number}", "content": f"line of {number}\n" * 60})
    chain = loads(f"{CHAIN}\nclassification: {table}")
    view = chain.process([*messages, {"role": "assistant", "content": "Done."}], model="gpt-4o")
    return [(edit.position - 2) // 2 for edit in view.edits]


@pytest.mark.parametrize(
    "calls",
    [
        [shell("cat a.py"), shell("cd src"), shell("cat a.py")],
        [shell("ls"), shell("make && cd build"), shell("ls")],
        [shell("ls"), shell("pushd src"), shell("ls")],
        [shell("ls"), shell("cd $HOME"), shell("ls"), shell("cd $HOME"), shell("ls")],
        [shell("cd src && ls"), shell("cd src && ls")],
        [shell("ls"), shell("if true; then cd src; fi"), shell("ls")],
    ],
)
def test_the_same_command_in_another_directory_asks_something_else(calls: list[Call]) -> None:
    assert gone(calls) == []


@pytest.mark.parametrize(
    ("calls", "stale"),
    [
        ([shell("cd /repo && git status"), shell("cd /repo && git status"), shell("cd /repo && git status")], [0, 1]),
        ([shell("cd src"), shell("ls"), shell("ls")], [1]),
        ([shell("ls"), shell("(cd src && make)"), shell("ls")], [0]),
        ([shell("cd /repo/src"), shell("ls"), shell("cd .."), shell("cd src"), shell("ls")], [1]),
        ([shell("ls"), shell("echo 'cd src'"), shell("ls")], [0]),
    ],
)
def test_the_same_command_in_the_same_directory_does_not(calls: list[Call], stale: list[int]) -> None:
    assert gone(calls) == stale


@pytest.mark.parametrize(
    "narrowed",
    [{"grep": "def "}, {"head": 20}, {"startLine": 5}, {"encoding": "latin-1"}, {"chunk": 2}, {"symbol": "main"}],
)
def test_an_argument_that_no_rule_knows_makes_a_reading_one_of_a_part(narrowed: dict[str, Any]) -> None:
    assert gone([read("a.py"), read("a.py", **narrowed)]) == []
    assert gone([read("a.py", **narrowed), read("a.py")]) == [0]


@pytest.mark.parametrize("aside", [{"explanation": "to see it"}, {"description": "again"}, {"security_risk": "LOW"}])
def test_arguments_that_say_why_make_no_difference(aside: dict[str, Any]) -> None:
    assert gone([read("a.py"), read("a.py", **aside)]) == [0]


def test_several_files_are_not_the_first_of_them() -> None:
    assert gone([read(["a.py", "b.py"]), read("a.py")]) == []
    assert gone([read(["a.py", "b.py"]), read(["a.py", "b.py"])]) == [0]
    assert gone([read(["a.py"]), read("a.py")]) == [0]


@pytest.mark.parametrize(
    ("table", "tool", "arguments"),
    [
        ("default", "scroll_down", {}),
        ("default", "get_next_page", {"cursor": "same"}),
        ("default", "bash_output", {"id": "1"}),
        ("claude_code", "BashOutput", {"bash_id": "1"}),
        ("claude_code", "TaskOutput", {"task_id": "1"}),
        ("codex", "wait", {"ids": ["1"]}),
        ("sweagent", "scroll_down", {}),
        ("sweagent", "goto", {"line_number": 10}),
    ],
)
def test_calls_that_go_on_from_where_the_one_before_ended_take_nobodys_place(
    table: str, tool: str, arguments: dict[str, Any]
) -> None:
    assert gone([(tool, arguments)] * 3, table) == []


def test_an_editors_command_is_no_part_of_the_file() -> None:
    view = ("str_replace_editor", {"command": "view", "path": "a.py"})

    assert gone([view, view]) == [0]
    assert gone([view, ("str_replace_editor", {"command": "view", "path": "a.py", "view_range": [1, 9]})]) == []
