from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from elision.archive import Archive, open_archive
from elision.archive.schema import TRIGGERS


@pytest.fixture(autouse=True)
def _archive_in_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """These tests name their archives themselves."""
    monkeypatch.delenv("ELISION_ARCHIVE", raising=False)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "run" / ".elision"


@pytest.fixture
def archive(folder: Path) -> Iterator[Archive]:
    with open_archive(folder, environ={}) as opened:
        yield opened


@pytest.fixture
def tamper(folder: Path) -> Callable[..., None]:
    """Change the database behind the archive's back, as someone who knows SQLite can."""

    def change(*statements: str) -> None:
        with closing(sqlite3.connect(folder / "archive.db", isolation_level=None)) as connection:
            for name in TRIGGERS:
                connection.execute(f"DROP TRIGGER {name}")
            for statement in statements:
                connection.execute(statement)
            for statement in TRIGGERS.values():
                connection.execute(statement)

    return change
