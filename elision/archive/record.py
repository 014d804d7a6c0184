"""Audit records, each linked to the one that its writer wrote before."""

from __future__ import annotations

import hashlib
import json
import secrets
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, fields, replace
from operator import attrgetter
from typing import Any

PRUNE = "prune"
"""The operation of a record that says that bytes were deleted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """One audit record: who did what to which content, and when.

    ``hash`` is the sha256 of all other fields, of which ``previous`` is the hash of the record that the same writer
    wrote before.  A writer's first record has the hash of the newest record that it found.
    """

    writer: str = ""
    sequence: int = 0
    previous: str = ""
    time: str = ""
    session: str = ""
    processor: str = ""
    operation: str = ""
    call_id: str = ""
    tool: str = ""
    arguments_sha256: str = ""
    classes: tuple[str, ...] = ()
    chars_before: int = 0
    chars_after: int = 0
    size: int = 0
    sha256: str = ""
    ref: str = ""
    status: str = ""
    view_policy: str = "none"
    stored_policy: str = "none"
    cache_segment: str = ""
    reason: str = ""
    hash: str = ""

    def as_dict(self) -> dict[str, Any]:
        """Return the record as plain data."""
        return dict(zip(FIELDS, self.values(), strict=True)) | {"classes": list(self.classes)}

    def values(self) -> tuple[Any, ...]:
        """Return the fields, in the order of ``FIELDS``."""
        return tuple([getattr(self, name) for name in FIELDS])


FIELDS = tuple(field.name for field in fields(Record))

EDIT = (
    "sha256",
    "session",
    "call_id",
    "processor",
    "operation",
    "tool",
    "arguments_sha256",
    "classes",
    "chars_before",
    "chars_after",
    "view_policy",
    "stored_policy",
    "reason",
)
"""Two records that agree in these are about the same edit."""

edit: Callable[[Record], tuple[Any, ...]] = attrgetter(*EDIT)
"""Return those fields of a record."""


def edit_name(record: Record) -> bytes:
    """Return the digest that names the edit which a record is about."""
    return hashlib.sha256(repr(edit(record)).encode("utf-8", "surrogatepass")).digest()


@dataclass(frozen=True, slots=True)
class Head:
    """Where a writer's chain ends."""

    writer: str
    sequence: int
    hash: str


def new_writer(newest: str) -> Head:
    """Return the head of a writer that has written nothing; ``newest`` is the hash of the newest record there is."""
    return Head(secrets.token_hex(8), 0, newest)


def linked(record: Record, head: Head) -> tuple[Record, Head]:
    """Link a record to its writer's chain; return it, and the chain's new head."""
    placed = replace(record, writer=head.writer, sequence=head.sequence + 1, previous=head.hash)
    done = replace(placed, hash=record_hash(placed))
    return done, Head(head.writer, done.sequence, done.hash)


def record_hash(record: Record) -> str:
    """Return the hash that a record must have."""
    shown = json.dumps(record.values()[:-1], separators=(",", ":"), default=repr)
    return hashlib.sha256(shown.encode("ascii")).hexdigest()


def fact_hash(key: bytes, fact: str) -> bytes:
    """Return the hash that a fact must have."""
    return hashlib.sha256(key + fact.encode("utf-8", "surrogateescape")).digest()


def storable(text: str) -> str:
    """Return ``text`` with lone surrogates escaped, so that every store and file can hold it."""
    return text if text.isascii() else text.encode("utf-8", "backslashreplace").decode("utf-8")


def chain_faults(records: Iterable[Record], firsts: Iterable[Record]) -> Iterator[str]:
    """Yield what is wrong with the chains of some records.

    ``records`` come in the order in which they were written; ``firsts`` are those with which writers began.
    """
    found_then = {record.previous: record.writer for record in firsts if record.previous}
    heads: dict[str, Head] = {}
    for record in records:
        yield from _faults(record, heads.get(record.writer))
        heads[record.writer] = Head(record.writer, record.sequence, record.hash)
        found_then.pop(record.hash, None)
    for writer in found_then.values():
        yield f"record 1 of writer {writer}: the record that was the newest when it was written is missing"


def _faults(record: Record, head: Head | None) -> Iterator[str]:
    """Yield what is wrong with one record, given where its writer's chain ended before it."""
    place = f"record {record.sequence} of writer {record.writer}"
    if record.hash != record_hash(record):
        yield f"{place}: it was changed after it was written: its hash is not that of its fields"
    if head is None:
        if record.sequence != 1:
            yield f"{place}: the records before it are missing"
    elif record.sequence != head.sequence + 1:
        yield f"{place}: it follows record {head.sequence}: records are missing or out of order"
    elif record.previous != head.hash:
        yield f"{place}: it is not linked to record {head.sequence}"
