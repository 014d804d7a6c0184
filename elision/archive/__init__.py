"""The archive of removed originals, with its audit records."""

from __future__ import annotations

from elision.archive.archive import Archive
from elision.archive.content import Blob, Content, Sealed
from elision.archive.entry import Entry, Original, Ref
from elision.archive.export import Exported
from elision.archive.opening import open_archive
from elision.archive.pruning import Pruned
from elision.archive.record import Record
from elision.archive.store import Stats, Store, Writing
from elision.archive.verification import Verification

__all__ = [
    "Archive",
    "Blob",
    "Content",
    "Entry",
    "Exported",
    "Original",
    "Pruned",
    "Record",
    "Ref",
    "Sealed",
    "Stats",
    "Store",
    "Verification",
    "Writing",
    "open_archive",
]
