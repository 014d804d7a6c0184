"""What is wrong with a table is told in one run, with its place and what to do."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from textwrap import dedent

import pytest

from elision import ConfigError
from elision.classification import lint_table, load_table
from elision.registry import plugins

Write = Callable[[str, str], Path]


def lint(path: Path) -> list[str]:
    return [str(problem).removeprefix(f"{path.parent}/") for problem in lint_table(path)]


@pytest.mark.parametrize("name", sorted(plugins().tables()))
def test_the_tables_that_ship_have_no_problem_and_no_warning(name: str) -> None:
    assert lint_table(name) == []
    assert load_table(name).classes


PROBLEMS = {
    "rule: []": "t.yaml:1:1: rule: a table has no 'rule'; did you mean 'rules'?",
    "rules: {tool: x}": "t.yaml:1:8: rules: rules is a mapping; it must be a list; begin each rule with '- tool:'",
    "rules: [ls]": "t.yaml:1:9: rules[0]: a rule is a mapping, this is text; write '- tool: …'",
    "rules: [{tool: x, class: statik}]": (
        "t.yaml:1:26: rules[0].class: there is no class 'statik'; did you mean 'static'?"
    ),
    "rules: [{tool: x, klass: static}]": (
        "t.yaml:1:19: rules[0].klass: a rule has no option 'klass'; did you mean 'class'?"
    ),
    "rules: [{tool: x}]": "t.yaml:1:9: rules[0]: a rule needs 'class'; add 'class: static' or another class",
    "rules: [{class: static}]": (
        "t.yaml:1:9: rules[0]: a rule needs a condition; add one of: tool, arguments, shell, annotations, status"
    ),
    "rules: [{tool: x, class: static, status: failed}]": (
        "t.yaml:1:42: rules[0].status: status is 'failed'; it must be 'ok' or 'error'; correct it or leave it out"
    ),
    "rules: [{tool: x, class: static, arguments: {a: {regex: '('}}}]": (
        "t.yaml:1:57: rules[0].arguments.a.regex: this is not a regular expression (missing ) at position 1); "
        "correct it"
    ),
    "rules: [{tool: x, class: static, shell: {argument: command}}]": (
        "t.yaml:1:41: rules[0].shell: shell needs 'commands' or 'writes'; add 'commands: [\"git commit\"]' or "
        "'writes: true'"
    ),
    "rules: [{tool: x, class: static, extent: limit}]": (
        "t.yaml:1:9: rules[0]: 'extent' is a part of a resource; add 'resource: …' or remove it"
    ),
    "classes: {receipt: {cells: {cleer: never}}}": (
        "t.yaml:1:29: classes.receipt.cells.cleer: there is no operation 'cleer'; did you mean 'clear'?"
    ),
    "classes: {receipt: {cells: {clear: nevr}}}": (
        "t.yaml:1:36: classes.receipt.cells.clear: a cell is 'nevr'; it must be allow, never, or bounds such as "
        "{after_steps: 5}, {max_tokens: 20000}, {when: superseded}; did you mean 'never'?"
    ),
    "classes: {receipt: {cells: {clear: {after: 5}}}}": (
        "t.yaml:1:36: classes.receipt.cells.clear: a cell has no bound 'after'; did you mean 'after_steps'?"
    ),
    "classes: {receipt: {cells: {clear: {when: supersede}}}}": (
        "t.yaml:1:36: classes.receipt.cells.clear: when is 'supersede'; did you mean 'superseded'?"
    ),
    "classes: {receipt: {cells: {clear: {after_steps: 0}}}}": (
        "t.yaml:1:36: classes.receipt.cells.clear: after_steps is 0; it must be a whole number, at least 1; correct it"
    ),
    "classes: {receipt: {cell: {}}}": "t.yaml:1:21: classes.receipt.cell: a class has no 'cell'; did you mean 'cells'?",
    "- x": "t.yaml:1:1: the file is a list; give a table as YAML, with 'rules:' or 'classes:' at the top",
    "": "t.yaml:1:1: the file is empty; give a table as YAML, with 'rules:' or 'classes:' at the top",
}


@pytest.mark.parametrize(("text", "expected"), PROBLEMS.items(), ids=list(PROBLEMS))
def test_a_problem_is_told_with_its_place_and_what_to_do(write: Write, text: str, expected: str) -> None:
    path = write("t.yaml", text)

    assert [line.replace(str(path.parent), "{folder}") for line in lint(path)] == [expected]
    with pytest.raises(ConfigError) as caught:
        load_table(path)
    assert len(caught.value.problems) == 1


def test_all_problems_are_told_in_one_run_in_the_order_of_the_file(write: Write) -> None:
    path = write(
        "t.yaml",
        """\
        classes:
          order: {cells: {clear: nope, drop: {max_tokens: x}}}
        rules:
          - {tool: a, class: odrer}
          - {tool: 5, class: order}
        """,
    )

    assert [line.split(": ")[0] for line in lint(path)] == ["t.yaml:2:26", "t.yaml:2:38", "t.yaml:4:22", "t.yaml:5:12"]


WARNINGS = {
    """\
    rules:
      - {tool: "get_*", class: static}
      - {tool: [get_user, "get_a{b,c}*"], class: static}
    """: (
        "t.yaml:3:5: rules[1]: warning: this rule adds nothing: {path}:2 matches all that it matches, with the same "
        "class; remove it"
    ),
    """\
    extends: mcp
    rules:
      - {tool: get_prompt, class: skill}
    """: (
        "t.yaml:3:5: rules[0]: warning: this rule adds nothing: mcp:{line} matches all that it matches, with the same "
        "class; remove it"
    ),
    """\
    rules:
      - {tool: [get_user, "!get_*"], class: static}
    """: (
        "t.yaml:2:5: rules[0]: warning: this rule matches no call: it excludes every tool that it names; correct 'tool'"
    ),
    """\
    classes:
      receipt: {cells: {clear: {after_steps: 5}}}
    """: (
        "t.yaml:2:21: classes.receipt.cells.clear: warning: this lets 'clear' remove a receipt: the only record that "
        "something was done would go; write 'never' or remove the line"
    ),
    """\
    classes:
      skill: {cells: {truncate: allow, clear: {max_tokens: 5000}, redact: allow}}
    """: (
        "t.yaml:2:19: classes.skill.cells.truncate: warning: this lets 'truncate' remove a skill: the instructions "
        "that the model works by would go; write 'never' or remove the line"
    ),
}


@pytest.mark.parametrize(
    ("text", "expected"), WARNINGS.items(), ids=["covered", "base", "excluded", "receipt", "skill"]
)
def test_a_table_that_gives_away_too_much_or_too_little_is_warned_of(write: Write, text: str, expected: str) -> None:
    path = write("t.yaml", text)

    told = [re.sub(r"mcp:\d+", "mcp:{line}", line.replace(str(path), "{path}")) for line in lint(path)]

    assert told == [expected]
    assert load_table(path)


@pytest.mark.parametrize(
    "rules",
    [
        '[{tool: "get_*", class: static}, {tool: get_user, class: dynamic}]',
        '[{tool: get_user, class: static}, {tool: "get_*", class: static}]',
        '[{tool: "get_*", status: ok, class: static}, {tool: get_user, class: static}]',
        '[{tool: ["get_*", "!get_user"], class: static}, {tool: get_user, class: static}]',
        '[{tool: "g[a-e]t", class: static}, {tool: "g[a-f]t", class: static}]',
        '[{tool: "get_*", class: static}, {tool: get_user, class: static, resource: id}]',
        '[{tool: a, arguments: {x: "1*"}, class: static}, {tool: a, arguments: {y: "1"}, class: static}]',
        "[{tool: a, class: static}, {tool: a, shell: {commands: [ls]}, class: static}]",
        "[{tool: a, shell: {commands: [ls -l]}, class: static}, {tool: a, shell: {commands: [ls]}, class: static}]",
    ],
)
def test_a_rule_that_can_add_something_is_not_warned_of(write: Write, rules: str) -> None:
    assert lint(write("t.yaml", f"rules: {rules}")) == []


def test_a_table_extends_another_beside_it_by_its_path(write: Write) -> None:
    write("mine.yaml", "extends: mcp\nclasses: {order: {cells: {clear: never, drop: allow}}}\n")
    path = write(
        "more.yaml",
        """\
        extends: mine.yaml
        classes: {order: {description: An order, cells: {drop: never}}, receipt: {cells: {summarize: never}}}
        rules: [{tool: buy, class: order}]
        """,
    )
    table = load_table(path)

    assert lint(path) == []
    assert table.rules[-1].where.endswith("more.yaml:3")
    assert [rule.where for rule in table.rules[:-1]] == [rule.where for rule in load_table("mcp").rules]
    assert str(table.classes["order"].cell("clear")) == str(table.classes["order"].cell("drop")) == "never"
    assert list(table.classes)[-1] == "order"


def test_a_misspelt_table_to_extend_gets_the_nearest_one(write: Write) -> None:
    (problem,) = lint(write("t.yaml", "extends: sweagnt\n"))

    assert problem.startswith("t.yaml:1:10: extends: ")
    assert problem.endswith("there is no such file, and no table of that name; did you mean 'sweagent'?")


def test_a_table_that_extends_itself_is_told_so(write: Write) -> None:
    write("b.yaml", "extends: a.yaml\n")
    path = write("a.yaml", "extends: b.yaml\n")
    (problem,) = lint(path)

    assert "a table cannot extend itself" in problem
    assert problem.endswith("a.yaml; correct 'extends'")


def test_problems_of_the_table_that_is_extended_are_told_too(write: Write) -> None:
    write("base.yaml", "rules: [{tool: x}]\n")
    path = write("t.yaml", "extends: base.yaml\nrules: [{tool: y}]\n")

    assert [line.rpartition("/")[2].split(": ")[0] for line in lint(path)] == ["base.yaml:1:9", "t.yaml:2:9"]


def test_an_operation_that_a_class_does_not_name_is_never_allowed(write: Write) -> None:
    table = load_table(write("t.yaml", "classes: {order: {cells: {clear: allow}}}\n"))

    assert table.verdict("clear", ["order"]).allowed
    assert not table.verdict("drop", ["order"]).allowed


def test_a_table_can_be_a_mapping() -> None:
    table = load_table({"extends": "default", "rules": [{"tool": "frobnicate", "class": "static"}]})

    assert table.rules[-1].where == "<table>:3"
    with pytest.raises(ConfigError, match=r"^<table>:2:10: rules\[0\]\.class: there is no class 'x'"):
        load_table({"rules": [{"class": "x", "tool": "a"}]})


def test_a_name_that_is_no_table_gets_the_nearest_one() -> None:
    with pytest.raises(ConfigError) as caught:
        load_table("sweagnt")

    assert str(caught.value) == "sweagnt: there is no such file, and no table of that name; did you mean 'sweagent'?"


def test_aliases_that_would_grow_without_end_are_a_problem(write: Write) -> None:
    text = dedent("""\
        rules:
          - &a {tool: [x], arguments: {k: [a, b, c, d, e, f, g, h]}, class: static}
    """) + "".join("  - *a\n" for _ in range(2000))

    assert lint(write("t.yaml", text))[0].endswith("values, aliases written out; make it smaller")


@pytest.mark.parametrize(
    ("head", "expected"),
    [
        ("extends: mine.yml", "t.yaml:1:10: extends: "),
        ("extend: mine.yaml", "t.yaml:1:1: extend: a table has no 'extend'; did you mean 'extends'?"),
        ("clases: {order: {}}", "t.yaml:1:1: clases: a table has no 'clases'; did you mean 'classes'?"),
        ("classes: [order]", "t.yaml:1:10: classes: "),
        ("extends: broken.yaml", "broken.yaml:1:10: extends: "),
    ],
)
def test_classes_that_could_not_be_read_are_not_told_to_be_missing(write: Write, head: str, expected: str) -> None:
    write("mine.yaml", "classes: {order: {}}")
    write("broken.yaml", "extends: mine.yml")
    (told,) = lint(write("t.yaml", f"{head}\nrules: [{{tool: x, class: order}}]"))

    assert told.startswith(expected)


def test_a_rule_with_a_key_that_is_not_known_has_its_class_looked_at_too(write: Write) -> None:
    assert lint(write("t.yaml", "rules: [{tool: x, clas: static, class: [static, statik]}]")) == [
        "t.yaml:1:19: rules[0].clas: a rule has no option 'clas'; did you mean 'class'?",
        "t.yaml:1:40: rules[0].class: there is no class 'statik'; did you mean 'static'?",
    ]
