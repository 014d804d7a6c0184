"""Originals and records in one SQLite file, safe for many processes and threads."""

from __future__ import annotations

import os
import sqlite3
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from weakref import finalize

from elision.archive import schema
from elision.archive.content import Blob
from elision.archive.forking import close_before_forks
from elision.archive.record import Head, Record, new_writer
from elision.archive.sqlite_file import NAME, code, connect, identity, in_memory, locked, trouble, wait_for_locks
from elision.archive.sqlite_rows import COLUMNS, SAME_EDIT, blob_of, edit_of, record_of
from elision.archive.sqlite_writing import SqliteWriting, free_ref
from elision.archive.store import Stats

PATIENCE = 2.0
"""Seconds that a call waits for a lock of another process before it fails."""

_AGAIN = 0.005
_PAGE = 500
_inherited: list[sqlite3.Connection] = []
"""Connections that came through a fork that Python did not see: closing one here could harm the file."""


@dataclass(slots=True)
class _Open:
    """One connection, the process and file that it belongs to, and the chain of what is written through it."""

    connection: sqlite3.Connection
    pid: int
    file: tuple[int, int] | None
    head: Head | None = None
    token: object = field(default_factory=object)

    def let_go(self) -> None:
        """Close the connection, unless a fork brought it here."""
        if self.pid != os.getpid():
            _inherited.append(self.connection)
            return
        with suppress(sqlite3.Error):
            self.connection.close()


class SqliteStore:
    """A store in the folder ``folder``; in memory if there is none.  Nothing is opened before it is needed."""

    refusal = ""

    def __init__(self, folder: Path | None, *, patience: float = PATIENCE) -> None:
        self.path = folder.absolute() / NAME if folder else None
        self.where = str(self.path or "memory:")
        self.lock = threading.RLock()
        self._patience = patience
        self._now_open: _Open | None = None
        self._closing: finalize[..., Any] | None = None
        if self.path:
            close_before_forks(self)

    @property
    def begun(self) -> bool:
        """Whether there is something to read: a file that has not been written yet has nothing."""
        return self.path is None or identity(self.path) is not None

    def close(self) -> None:
        """Close the file; what is in memory stays."""
        with self.lock:
            if self.path:
                self._drop()

    def _drop(self) -> None:
        self._now_open = None
        if self._closing is not None:
            self._closing()

    def _keep_open(self, connection: sqlite3.Connection, file: tuple[int, int] | None) -> None:
        self._now_open = _Open(connection, os.getpid(), file)
        # Unlike __del__, it comes first where the garbage collector finds store and connection together.
        self._closing = finalize(self, self._now_open.let_go)
        self._closing.atexit = False

    def _opened(self, patience: float, *, create: bool) -> _Open | None:
        """Return the connection; it is a new one if the process or the file is no longer the one that it was."""
        file = identity(self.path) if self.path else None
        if self.path and self._now_open and (self._now_open.pid != os.getpid() or self._now_open.file != file):
            self._drop()
        if self._now_open is None:
            if self.path is None:
                self._keep_open(in_memory(), None)
            elif create or file is not None:
                connection = connect(self.path, patience)
                wait_for_locks(connection, self._patience)
                self._keep_open(connection, identity(self.path))
        return self._now_open

    @contextmanager
    def _using(self, *, create: bool = False) -> Iterator[_Open | None]:
        patience = self._take_lock()
        try:
            yield self._opened(patience, create=create)
        except (sqlite3.Error, OSError) as error:
            self.close()
            raise trouble(self.where, error) from error
        finally:
            self.lock.release()

    def _take_lock(self) -> float:
        """Take the lock among the threads; say how long the call may still wait for other processes."""
        patience = self._patience
        if not self.lock.acquire(blocking=False):
            start = time.monotonic()
            if not self.lock.acquire(timeout=patience):
                raise locked(self.where)
            patience = max(patience - (time.monotonic() - start), 0.001)
        return patience

    def _rows(self, query: str, values: tuple[Any, ...] = ()) -> list[Any]:
        with self._using() as opened:
            return [] if opened is None else opened.connection.execute(query, values).fetchall()

    @contextmanager
    def transaction(self) -> Iterator[SqliteWriting]:
        """Begin a transaction, which is durable when its block has ended."""
        with self._begun() as opened:
            connection = opened.connection
            try:
                writing = SqliteWriting(connection, opened.head or new_writer(_newest_hash(connection)))
                yield writing
                connection.execute("COMMIT")
            except BaseException:
                with suppress(sqlite3.Error):
                    connection.execute("ROLLBACK")
                raise
            if writing.head.sequence:
                opened.head = writing.head

    @contextmanager
    def _begun(self) -> Iterator[_Open]:
        """Begin, and try again while another process writes; between the tries other threads have their turn."""
        deadline = time.monotonic() + self._patience
        while True:
            with self._using(create=True) as opened:
                assert opened is not None  # noqa: S101 (it was created)
                if self._begin(opened.connection):
                    yield opened
                    return
            if time.monotonic() > deadline:
                raise locked(self.where)
            time.sleep(_AGAIN)

    def _begin(self, connection: sqlite3.Connection) -> bool:
        wait_for_locks(connection, 0)
        try:
            connection.execute("BEGIN IMMEDIATE")
        except sqlite3.OperationalError as error:
            if code(error) != sqlite3.SQLITE_BUSY:
                raise
            return False
        finally:
            wait_for_locks(connection, self._patience)
        return True

    def free_ref(self, sha256: str) -> str:
        """Return the ref that content of this hash has, or would be given now."""
        with self._using() as opened:
            return free_ref(opened.connection if opened else None, sha256)

    def resolve(self, name: str) -> list[str]:
        """Return the hashes that a ref, or the beginning of a hash, stands for; those of pruned ones included."""
        exact = self._rows("SELECT sha256 FROM refs WHERE ref = ?", (name,))
        low, high = bytes.fromhex(name.ljust(64, "0")), bytes.fromhex(name.ljust(64, "f"))
        found = exact or self._rows("SELECT sha256 FROM refs WHERE sha256 BETWEEN ? AND ? LIMIT 5", (low, high))
        return [sha256.hex() for (sha256,) in found]

    def near(self, name: str) -> list[str]:
        """Return refs that begin like ``name``."""
        start = self._rows("SELECT ref FROM refs WHERE ref >= ? AND ref < ? LIMIT 20", (name[:5], name[:5] + "g"))
        return [ref for (ref,) in start]

    def ref(self, sha256: str) -> str:
        """Return the ref of content that is, or was, stored."""
        rows = self._rows("SELECT ref FROM refs WHERE sha256 = ?", (bytes.fromhex(sha256),))
        return str(rows[0][0]) if rows else ""

    def blob(self, sha256: str) -> Blob | None:
        """Return a blob; ``None`` if it is not there, or was pruned."""
        query = "SELECT sha256, kind, encoding, size, data FROM blobs WHERE sha256 = ?"
        rows = self._rows(query, (bytes.fromhex(sha256),))
        return blob_of(rows[0]) if rows else None

    def blobs(self) -> Iterator[Blob]:
        """Yield every blob, in the order in which they came."""
        query = "SELECT number, sha256, kind, encoding, size, data FROM blobs WHERE number > ? ORDER BY number LIMIT 20"
        last = 0
        while rows := self._rows(query, (last,)):
            yield from (blob_of(row) for _, *row in rows)
            last = rows[-1][0]

    def records(
        self, *, session: str | None = None, sha256: str | None = None, sequence: int | None = None
    ) -> Iterator[Record]:
        """Yield records, in the order in which they were written."""
        wanted = {"session": session, "sha256": bytes.fromhex(sha256) if sha256 else None, "sequence": sequence}
        given = {name: value for name, value in wanted.items() if value is not None}
        asked = "".join(f" AND {name} = ?" for name in given)
        query = f"SELECT number, {COLUMNS} FROM records WHERE number > ?{asked} ORDER BY number LIMIT {_PAGE}"  # noqa: S608
        last = 0
        while rows := self._rows(query, (last, *given.values())):
            yield from (record_of(row) for _, *row in rows)
            last = rows[-1][0]

    def recorded(self, record: Record) -> str:
        """Return the ref of an original whose bytes are there, with a record that agrees with ``record`` in ``EDIT``.

        It is empty where either is missing.  Asked inside a transaction, what that has written counts.
        """
        stored = "EXISTS (SELECT 1 FROM blobs WHERE blobs.sha256 = records.sha256)"
        rows = self._rows(f"SELECT ref FROM records WHERE {SAME_EDIT} AND {stored} LIMIT 1", tuple(edit_of(record)))  # noqa: S608
        return str(rows[0][0]) if rows else ""

    def era(self) -> object:
        """Return what is equal as long as nothing that was seen here has been deleted, by whatever process."""
        with self._using() as opened:
            if opened is None:
                return object()
            # A file that was closed and deleted can come back with the same number: only an open one is the same.
            query = "SELECT max(number) FROM records WHERE operation = 'prune'"
            return opened.token, opened.connection.execute(query).fetchone()[0]

    def newest_record(self, sha256: str) -> Record | None:
        """Return the newest record about an original."""
        query = f"SELECT {COLUMNS} FROM records WHERE sha256 = ? ORDER BY number DESC LIMIT 1"  # noqa: S608
        rows = self._rows(query, (bytes.fromhex(sha256),))
        return record_of(rows[0]) if rows else None

    def view_policies(self, sha256: str) -> set[str]:
        """Return the view policies of all records about an original."""
        query = "SELECT DISTINCT view_policy FROM records WHERE sha256 = ? AND operation != 'prune'"
        return {policy for (policy,) in self._rows(query, (bytes.fromhex(sha256),))}

    def knows_text(self, name: bytes) -> bool:
        """Whether the hash of a text of ours is remembered."""
        return bool(self._rows("SELECT 1 FROM texts WHERE sha256 = ?", (name,)))

    def facts(self, keys: Sequence[bytes]) -> dict[bytes, str]:
        """Return the facts that are recorded under some keys."""
        found: dict[bytes, str] = {}
        for start in range(0, len(keys), _PAGE):
            asked = tuple(keys[start : start + _PAGE])
            marks = ", ".join("?" * len(asked))
            found |= dict(self._rows(f"SELECT key, fact FROM facts WHERE key IN ({marks})", asked))  # noqa: S608
        return found

    def ledger(self) -> Iterator[tuple[bytes, str, str, bytes]]:
        """Yield every fact, by its key: key, fact, time, and the sha256 that it was recorded with."""
        if self._rows("SELECT 1 FROM sqlite_master WHERE name = 'facts'"):
            query = f"SELECT key, fact, time, sha256 FROM facts WHERE key > ? ORDER BY key LIMIT {_PAGE}"  # noqa: S608
            last = b""
            while rows := self._rows(query, (last,)):
                yield from ((key, fact, time, sha256) for key, fact, time, sha256 in rows)
                last = rows[-1][0]

    def faults(self) -> Iterator[str]:
        """Yield what is wrong with the store itself."""
        yield from (f"database: {line}" for (line,) in self._rows("PRAGMA integrity_check") if line != "ok")
        present = {name for (name,) in self._rows("SELECT name FROM sqlite_master WHERE type = 'trigger'")}
        if self._rows("SELECT 1"):
            yield from (
                f"trigger {name}: it is missing: anything may have been changed"
                for name in schema.TRIGGERS
                if name not in present
            )
        for query, meaning in schema.FAULTS.items():
            yield from (meaning.format(*row) for row in self._rows(query))

    def stats(self) -> Stats:
        """Count what is there."""
        if not self._rows("SELECT 1"):
            return Stats(self.where)
        ((originals, size, stored),) = self._rows(
            "SELECT count(*), coalesce(sum(size), 0), coalesce(sum(length(data)), 0) FROM blobs"
        )
        ((records, writers, sessions, oldest, newest),) = self._rows(
            "SELECT count(*), count(DISTINCT writer), count(DISTINCT nullif(session, '')), "
            "coalesce(min(time), ''), coalesce(max(time), '') FROM records"
        )
        ((pruned,),) = self._rows("SELECT count(*) FROM tombstones")
        facts = sum(1 for _ in self.ledger())
        operations = self._rows(
            "SELECT operation, count(*), sum(chars_before - chars_after) FROM records "
            "WHERE operation != 'prune' GROUP BY operation ORDER BY 3 DESC, 1"
        )
        return Stats(
            where=self.where,
            originals=originals,
            bytes=size,
            stored_bytes=stored,
            records=records,
            writers=writers,
            sessions=sessions,
            pruned=pruned,
            facts=facts,
            oldest=oldest,
            newest=newest,
            by_operation=tuple(operations),
        )

    def compact(self) -> None:
        """Give the space of deleted bytes back."""
        if self.path:
            with self._using() as opened:
                if opened is not None:
                    opened.connection.execute("PRAGMA incremental_vacuum").fetchall()
                    opened.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()


def _newest_hash(connection: sqlite3.Connection) -> str:
    row = connection.execute("SELECT hash FROM records ORDER BY number DESC LIMIT 1").fetchone()
    return row[0].hex() if row else ""
