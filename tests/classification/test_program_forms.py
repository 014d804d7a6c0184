"""Forms of programs and of tool calls that write, beside those that only read, under the tables that ship."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from elision import ToolCall
from elision.classification import Table, load_table

FORMS = yaml.safe_load((Path(__file__).parent / "program_forms.yaml").read_text(encoding="utf-8"))
Classes = Callable[..., list[str]]
QUERIES = {"static", "dynamic"}
DELETE = "DELETE FROM orders"


def of_command(command: str) -> set[str]:
    return set(load_table("default").classify(ToolCall("", "bash", {"command": command})).classes)


def test_the_result_of_a_form_that_writes_is_kept() -> None:
    verdicts = {each: load_table("default").verdict("clear", of_command(each)) for each in FORMS["writing"]}

    assert [command for command, verdict in verdicts.items() if verdict.allowed] == []


def test_the_result_of_an_ordinary_form_may_go() -> None:
    found = {each: of_command(each) for each in FORMS["reading"]}

    assert {command: classes for command, classes in found.items() if not classes <= QUERIES} == {}


@pytest.mark.parametrize(
    ("pattern", "matching", "others"),
    [
        ("shop {-v,[a-z]*} ... $", ["shop", "shop -v", "shop a -v b"], ["shop -x", "shop a --buy", "shop a -v B"]),
        ("shop -v ... list [a-z]* ... $", ["shop list", "shop -v -v list a"], ["shop", "shop a list", "shop list -v"]),
        ("shop list ...", ["shop", "shop list list", "shop list buy"], []),
        ("shop {-v,[a-z]*} ... $", ['shop "a$X"'], ['shop "$X"', "shop a$X", "shop $X"]),
    ],
)
def test_three_dots_are_any_number_of_words_like_the_one_before(
    pattern: str, matching: list[str], others: list[str], table: Callable[[str], Table], classes: Classes
) -> None:
    loaded = table(f"rules: [{{tool: bash, shell: {{commands: ['{pattern}']}}, class: dynamic}}]")

    assert [classes(loaded, "bash", {"command": command}) for command in matching] == [["dynamic"]] * len(matching)
    assert [classes(loaded, "bash", {"command": command}) for command in others] == [["unknown"]] * len(others)


def test_a_strict_rule_with_three_dots_counts_where_an_expansion_may_fit(
    table: Callable[[str], Table], classes: Classes
) -> None:
    loaded = table("rules: [{tool: bash, shell: {commands: ['shop -v ... buy $']}, class: receipt}]")

    assert classes(loaded, "bash", {"command": 'shop -v "$X"'}) == ["receipt", "unknown"]
    assert classes(loaded, "bash", {"command": "shop -v buy"}) == ["receipt"]


@pytest.mark.parametrize(
    "name",
    [
        *("get_seat_and_book", "check_and_book", "calculate_and_charge", "check_payment_and_charge", "view_and_accept"),
        *(
            "count_votes_and_close",
            "describe_and_apply",
            "search_and_destroy",
            "analyze_and_fix",
            "list_users_then_ban",
        ),
        *("getSeatAndBook", "add", "get_user\0", "get_user\n", "\nread_file", "get user", "get_x y", "read file"),
        *("vehicle.recall", "mcp__cars__recall", "email.recall", "mcp__elision__recall\n"),
    ],
)
def test_a_name_that_may_be_an_action_is_no_query(name: str, classes: Classes) -> None:
    assert set(classes("default", name)) <= {"unknown", "receipt"}
    assert set(classes("claude_code", f"mcp__x__{name}")) <= {"unknown", "receipt"}


@pytest.mark.parametrize("name", ["recall", "mcp__elision__recall", "elision.recall", "my_elision_recall"])
def test_the_recall_tool_is_known_by_its_name_alone_or_with_elision(name: str, classes: Classes) -> None:
    assert classes("classes", name) == ["recalled"]


def test_verbs_joined_by_and_are_a_query_if_both_are(classes: Classes) -> None:
    assert classes("default", "get_order_and_list_items") == ["dynamic"]
    assert classes("default", "get_order_and_list_items_and_ship") == ["unknown"]


def test_a_rule_that_writes_the_blank_names_a_tool_with_one(table: Callable[[str], Table], classes: Classes) -> None:
    loaded = table("""
        rules:
          - {tool: "Web Search*", class: dynamic}
          - {tool: "*", class: static}
    """)

    assert classes(loaded, "Web Search") == ["dynamic"]
    assert classes(loaded, "Web Look") == ["unknown"]


@pytest.mark.parametrize("tool", ["fetch", "web_fetch", "http_request", "api.fetch", "call_endpoint"])
@pytest.mark.parametrize("method", ["POST", "delete", "Put", "PATCH", "PURGE"])
def test_a_request_that_changes_something_is_a_receipt(tool: str, method: str, classes: Classes) -> None:
    assert "receipt" in classes("default", tool, {"url": "x", "method": method})
    assert "receipt" in classes("default", tool, {"url": "x", "options": {"method": method}})
    assert "receipt" in classes("default", tool, {"requests": [{"url": "x", "method": method}]})
    assert classes("default", "fetch", {"url": "x", "options": {"method": "GET"}}) == ["dynamic"]


def test_two_calls_that_differ_only_within_an_argument_are_told_apart(classes: Classes) -> None:
    found = [classes("default", "fetch", {"url": "x", "options": {"method": each}}) for each in ("GET", "POST", "GET")]

    assert found == [["dynamic"], ["dynamic", "receipt"], ["dynamic"]]


@pytest.mark.parametrize(
    "query", ["mutation { pay }", "mutation Pay($a: Int) { pay }", "fragment F on T {a} mutation {b}"]
)
def test_a_mutation_is_a_receipt(query: str, classes: Classes) -> None:
    assert "receipt" in classes("default", "graphql_query", {"query": query})
    assert "receipt" in classes("claude_code", "mcp__shop__query", {"query": query})
    assert "receipt" not in classes("default", "graphql_query", {"query": "query Q { mutations }"})


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("query", {"SQL": DELETE}),
        ("query", {"text": DELETE}),
        ("query", {"command": DELETE}),
        ("query", {"sql": {"text": DELETE}}),
        ("query", {"statements": ["SELECT 1", DELETE]}),
        ("query", {"sql": "SELECT * INTO late FROM orders"}),
        ("pg.query", {"sql": DELETE}),
        ("pg/query", {"sql": DELETE}),
        ("select", {"sql": DELETE}),
        ("lookup", {"sql": DELETE}),
        ("mcp__pg__query", {"sql": DELETE}),
    ],
)
def test_a_statement_that_writes_is_a_receipt_under_any_name(tool: str, arguments: Any, classes: Classes) -> None:
    assert "receipt" in classes("default", tool, arguments)


@pytest.mark.parametrize("table_name", ["claude_code", "codex"])
def test_a_statement_that_writes_is_a_receipt_on_an_mcp_server(table_name: str, classes: Classes) -> None:
    assert "receipt" in classes(table_name, "mcp__pg__query", {"sql": DELETE})
    assert classes(table_name, "mcp__pg__query", {"sql": "SELECT 1"}) == ["dynamic"]


@pytest.mark.parametrize(
    ("annotations", "expected"),
    [
        ({"readOnlyHint": True}, ["dynamic"]),
        ({"readOnlyHint": True, "destructiveHint": "true"}, ["dynamic", "receipt"]),
        ({"readOnlyHint": True, "destructiveHint": 1}, ["dynamic", "receipt"]),
        ({"readOnlyHint": "true"}, ["receipt"]),
        ({"readOnlyHint": 1}, ["receipt"]),
        ({"destructiveHint": []}, ["receipt"]),
        ({"readOnlyHint": None}, ["unknown"]),
    ],
)
def test_a_hint_that_is_neither_true_nor_false_is_taken_strictly(
    annotations: Any, expected: list[str], classes: Classes
) -> None:
    assert classes("mcp", "frobnicate", annotations=annotations) == expected
