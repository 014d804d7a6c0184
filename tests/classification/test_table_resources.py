"""What a call is about, and which calls are the same."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from elision import ToolCall
from elision.classification import load_table


def call(tool: str, arguments: Any = None) -> ToolCall:
    return ToolCall("", tool, {} if arguments is None else arguments)


@pytest.mark.parametrize(
    ("table", "one", "other"),
    [
        (
            "default",
            call("read_file", {"path": "src/a.py"}),
            call("write_file", {"path": "./src/a.py", "content": "x"}),
        ),
        ("default", call("view", {"path": "a"}), call("str_replace_editor", {"command": "create", "path": "a"})),
        ("claude_code", call("Read", {"file_path": "/r/a"}), call("Edit", {"file_path": "/r/x/../a"})),
        ("default", call("bash", {"command": "git status"}), call("bash", {"command": "git status"})),
        ("default", call("get_user", {"id": 1, "full": True}), call("get_user", {"full": True, "id": 1})),
    ],
)
def test_calls_about_one_thing_have_one_resource(table: str, one: ToolCall, other: ToolCall) -> None:
    loaded = load_table(table)

    assert loaded.resource(one) is not None
    assert loaded.resource(one) == loaded.resource(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (call("read_file", {"path": "a"}), call("read_file", {"path": "b"})),
        (call("get_user", {"id": 1}), call("get_user", {"id": True})),
        (call("fetch", {"url": "https://e.com/a/../b"}), call("fetch", {"url": "https://e.com/b"})),
        (call("bash", {"command": "git status"}), call("bash", {"command": "git diff"})),
    ],
)
def test_calls_about_different_things_do_not(one: ToolCall, other: ToolCall) -> None:
    table = load_table("default")

    assert table.resource(one) != table.resource(other)


@pytest.mark.parametrize("tool", ["create_issue", "frobnicate", "ask_human"])
def test_what_is_no_query_and_names_no_resource_has_none(tool: str) -> None:
    assert load_table("default").resource(call(tool, {"title": "x"})) is None


def test_a_part_of_a_resource_is_told_apart_from_the_whole() -> None:
    table = load_table("default")
    part = call("read_file", {"path": "a", "limit": 10, "offset": 5})

    assert table.extent(part) == '{"limit":10,"offset":5}'
    assert table.extent(call("read_file", {"path": "a", "offset": None})) == ""
    assert table.resource(part) == table.resource(call("read_file", {"path": "a"})) == "a"


@given(st.dictionaries(st.text(max_size=5), st.integers() | st.text(max_size=5) | st.booleans() | st.none()))
def test_the_order_of_arguments_does_not_matter_to_the_same_call(arguments: dict[str, Any]) -> None:
    table = load_table("default")
    turned = dict(reversed(arguments.items()))

    assert table.same_call(call("x", arguments)) == table.same_call(call("x", turned))
    assert table.same_call(call("x", arguments)) != table.same_call(call("y", arguments))


def test_arguments_that_are_not_plain_data_have_a_key_all_the_same() -> None:
    table = load_table("default")
    endless: list[Any] = []
    endless.append(endless)

    assert table.same_call(call("x", {"a": object()})) == table.same_call(call("x", {"a": object()}))
    assert table.same_call(call("x", {"a": endless}))
    assert table.same_call(call("x", "not read")) != table.same_call(call("x", "not read either"))
