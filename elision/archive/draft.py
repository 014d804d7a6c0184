"""What an entry becomes before it is written: its sealed content, and the record of it."""

from __future__ import annotations

from typing import NamedTuple

from elision.archive.content import Sealed, arguments_name, text_name
from elision.archive.entry import Entry
from elision.archive.record import Record, edit_name, storable


class Draft(NamedTuple):
    """One entry that may have to be written."""

    sealed: Sealed
    record: Record
    """Its record, but for the time and the ref."""
    promised: str
    """The ref that its placeholder names; empty if none was asked for."""
    edit: bytes
    """The digest that names the edit."""
    text: bytes
    """The hash of its placeholder; empty without one."""


def draft(entry: Entry, sealed: Sealed) -> Draft:
    """Return what has to be written for ``entry``, whose content is ``sealed``."""
    record = _record(entry, sealed)
    text = text_name(entry.placeholder) if entry.placeholder else b""
    return Draft(sealed, record, entry.ref or sealed.ref, edit_name(record), text)


def _record(entry: Entry, sealed: Sealed) -> Record:
    before = entry.chars_before
    after = entry.chars_after
    return Record(
        session=storable(entry.session),
        processor=storable(entry.processor),
        operation=storable(entry.operation),
        call_id=storable(entry.call_id),
        tool=storable(entry.tool),
        arguments_sha256=arguments_name(entry.arguments),
        classes=tuple(storable(each) for each in entry.classes),
        chars_before=before if before is not None else sealed.chars,
        chars_after=after if after is not None else len(entry.placeholder),
        size=len(sealed.data),
        sha256=sealed.sha256,
        status=storable(entry.status),
        view_policy=entry.view_policy,
        stored_policy=sealed.stored,
        cache_segment=storable(entry.cache_segment),
        reason=storable(entry.reason),
    )
