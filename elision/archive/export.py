"""Plain files instead of a database: every original under its ref, and the records as JSON Lines."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from elision.archive.content import Blob, unpacked
from elision.archive.store import Store
from elision.errors import ArchiveError

_HEX = re.compile(r"[0-9a-f]{10,64}")


@dataclass(frozen=True, slots=True)
class Exported:
    """Where it was written to, and how much."""

    folder: str
    originals: int
    records: int
    facts: int = 0


def export(store: Store, folder: Path) -> Exported:
    """Write all of a store to ``folder``, which must be new or empty; nothing is overwritten."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if any(folder.iterdir()):
            raise ArchiveError(f"{folder}: it is not empty; name a new folder")
        (folder / "originals").mkdir(mode=0o700)
        return Exported(
            str(folder),
            _originals(store, folder / "originals"),
            _records(store, folder / "records.jsonl"),
            _facts(store, folder / "ledger.jsonl"),
        )
    except OSError as error:
        raise ArchiveError(f"{folder}: {error.strerror or error}; name a folder that can be written") from error


def _originals(store: Store, folder: Path) -> int:
    count = 0
    for blob in store.blobs():
        with _new(folder / _name(store, blob)) as file:
            file.write(unpacked(blob))
        count += 1
    return count


def _name(store: Store, blob: Blob) -> str:
    """Return the name of a blob's file: made of its hash alone, whatever the database says."""
    ref = store.ref(blob.sha256)
    safe = ref if _HEX.fullmatch(ref) and blob.sha256.startswith(ref) else blob.sha256
    return f"{safe}.json" if blob.kind == "parts" else f"{safe}.txt"


def _records(store: Store, path: Path) -> int:
    count = 0
    with _new(path) as file:
        for record in store.records():
            file.write(json.dumps(record.as_dict(), default=repr).encode("ascii") + b"\n")
            count += 1
    return count


def _facts(store: Store, path: Path) -> int:
    count = 0
    with _new(path) as file:
        for key, fact, time, _ in store.ledger():
            file.write(json.dumps({"key": key.hex(), "time": time, "fact": fact}).encode("ascii") + b"\n")
            count += 1
    return count


@contextmanager
def _new(path: Path) -> Iterator[IO[bytes]]:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        yield file
