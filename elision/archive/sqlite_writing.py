"""One transaction of an archive in SQLite."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Collection

from elision.archive.content import Blob
from elision.archive.record import Head, Record, fact_hash, linked
from elision.archive.sqlite_rows import INSERT, row_of
from elision.archive.store import Expired

REF_CHARS = 12
"""Length of a ref; it is longer where content that came earlier has the same beginning."""


def free_ref(connection: sqlite3.Connection | None, sha256: str) -> str:
    """Return the ref that content of this hash has, or would be given now."""
    if connection is None:
        return sha256[:REF_CHARS]
    row = connection.execute("SELECT ref FROM refs WHERE sha256 = ?", (bytes.fromhex(sha256),)).fetchone()
    if row is not None:
        return str(row[0])
    length = REF_CHARS
    while connection.execute("SELECT 1 FROM refs WHERE ref = ?", (sha256[:length],)).fetchone():
        length += 1
    return sha256[:length]


class SqliteWriting:
    """A transaction that has begun; the store commits it or rolls it back."""

    def __init__(self, connection: sqlite3.Connection, head: Head) -> None:
        self._connection = connection
        self.head = head

    def add(self, sha256: str, blob: Callable[[], Blob]) -> str:
        """Keep the blob of this hash, made only if its bytes are not there yet; return its ref, fixed for good."""
        name = bytes.fromhex(sha256)
        if not self._has("SELECT 1 FROM blobs WHERE sha256 = ?", name):
            made = blob()
            self._connection.execute(
                "INSERT INTO blobs (sha256, kind, encoding, size, data) VALUES (?, ?, ?, ?, ?)",
                (name, made.kind, made.encoding, made.size, made.data),
            )
        ref = free_ref(self._connection, sha256)
        if not self._has("SELECT 1 FROM refs WHERE sha256 = ?", name):
            self._connection.execute("INSERT INTO refs (ref, sha256) VALUES (?, ?)", (ref, name))
        return ref

    def note(self, record: Record) -> Record:
        """Link a record to this writer's chain and append it."""
        done, self.head = linked(record, self.head)
        self._connection.execute(INSERT, row_of(done))
        return done

    def remember(self, name: bytes) -> None:
        """Remember the hash of a text of ours."""
        if not self._has("SELECT 1 FROM texts WHERE sha256 = ?", name):
            self._connection.execute("INSERT INTO texts (sha256) VALUES (?)", (name,))

    def record(self, key: bytes, fact: str, time: str) -> str:
        """Record what held at a prefix of a history, if nothing is recorded there yet; return what is recorded."""
        row = self._connection.execute("SELECT fact FROM facts WHERE key = ?", (key,)).fetchone()
        if row is not None:
            return str(row[0])
        values = (key, fact, time, fact_hash(key, fact))
        self._connection.execute("INSERT INTO facts (key, fact, time, sha256) VALUES (?, ?, ?, ?)", values)
        return fact

    def expired(self, before: str, keep_sessions: Collection[str], after: int, most: int) -> list[Expired]:
        """Return originals after the place ``after`` that no record since ``before`` and no kept session mentions."""
        kept = ", ".join("?" * len(keep_sessions))
        query = (
            "SELECT b.number, lower(hex(b.sha256)), f.ref, b.size "  # noqa: S608 (values are bound)
            "FROM blobs b JOIN refs f ON f.sha256 = b.sha256 WHERE b.number > ? "
            "AND NOT EXISTS (SELECT 1 FROM records r WHERE r.sha256 = b.sha256 AND r.operation != 'prune' "
            f"AND (r.time >= ? OR r.session IN ({kept}))) ORDER BY b.number LIMIT ?"
        )
        found = self._connection.execute(query, (after, before, *keep_sessions, most))
        return [Expired(*row) for row in found]

    def bury(self, sha256: str, record: Record) -> None:
        """Delete a blob's bytes; ``record`` is the one, of this transaction, that says so."""
        name = bytes.fromhex(sha256)
        self._connection.execute(
            "INSERT INTO tombstones (blob, sha256, record) SELECT number, sha256, ? FROM blobs WHERE sha256 = ?",
            (bytes.fromhex(record.hash), name),
        )
        self._connection.execute("DELETE FROM blobs WHERE sha256 = ?", (name,))

    def _has(self, query: str, name: bytes) -> bool:
        return self._connection.execute(query, (name,)).fetchone() is not None
