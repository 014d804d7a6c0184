"""The tools that a request offers are read from whatever shape it lists them in."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from elision.archive.recall_tool import recall_tool_schema
from elision.placeholders import offered_tools, recall_tool_in


def grep(pattern: str) -> str:
    return pattern


class Property:
    @property
    def name(self) -> str:
        raise RuntimeError("not yet")


SCHEMA = {"type": "object", "properties": {"name": {"type": "string"}}}


@pytest.mark.parametrize(
    ("tools", "names"),
    [
        ([{"type": "function", "function": {"name": "grep", "parameters": SCHEMA}}], {"grep"}),
        ([{"type": "custom", "custom": {"name": "grep"}}], {"grep"}),
        ([{"type": "function", "name": "grep", "parameters": SCHEMA}, {"type": "web_search"}], {"grep"}),
        ([{"type": "mcp", "server_label": "git", "allowed_tools": ["grep", "log"]}], {"grep", "log"}),
        ([{"type": "namespace", "name": "crm", "tools": [{"type": "function", "name": "find"}]}], {"crm", "find"}),
        ([{"name": "grep", "input_schema": SCHEMA}, {"type": "bash_20250124", "name": "bash"}], {"grep", "bash"}),
        ([{"functionDeclarations": [{"name": "a"}, {"name": "b"}]}, {"googleSearch": {}}], {"a", "b"}),
        ([{"function_declarations": [{"name": "a"}]}], {"a"}),
        ({"function_declarations": [{"name": "a"}]}, {"a"}),
        ({"tools": [{"toolSpec": {"name": "a", "inputSchema": {}}}, {"cachePoint": {"type": "default"}}]}, {"a"}),
        ([{"toolSpec": {"name": "a"}}], {"a"}),
        ([SimpleNamespace(name="a"), SimpleNamespace(function=SimpleNamespace(name="b"))], {"a", "b"}),
        ([SimpleNamespace(function_declarations=[SimpleNamespace(name="a")])], {"a"}),
        (({"name": "a"}, grep), {"a", "grep"}),
        (["a", "b"], {"a", "b"}),
        ({"a": {"description": "x"}, "b": grep}, {"a", "b"}),
        ({"a": SimpleNamespace(description="x")}, {"a"}),
        ({"name": "a", "input_schema": SCHEMA}, {"a"}),
        ({"type": "function", "function": {"name": "a"}}, {"a"}),
        (iter([{"name": "a"}]), {"a"}),
        ([[{"name": "a"}], {"name": "b"}], {"a", "b"}),
        ([recall_tool_schema("openai"), recall_tool_schema("anthropic")], {"recall"}),
    ],
    ids=range(22),
)
def test_names_are_read_in_the_shapes_of_providers_and_hosts(tools: Any, names: set[str]) -> None:
    assert offered_tools(tools) == names


@pytest.mark.parametrize(
    "tools",
    [
        None,
        7,
        [{"type": "web_search"}],
        [{"googleSearch": {}}, {"cachePoint": {"type": "default"}}],
        [{"name": ""}, {"name": 3}, {"function": "grep"}, {"tools": "grep"}, None],
        {3: {"x": 1}},
        [Property()],
    ],
    ids=range(7),
)
def test_where_no_name_can_be_read_nobody_knows(tools: Any) -> None:
    assert offered_tools(tools) is None


@pytest.mark.parametrize("tools", [[], {}, ()], ids=["list", "mapping", "tuple"])
def test_where_none_are_listed_none_are_offered(tools: Any) -> None:
    assert offered_tools(tools) == frozenset()


def test_tools_that_hold_themselves_are_read_once_through() -> None:
    tools: list[Any] = [{"name": "a"}]
    tools.append(tools)

    assert offered_tools(tools) == {"a"}


@pytest.mark.parametrize(
    ("names", "recall"),
    [
        (None, ""),
        ({"bash", "recall_memory", "total_recall_of", "Recall"}, ""),
        ({"bash", "recall"}, "recall"),
        ({"mcp__elision__recall", "recall"}, "recall"),
        ({"mcp__history__recall", "mcp__elision__recall"}, "mcp__elision__recall"),
        ({"mcp__elision_b__recall", "mcp__elision_a__recall"}, "mcp__elision_a__recall"),
        ({"elision.recall"}, "elision.recall"),
        ({"my_elision_recall"}, "my_elision_recall"),
        ({"server/recall", "mcp__cars__recall", "email.recall"}, ""),
    ],
)
def test_the_recall_tool_is_found_under_the_name_of_its_server(names: set[str] | None, recall: str) -> None:
    assert recall_tool_in(None if names is None else frozenset(names)) == recall
