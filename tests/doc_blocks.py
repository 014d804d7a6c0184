"""Fenced blocks in the project's own documents, and the rooms that the tests of the house look at."""

from __future__ import annotations

import re
import sys
from importlib.util import find_spec
from pathlib import Path
from textwrap import dedent
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parents[1]
ROOMS = ("processors", "plugins", "configs", "templates")

_FENCE = re.compile(r"^(?P<indent>[ ]*)```(?P<language>\w*)[^\n]*\n(?P<text>.*?)^(?P=indent)```[ ]*$", re.M | re.S)
_TARGET = re.compile(r"""target:\s*["']?(?P<module>[\w.]+):(?P<name>\w+)""")


class Block(NamedTuple):
    """One fenced block, and the line that it begins on."""

    line: int
    language: str
    text: str


def blocks(document: str, language: str) -> list[Block]:
    """Return the fenced blocks of one language."""
    return [
        Block(document.count("\n", 0, match.start("text")) + 1, language, dedent(match["text"]))
        for match in _FENCE.finditer(document)
        if match["language"] == language
    ]


def documents() -> list[Path]:
    """Return the Markdown documents of the project."""
    return [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").glob("*.md"))]


def make_importable(text: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Write the functions that ``target:`` lines name, where there are none, so that the YAML can be loaded."""
    monkeypatch.syspath_prepend(folder)
    for match in _TARGET.finditer(text):
        package, *inner = match["module"].split(".")
        if find_spec(package) is None or (folder / package).exists():
            path = folder.joinpath(package, *inner, "__init__.py")
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("a", encoding="utf-8") as file:
                file.write(f"def {match['name']}(history):\n    return history\n")
            for name in [name for name in sys.modules if name.split(".")[0] == package]:
                monkeypatch.delitem(sys.modules, name)
