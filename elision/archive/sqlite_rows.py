"""Records and blobs as rows of SQLite, and back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from elision.archive.content import Blob
from elision.archive.record import EDIT, FIELDS, Record, edit
from elision.archive.schema import DIGESTS

COLUMNS = ", ".join(FIELDS)
INSERT = f"INSERT INTO records ({COLUMNS}) VALUES ({', '.join('?' * len(FIELDS))})"  # noqa: S608 (our own names)


SAME_EDIT = " AND ".join(f"{name} = ?" for name in EDIT).replace("operation", "+operation")
"""The condition that a record is about the edit of ``edit_of``.

Without the ``+``, SQLite plans each time anew: a value could be the one that a partial index is for.
"""


def row_of(record: Record) -> list[Any]:
    """Return the values of a record's columns."""
    values: list[Any] = list(record.values())
    for index in _DIGEST_AT:
        values[index] = bytes.fromhex(values[index])
    values[_CLASSES_AT] = " ".join(record.classes)
    return values


def edit_of(record: Record) -> list[Any]:
    """Return the values that ``SAME_EDIT`` compares."""
    values = list(edit(record))
    for index in _EDIT_DIGEST_AT:
        values[index] = bytes.fromhex(values[index])
    values[_EDIT_CLASSES_AT] = " ".join(record.classes)
    return values


def record_of(row: Sequence[Any]) -> Record:
    """Return the record of a row, whatever someone may have written into it."""
    values = list(row)
    for index in _DIGEST_AT:
        values[index] = _hex(values[index])
    values[_CLASSES_AT] = tuple(str(values[_CLASSES_AT]).split())
    return Record(**dict(zip(FIELDS, values, strict=True)))


def blob_of(row: Sequence[Any]) -> Blob:
    """Return the blob of a row."""
    sha256, kind, encoding, size, data = row
    return Blob(_hex(sha256), kind, encoding, size, data)


def _hex(value: Any) -> str:
    return value.hex() if isinstance(value, bytes) else str(value)


_DIGEST_AT = [index for index, name in enumerate(FIELDS) if name in DIGESTS]
_CLASSES_AT = FIELDS.index("classes")
_EDIT_DIGEST_AT = [index for index, name in enumerate(EDIT) if name in DIGESTS]
_EDIT_CLASSES_AT = EDIT.index("classes")
