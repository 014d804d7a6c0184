"""Edits: what a processor may propose.  The engine decides, applies and reports."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias

from elision.history import Address, Content, Image, Kind, plain

Operation = Literal[
    "truncate", "slim", "offload", "redact", "clear", "supersede", "drop", "summarize", "budget", "convert", "none"
]
"""What an edit does to a result.  ``convert`` changes its form only; ``none`` is for processors that remove nothing."""

SHRINKING: frozenset[str] = frozenset(
    {"truncate", "slim", "offload", "clear", "supersede", "drop", "summarize", "budget"}
)
"""Operations whose edits never leave more text than they found."""

CLEARING: frozenset[str] = frozenset({"clear", "supersede", "drop", "summarize"})
"""Operations that start one step before the newest."""


IMAGE_CHARS = 400
"""What an image counts for beside text: more than any note or placeholder that stands for it."""


def length(content: tuple[Content, ...]) -> int:
    """Return the characters of a content, images included; no edit that shrinks leaves more than it found."""
    return len(plain(content)) + IMAGE_CHARS * sum(isinstance(part, Image) for part in content)


class Template(NamedTuple):
    """A placeholder template, by its name or as it is written, and how much of the text it may show."""

    source: str
    head_chars: int


@dataclass(frozen=True, slots=True)
class Replace:
    """Put other content where one tool result or one text part stands.

    ``elides`` says that the new text is a placeholder: the part is then left alone for good.  ``template`` is what it
    was made from, where the engine may make it anew when the request's tools change.
    """

    address: Address
    content: tuple[Content, ...]
    reason: str = ""
    elides: bool = False
    template: Template | None = None


@dataclass(frozen=True, slots=True)
class Drop:
    """Leave a whole closed step out of the view."""

    step: int
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Remove:
    """Leave out one message by itself.

    The guard refuses it: messages go only with their whole step.  It is what a function that returns a shorter list of
    messages has asked for, and is reported as such.
    """

    position: int
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Insert:
    """Add a message of our own before the message at ``position``."""

    position: int
    role: Literal["user", "system"]
    text: str
    kind: Kind = "note"
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Tag:
    """Add tags to an observation; later processors read them."""

    address: Address
    tags: frozenset[str]
    reason: str = ""


@dataclass(frozen=True, slots=True)
class CacheBreakpoint:
    """Set (or take away) the provider's cache breakpoint at the end of one message."""

    position: int
    on: bool = True
    reason: str = ""


Edit: TypeAlias = Replace | Drop | Remove | Insert | Tag | CacheBreakpoint
