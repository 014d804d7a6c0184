"""Runs for tests of chains with an archive on the disk, and ways to spoil the disk."""

from __future__ import annotations

import resource
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import elision
from elision import Archive, Chain, SentView, open_archive
from elision.testing import Conversation, call, conversation, result

CLEAR = "history_processors: [{type: last_n_observations, n: 1}]"
KEY = "AKIA" + "QYLPMN5HFIQR7XYA"  # an example of a key that opens nothing
SECRET = f"region=eu\naws_key = {KEY}\n" + "a line\n" * 30


def with_secret() -> list[Any]:
    return (
        conversation()
        .user("Read.")
        .step(call("read_file", path=".env"), result(SECRET))
        .step(call("read_file", path="b"), result("x"))
        .messages()
    )


def reading(count: int, name: str = "f") -> Conversation:
    """Return a run that reads so many files, each with a content of its own, and then says something."""
    run = conversation().system("You are careful.").user("Read.")
    for number in range(count):
        content = "".join(f"{name}{number}: line {line}\n" for line in range(20))
        run = run.step(call("read_file", path=f"{name}{number}"), result(content))
    return run.step("Read.")


def clearing(archive: Archive, text: str = CLEAR) -> Chain:
    loaded = elision.loads(text, archive="none")
    return Chain(loaded.processors, classification=loaded.table, archive=archive)


def contents(view: SentView) -> list[Any]:
    return [message["content"] for message in view.messages if message["role"] == "tool"]


def told(view: SentView) -> list[str]:
    return [failure.told for failure in view.failures]


def recorded(folder: Path) -> set[tuple[str, str]]:
    """Return the call and the ref of each record, as the database itself has them."""
    if not (folder / "archive.db").exists():
        return set()
    with closing(sqlite3.connect(folder / "archive.db")) as database:
        if not list(database.execute("SELECT 1 FROM sqlite_master WHERE name = 'records'")):
            return set()
        return set(database.execute("SELECT call_id, ref FROM records"))


@contextmanager
def full_disk(folder: Path) -> Iterator[None]:
    """Let this process write no page of a database."""
    before, most = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, most))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (before, most))


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Keep the database locked, as another process can."""
    with open_archive(folder, environ={}) as archive:
        archive.put_all([])
        archive.remember(["first"])
    with closing(sqlite3.connect(folder / "archive.db", isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        yield


@contextmanager
def file_in_its_place(folder: Path) -> Iterator[None]:
    """Put a file where the folder would be."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    folder.write_text("taken")
    try:
        yield
    finally:
        folder.unlink()


FAULTS = {
    "a full disk": (full_disk, "the disk is full|check the disk and its free space"),
    "a locked database": (locked, "another process has kept it locked for too long"),
    "no folder": (file_in_its_place, "name another folder"),
}
