"""The page on classification says what the tables say, and its examples work."""

from __future__ import annotations

from pathlib import Path

from doc_blocks import ROOT, blocks
from forked import Python

from elision.classification import OPERATIONS, lint_table, load_table
from elision.registry import plugins

PAGE = (ROOT / "docs" / "classification.md").read_text(encoding="utf-8")


def rows(heading: str) -> list[list[str]]:
    section = PAGE.split(f"\n## {heading}\n")[1].split("\n## ")[0]
    return [
        [cell.strip() for cell in line.strip("|").split("|")] for line in section.splitlines() if line.startswith("| `")
    ]


def test_the_table_in_the_page_has_no_problem(tmp_path: Path) -> None:
    (example,) = (block for block in blocks(PAGE, "yaml") if "history_processors" not in block.text)
    path = tmp_path / "table.yaml"
    path.write_text(example.text, encoding="utf-8")

    assert lint_table(path) == []


def test_the_program_in_the_page_prints_what_it_should(python: Python) -> None:
    (program,) = blocks(PAGE, "python")
    done = python("-c", program.text)

    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[0].startswith("['receipt', 'static'] [")
    assert done.stdout.splitlines()[1:] == ["False class receipt: clear never True", "a.py"]


def test_every_table_that_ships_is_listed_with_what_it_extends() -> None:
    listed = {name.strip("`"): base.strip("`") for name, base, _ in rows("Tables that ship")}

    assert set(listed) == set(plugins().tables())
    for name, base in listed.items():
        inherited = [rule.where for rule in load_table(base or "classes").rules]
        assert [rule.where for rule in load_table(name).rules][: len(inherited)] == inherited
        known = {name, base, "shell", "sandbox", "classes"}
        assert {rule.where.split(":")[0] for rule in load_table(name).rules} <= known


def test_every_class_and_operation_is_named() -> None:
    section = PAGE.split("\n## Classes and what operations may do\n")[1]

    assert [row for row in load_table("classes").classes if f"\n| `{row}` |" not in section] == []
    assert [name for name in OPERATIONS if name not in section] == []
