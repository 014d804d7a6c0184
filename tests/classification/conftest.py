from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from textwrap import dedent
from typing import Any, TypeAlias

import pytest

from elision import ToolCall
from elision.classification import Table, load_table

Classes: TypeAlias = Callable[..., list[str]]


@pytest.fixture
def table() -> Callable[[str], Table]:
    """Load a table from YAML text."""
    import yaml

    return lambda text: load_table(yaml.safe_load(dedent(text)))


@pytest.fixture
def write(tmp_path: Path) -> Callable[[str, str], Path]:
    """Write a file."""

    def written(name: str, text: str) -> Path:
        path = tmp_path / name
        path.write_text(dedent(text), encoding="utf-8")
        return path

    return written


@pytest.fixture
def classes() -> Classes:
    """Return the classes of a call under a table."""

    def found(table: Table | str, tool: str, arguments: Any = None, **facts: Any) -> list[str]:
        loaded = load_table(table) if isinstance(table, str) else table
        return sorted(loaded.classify(ToolCall("", tool, {} if arguments is None else arguments), **facts).classes)

    return found
