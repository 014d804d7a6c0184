"""What an archive keeps its originals and records in: the contract that every store fulfils."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple, Protocol

from elision.archive.content import Blob
from elision.archive.record import Record


@dataclass(frozen=True, slots=True)
class Stats:
    """What an archive holds.  ``bytes`` are those of the originals, ``stored_bytes`` those after compression."""

    where: str
    originals: int = 0
    bytes: int = 0
    stored_bytes: int = 0
    records: int = 0
    writers: int = 0
    sessions: int = 0
    pruned: int = 0
    facts: int = 0
    oldest: str = ""
    newest: str = ""
    by_operation: tuple[tuple[str, int, int], ...] = ()
    """Operation, records, characters that they removed; the most first."""

    def as_dict(self) -> dict[str, Any]:
        """Return the figures as plain data."""
        rows = [dict(zip(("operation", "records", "chars"), row, strict=True)) for row in self.by_operation]
        return asdict(self) | {"by_operation": rows}


class Expired(NamedTuple):
    """An original that may be pruned, and its place among all originals."""

    place: int
    sha256: str
    ref: str
    size: int


class Writing(Protocol):
    """One transaction: all of it becomes durable, or none of it."""

    def add(self, sha256: str, blob: Callable[[], Blob]) -> str:
        """Keep the blob of this hash, made only if its bytes are not there yet; return its ref, fixed for good."""

    def note(self, record: Record) -> Record:
        """Link a record to this writer's chain and append it."""

    def remember(self, name: bytes) -> None:
        """Remember the hash of a text of ours."""

    def record(self, key: bytes, fact: str, time: str) -> str:
        """Record what held at a prefix of a history, if nothing is recorded there yet; return what is recorded."""

    def expired(self, before: str, keep_sessions: Collection[str], after: int, most: int) -> list[Expired]:
        """Return originals after the place ``after`` that no record since ``before`` and no kept session mentions."""

    def bury(self, sha256: str, record: Record) -> None:
        """Delete a blob's bytes; ``record`` is the one, of this transaction, that says so."""


class Store(Protocol):
    """Where an archive keeps its bytes and records.  Whatever fails raises :class:`elision.ArchiveError`.

    A blob says itself how it is encoded, so that a store never needs to know about compression or encryption.
    """

    where: str
    """Its name in messages."""

    refusal: str
    """Why nothing can be put into it; empty for a store that keeps what it is given."""

    def transaction(self) -> AbstractContextManager[Writing]:
        """Begin a transaction, which is durable when its block has ended."""

    def free_ref(self, sha256: str) -> str:
        """Return the ref that content of this hash has, or would be given now."""

    def resolve(self, name: str) -> list[str]:
        """Return the hashes that a ref, or the beginning of a hash, stands for; those of pruned ones included."""

    def near(self, name: str) -> list[str]:
        """Return refs that look like ``name``."""

    def ref(self, sha256: str) -> str:
        """Return the ref of content that is, or was, stored."""

    def blob(self, sha256: str) -> Blob | None:
        """Return a blob; ``None`` if it is not there, or was pruned."""

    def blobs(self) -> Iterator[Blob]:
        """Yield every blob, in the order in which they came."""

    def records(
        self, *, session: str | None = None, sha256: str | None = None, sequence: int | None = None
    ) -> Iterator[Record]:
        """Yield records, in the order in which they were written."""

    def recorded(self, record: Record) -> str:
        """Return the ref of an original whose bytes are there, with a record that agrees with ``record`` in ``EDIT``.

        It is empty where either is missing.  Asked inside a transaction, what that has written counts.
        """

    def era(self) -> object:
        """Return what is equal as long as nothing that was seen here has been deleted, by whatever process."""

    def newest_record(self, sha256: str) -> Record | None:
        """Return the newest record about an original."""

    def view_policies(self, sha256: str) -> set[str]:
        """Return the view policies of all records about an original."""

    def knows_text(self, name: bytes) -> bool:
        """Whether the hash of a text of ours is remembered."""

    def facts(self, keys: Sequence[bytes]) -> dict[bytes, str]:
        """Return the facts that are recorded under some keys."""

    def ledger(self) -> Iterator[tuple[bytes, str, str, bytes]]:
        """Yield every fact, by its key: key, fact, time, and the sha256 that it was recorded with."""

    def faults(self) -> Iterator[str]:
        """Yield what is wrong with the store itself: broken pages, blobs without record, records without blob."""

    def stats(self) -> Stats:
        """Count what is there."""

    def compact(self) -> None:
        """Give the space of deleted bytes back."""

    def close(self) -> None:
        """Let go of files; the next call opens them again."""
