"""The file of an archive in SQLite: its folder, its connection, and what an error of it means."""

from __future__ import annotations

import errno
import os
import sqlite3
import threading
import time
from contextlib import suppress
from pathlib import Path

from elision.archive import schema
from elision.errors import ArchiveError

NAME = "archive.db"
_OURS = {NAME, f"{NAME}-wal", f"{NAME}-shm", f"{NAME}-journal", ".gitignore", "offloaded"}
_opening = threading.Lock()
"""Closing a file drops all locks that this process has on it, so no thread may connect while another creates it."""


def connect(path: Path, patience: float) -> sqlite3.Connection:
    """Open the database, which is made if it is missing; its folder is closed to others and ignored by git."""
    deadline = time.monotonic() + patience
    if not _opening.acquire(timeout=patience):
        raise locked(str(path))
    try:
        _prepare_folder(path.parent)
        if not path.exists():
            _create(path)
        connection = sqlite3.connect(path, timeout=patience, isolation_level=None, check_same_thread=False)
        try:
            _set_up(connection, str(path), deadline)
        except BaseException:
            connection.close()
            raise
    finally:
        _opening.release()
    return connection


def in_memory() -> sqlite3.Connection:
    """Return an empty archive that lives as long as the connection."""
    connection = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
    _set_up(connection, "memory:", time.monotonic())
    return connection


def identity(path: Path) -> tuple[int, int] | None:
    """Return what tells the file from another one of its name; ``None`` where there is none."""
    try:
        found = os.stat(path)  # half the cost of path.stat(), and asked before every call
    except (FileNotFoundError, NotADirectoryError):
        return None
    return found.st_dev, found.st_ino


def _prepare_folder(folder: Path) -> None:
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    if set(os.listdir(folder)) <= _OURS:
        ignored = folder / ".gitignore"
        # A full disk, or a kill, can have left an empty one.
        if not ignored.exists() or not ignored.stat().st_size:
            ignored.write_bytes(b"*\n")


def _create(path: Path) -> None:
    try:
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
    except FileExistsError:
        return
    for folder in (path.parent, path.parent.parent):
        with suppress(OSError):
            descriptor = os.open(folder, os.O_RDONLY)
            try:
                os.fsync(descriptor)
            finally:
                os.close(descriptor)


def _set_up(connection: sqlite3.Connection, where: str, deadline: float) -> None:
    # Texts in a damaged file need not be UTF-8; `verify` must be able to read past them.
    connection.text_factory = lambda data: data.decode("utf-8", "surrogateescape")
    connection.execute("PRAGMA trusted_schema = OFF")
    connection.execute("PRAGMA secure_delete = ON")
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if version == 0:
        connection.execute("PRAGMA auto_vacuum = INCREMENTAL")
    if connection.execute("PRAGMA journal_mode").fetchone()[0] not in ("wal", "memory"):
        _become_wal(connection, deadline)
    connection.execute("PRAGMA synchronous = FULL")
    if version == 0:
        _create_tables(connection)
        (version,) = connection.execute("PRAGMA user_version").fetchone()
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    if application != schema.APPLICATION_ID:
        raise ArchiveError(f"{where}: this is the database of another program; name another folder")
    if version > schema.VERSION:
        raise ArchiveError(
            f"{where}: a newer Elision wrote this archive (version {version}; this one reads {schema.VERSION}); "
            "update Elision"
        )
    if version < schema.VERSION:
        _upgrade(connection)


def wait_for_locks(connection: sqlite3.Connection, seconds: float) -> None:
    """Say how long each statement waits for a lock of another process."""
    connection.execute(f"PRAGMA busy_timeout = {int(1000 * seconds)}")


def _become_wal(connection: sqlite3.Connection, deadline: float) -> None:
    """Switch to a write-ahead log; SQLite does not wait by itself for the lock that this takes."""
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError as error:
            if code(error) != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                raise
            time.sleep(0.005)
        else:
            return


def _create_tables(connection: sqlite3.Connection) -> None:
    """Make the tables of an empty database; another process may have made them meanwhile."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        (tables,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
        if version == tables == 0:
            for statement in (*schema.TABLES, *schema.LEDGER, *schema.TRIGGERS.values()):
                connection.execute(statement)
            connection.execute(f"PRAGMA application_id = {schema.APPLICATION_ID}")
            connection.execute(f"PRAGMA user_version = {schema.VERSION}")
        connection.execute("COMMIT")
    except BaseException:
        with suppress(sqlite3.Error):
            connection.execute("ROLLBACK")
        raise


def _upgrade(connection: sqlite3.Connection) -> None:
    """Bring the tables of an older version up to date; one that cannot be written can still be read."""
    try:
        connection.execute("BEGIN IMMEDIATE")
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        for old in range(version, schema.VERSION):
            for statement in schema.UPGRADES[old]:
                connection.execute(statement)
            connection.execute(f"PRAGMA user_version = {old + 1}")
        connection.execute("COMMIT")
    except sqlite3.OperationalError as error:
        with suppress(sqlite3.Error):
            connection.execute("ROLLBACK")
        if code(error) != sqlite3.SQLITE_READONLY:
            raise


def code(error: sqlite3.Error) -> int:
    """Return SQLite's primary error code; 0 where there is none."""
    found: int = getattr(error, "sqlite_errorcode", 0)
    return found & 0xFF


_LOCKED = "another process has kept it locked for too long; find out which, or name another folder"
_MEANINGS = {
    sqlite3.SQLITE_FULL: "the disk is full; free some space",
    sqlite3.SQLITE_BUSY: _LOCKED,
    sqlite3.SQLITE_LOCKED: _LOCKED,
    sqlite3.SQLITE_READONLY: "it cannot be written; mend its permissions, or name a folder that can be written",
    sqlite3.SQLITE_CANTOPEN: "it cannot be opened; mend its permissions, or name a folder that can be written",
    sqlite3.SQLITE_CORRUPT: "it is damaged; restore it from a copy, or move it away to begin a new one",
    sqlite3.SQLITE_NOTADB: "it is no database; move it away, or name another folder",
    sqlite3.SQLITE_IOERR: "reading or writing it failed; check the disk and its free space",
}


def locked(where: str) -> ArchiveError:
    """Return what a lock means that was not let go in time."""
    return ArchiveError(f"{where}: {_LOCKED}")


def trouble(where: str, error: sqlite3.Error | OSError) -> ArchiveError:
    """Return what an error means to the user: where, what is wrong, what to do."""
    if isinstance(error, OSError):
        full = error.errno in (errno.ENOSPC, errno.EDQUOT)
        said = "the disk is full; free some space" if full else f"{error.strerror or error}; name another folder"
        return ArchiveError(f"{where}: {said}")
    meaning = _MEANINGS.get(code(error))
    detail = f" ({error})" if meaning else ""
    return ArchiveError(f"{where}: {meaning or f'{error}; check it with `elision archive verify`'}{detail}")
