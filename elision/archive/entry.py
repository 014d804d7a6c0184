"""What is given to an archive, and what it gives back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from elision.archive.content import Content, Sealed
from elision.archive.record import Record
from elision.redaction import Policy


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One edit that is about to remove content, and everything that its audit record says."""

    content: Content | Sealed
    """The original: a text, or JSON-able parts; or what ``Archive.sealed`` made of it."""
    ref: str = ""
    """The ref that ``placeholder`` names already, that of sealed content if not given; if it is taken by now, nothing
    is stored."""
    placeholder: str = ""
    """Text of ours that will stand in its place; from then on it is known by its hash."""
    chars_before: int | None = None
    """Characters before the edit; counted if not given."""
    chars_after: int | None = None
    """Characters after it; those of ``placeholder`` if not given."""
    session: str = ""
    processor: str = ""
    operation: str = ""
    call_id: str = ""
    tool: str = ""
    arguments: Mapping[str, Any] | str | None = None
    """The call's arguments: only their hash is kept."""
    classes: tuple[str, ...] = ()
    status: str = ""
    view_policy: Policy = "none"
    """What the model may see of it, now and when it is recalled."""
    cache_segment: str = ""
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Ref:
    """The name of one original: ``short`` is what placeholders and people use."""

    short: str
    sha256: str

    def __str__(self) -> str:
        return self.short


@dataclass(frozen=True, slots=True)
class Original:
    """One original, and the newest record about it.

    ``view_policy`` is the strictest that any of its records has.
    """

    ref: Ref
    content: Content
    record: Record
    view_policy: Policy
