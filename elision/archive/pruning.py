"""Deleting bytes: the only place that does, and each deletion leaves its record."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from elision.archive.record import PRUNE, Record
from elision.archive.store import Store

_AT_ONCE = 500


@dataclass(frozen=True, slots=True)
class Pruned:
    """How many originals were deleted, and their bytes before compression."""

    originals: int
    bytes: int


def prune(store: Store, before: str, keep_sessions: Collection[str], *, now: str, reason: str) -> Pruned:
    """Delete the bytes of originals that no record since ``before`` and no kept session mentions."""
    count = total = after = 0
    while True:
        with store.transaction() as writing:
            found = writing.expired(before, keep_sessions, after, _AT_ONCE)
            for place, sha256, ref, size in found:
                record = Record(time=now, operation=PRUNE, sha256=sha256, ref=ref, size=size, reason=reason)
                writing.bury(sha256, writing.note(record))
                after, count, total = place, count + 1, total + size
        if len(found) < _AT_ONCE:
            break
    if count:
        store.compact()
    return Pruned(count, total)
