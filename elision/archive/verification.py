"""Whether an archive still is what was put into it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

from elision.archive.content import unseal
from elision.archive.record import chain_faults, fact_hash
from elision.archive.store import Store
from elision.errors import ArchiveError


@dataclass(frozen=True, slots=True)
class Verification:
    """What was looked at, and everything that is wrong."""

    where: str
    originals: int
    records: int
    problems: tuple[str, ...]
    facts: int = 0

    @property
    def clean(self) -> bool:
        """Whether nothing is wrong."""
        return not self.problems

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain data."""
        return asdict(self) | {"problems": list(self.problems), "clean": self.clean}


def verify(store: Store) -> Verification:
    """Check every hash chain, the hash of every original, and the store itself; a fault never ends the check."""
    seen = _Seen()
    problems = [
        *_whole(store.faults()),
        *_whole(seen.chains(store)),
        *_whole(seen.originals_of(store)),
        *_whole(seen.facts_of(store)),
    ]
    return Verification(store.where, seen.originals, seen.records, tuple(problems), seen.facts)


class _Seen:
    def __init__(self) -> None:
        self.originals = 0
        self.records = 0
        self.facts = 0

    def chains(self, store: Store) -> Iterator[str]:
        return chain_faults(self._counted(store), store.records(sequence=1))

    def _counted(self, store: Store) -> Iterator[Any]:
        for record in store.records():
            self.records += 1
            yield record

    def originals_of(self, store: Store) -> Iterator[str]:
        for blob in store.blobs():
            self.originals += 1
            try:
                unseal(blob)
            except (ArchiveError, ValueError) as error:
                yield str(error)

    def facts_of(self, store: Store) -> Iterator[str]:
        for key, fact, _, sha256 in store.ledger():
            self.facts += 1
            if fact_hash(key, fact) != sha256:
                yield f"fact {key.hex()[:12]}: it was changed after it was recorded: its hash is not that of its text"


def _whole(faults: Iterator[str]) -> Iterator[str]:
    """Yield faults; where the store cannot even be read to the end, that is the last one."""
    try:
        yield from faults
    except ArchiveError as error:
        yield str(error)
