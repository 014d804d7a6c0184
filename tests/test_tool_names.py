"""Lists of tools in options: names and globs, in every built-in that takes one, and in bounded time."""

from __future__ import annotations

import json
from typing import Any

import pytest
from scheduled_runs import chain, cleared, sent, words

import elision
from elision import SentView, names_tool
from elision.testing import call, conversation, result

TOOLS = ("mcp__jira__search", "mcp__web__get", "read_file")
LONG = "a line of what a tool has returned, which is long enough to be cut\n" * 60
RECORDS = json.dumps([{"id": number, "text": "a text of some length " * 8} for number in range(60)])


def run_of(*tools: str, text: str = LONG, **arguments: str) -> list[Any]:
    run = conversation().user("Go on.")
    for number, tool in enumerate(tools):
        run = run.step(call(tool, query=str(number), **arguments), result(f"{number} {text}"))
    return run.step(call("last"), result("short")).messages()


def touched(entry: str, messages: list[Any]) -> set[str]:
    """Return the tools whose calls or results a processor touches."""
    made = elision.loads(
        f"history_processors: [{entry}]\nclassification: none\nschedule: every_step", archive="memory:"
    )
    return {edit.tool for edit in made.process(messages).edits}


@pytest.mark.parametrize(
    "processor",
    [
        "clear_tool_results, keep: 0",
        "clear_tool_inputs, keep: 0, threshold_chars: 100",
        "truncate, threshold_chars: 1000, head_chars: 200, tail_chars: 200",
        "offload, threshold_chars: 1000",
    ],
)
@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ("exclude_tools: ['mcp__*']", {"read_file"}),
        ("exclude_tools: ['*__search', 'mcp__w??__get']", {"read_file"}),
        ("include_tools: ['mcp__*']", {"mcp__jira__search", "mcp__web__get"}),
        ("include_tools: ['mcp__*'], exclude_tools: ['*jira*']", {"mcp__web__get"}),
        ("include_tools: ['[mr]*'], exclude_tools: ['[!m]*']", {"mcp__jira__search", "mcp__web__get"}),
        ("include_tools: ['MCP__*']", set()),
        ("include_tools: [read_file]", {"read_file"}),
    ],
)
def test_a_glob_stands_for_the_tools_that_it_matches(
    processor: str, options: str, expected: set[str], tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)

    assert touched(f"{{type: {processor}, {options}}}", run_of(*TOOLS, note="x" * 2000)) == expected


def test_slim_json_takes_globs_too() -> None:
    run = conversation().user("Go on.").step(call("mcp__a"), result(RECORDS)).step(call("b"), result(RECORDS))

    assert touched("{type: slim_json, threshold_chars: 1000, exclude_tools: ['mcp__*']}", run.messages()) == {"b"}


def test_calls_are_cleared_with_their_results_where_a_glob_names_their_tools() -> None:
    run = run_of(*TOOLS, note="x" * 2000)
    made = elision.loads(
        "history_processors: [{type: clear_tool_results, keep: 0, clear_tool_inputs: ['mcp__*']}]\n"
        "classification: none\nschedule: every_step",
        archive="memory:",
    )
    shortened = [
        message for message in made.process(run).messages if "chars removed" in repr(message.get("tool_calls"))
    ]

    assert len(shortened) == 2


def test_the_tools_that_are_tagged_can_be_a_glob() -> None:
    entries = "{type: tag_tool_call_observations, function_names: ['mcp__*']}, {type: last_n_observations, n: 1}"
    kept = elision.loads(f"history_processors: [{entries}]\nclassification: none", archive="memory:")
    elided = {edit.tool for edit in kept.process(run_of(*TOOLS)).edits if edit.action != "tag"}

    assert elided == {"read_file"}


def native(options: str, tools: Any = None) -> SentView:
    made = elision.loads(
        f"history_processors: [{{type: native, {options}}}]\nclassification: none\nmodel: claude-opus-4-6",
        archive="memory:",
    )
    return made.process(run_of(*TOOLS), tools=tools)


def asked_of(view: SentView) -> Any:
    return view.params["context_management"]["edits"][0]


def test_a_provider_that_knows_no_globs_gets_the_tools_that_they_match() -> None:
    offered = [{"type": "function", "function": {"name": name, "parameters": {}}} for name in ("mcp__new", "other")]

    assert asked_of(native("exclude_tools: ['mcp__*', write]"))["exclude_tools"] == [*TOOLS[:2], "write"]
    assert asked_of(native("exclude_tools: ['mcp__*']", offered))["exclude_tools"] == sorted(["mcp__new", *TOOLS[:2]])
    assert asked_of(native("clear_tool_inputs: ['read_*']"))["clear_tool_inputs"] == ["read_file"]
    assert "exclude_tools" not in asked_of(native("exclude_tools: ['nosuch_*']"))
    assert "clear_tool_inputs" not in asked_of(native("clear_tool_inputs: ['nosuch_*']"))


def test_results_of_tools_that_a_glob_excludes_do_not_count_for_keep() -> None:
    run = conversation().user("Go on.")
    for number in range(6):
        run = run.step(call("mcp__search" if number % 2 else "read_file"), result(words(90)))
    view = sent(chain("keep: 2, exclude_tools: ['mcp__*'], schedule: every_step"), run.messages())[-1]

    assert cleared(view) == [0]


@pytest.mark.parametrize(
    ("names", "told"),
    [
        ("exclude_tools: ['mcp__{a,b}']", "'mcp__{a,b}' has alternatives in braces; write each as an item of its own"),
        ("include_tools: ['!mcp__*']", "'!mcp__*' begins with '!'; name what is meant, or write it into exclude_tools"),
        (f"exclude_tools: ['{'a' * 200}*']", "a glob has 201 characters; give one of at most 200"),
        ("include_tools: [mcp__a, 'mcp__b*'], exclude_tools: ['mcp__*']", "leave no tool"),
    ],
)
@pytest.mark.parametrize("processor", ["clear_tool_results", "clear_tool_inputs", "truncate", "slim_json", "offload"])
def test_a_list_that_can_match_nothing_is_an_error(names: str, told: str, processor: str) -> None:
    with pytest.raises(elision.ConfigError, match=r"history_processors\[0\]") as caught:
        elision.loads(f"history_processors: [{{type: {processor}, {names}}}]")

    assert told in str(caught.value)


@pytest.mark.parametrize("name", ["[", "a]", "x" * 5000])
def test_a_name_is_its_own_whatever_its_characters(name: str) -> None:
    assert names_tool(frozenset({name}), name)
    assert not names_tool(frozenset({name}), f"{name}y")


def test_no_glob_looks_for_the_same_text_twice() -> None:
    """Each of these would take longer than the universe with a search that goes back."""
    hostile = frozenset({"*a" * 98 + "*b", "*[ab]?" * 33 + "b", "*?" * 99 + "b", "*" * 199 + "b"})

    assert not names_tool(hostile, "a" * 1000)
    assert not names_tool(frozenset({"*"}), "a" * 1_000_001)
    assert names_tool(hostile, "a" * 999 + "b")
