"""The store of ``archive: none``: it keeps nothing, so that nothing may be removed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from elision.archive.sqlite import SqliteStore
from elision.archive.sqlite_writing import SqliteWriting
from elision.errors import ArchiveError


class NoStore(SqliteStore):
    """An empty store that refuses whatever is put into it."""

    refusal = "archive: none: nothing is kept, so nothing may be removed; name a folder (archive: .elision)"

    def __init__(self) -> None:
        super().__init__(None)
        self.where = "none"

    @contextmanager
    def transaction(self) -> Iterator[SqliteWriting]:
        """Refuse."""
        raise ArchiveError(self.refusal)
        yield
