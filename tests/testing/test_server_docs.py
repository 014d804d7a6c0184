"""What the documents show of the model server works as written."""

from __future__ import annotations

from doc_blocks import ROOT, blocks
from forked import Python

from elision.testing.server.answering import SHAPES

PAGE = (ROOT / "docs" / "testing.md").read_text(encoding="utf-8")
SECTION = PAGE.split("## A model server\n")[1].split("\n## ")[0]


def test_the_first_example_prints_what_is_shown(python: Python) -> None:
    (program, *_) = blocks(SECTION, "python")
    shown = SECTION.split(program.text)[1].split("```\n")[2]
    done = python("-c", program.text)

    assert (done.stdout, done.returncode) == (shown, 0), done.stderr


def test_the_other_examples_run() -> None:
    for program in blocks(SECTION, "python")[1:]:
        exec(program.text, {})  # noqa: S102 (our own documents)


def test_each_path_is_in_the_table() -> None:
    assert [path for path in SHAPES if f"| `{path}` |" not in SECTION] == []
