"""Edits: what a processor may propose.  The engine decides, applies and reports."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, TypeAlias

from elision.attachments import attachments, size_of
from elision.message import Address, Image, Kind, Piece, Text, Thinking, ToolCall, plain

Operation = Literal[
    "truncate",
    "slim",
    "offload",
    "redact",
    "clear",
    "clear_inputs",
    "supersede",
    "drop",
    "summarize",
    "budget",
    "convert",
    "none",
]
"""What an edit does to a result.  ``convert`` changes its form only; ``none`` is for processors that remove nothing."""

SHRINKING: frozenset[str] = frozenset(
    {"truncate", "slim", "offload", "clear", "clear_inputs", "supersede", "drop", "summarize", "budget"}
)
"""Operations whose edits never leave more text than they found."""

CLEARING: frozenset[str] = frozenset({"clear", "clear_inputs", "supersede", "drop", "summarize"})
"""Operations that start one step before the newest."""

CLEAR_INPUTS = "clear_inputs"
"""The column of the table for what is taken out of the arguments of a call."""

IMAGE_CHARS = 400
"""What an image or a file counts for beside text: more than any note or placeholder that stands for it."""


def length(content: tuple[Piece, ...]) -> int:
    """Return the characters of a content, images and files included; no edit that shrinks leaves more than it found."""
    if len(content) == 1 and type(content[0]) is Text:
        return len(content[0].text)
    files = sum(size_of(file, IMAGE_CHARS) for file in attachments(content))
    return chars_of(content) + files + IMAGE_CHARS * sum(isinstance(part, Image) for part in content)


def chars_of(content: tuple[Piece, ...]) -> int:
    """Return the characters of a content: of its text, of thinking, and of a call's arguments as JSON."""
    match content:
        case (Thinking(text=text),):
            return len(text)
        case (ToolCall(arguments=arguments),):
            return len(arguments_text(arguments))
        case _:
            return len(plain(content))


def arguments_text(arguments: Mapping[str, Any] | str) -> str:
    """Return the arguments of a call as JSON, or as the text that they are."""
    return arguments if isinstance(arguments, str) else json.dumps(dict(arguments), ensure_ascii=False, default=str)


Ttl = Literal["5m", "1h"]
"""How long a provider keeps what a cache breakpoint ends: Anthropic's five minutes, or its hour."""


class Template(NamedTuple):
    """A placeholder template, by its name or as it is written, and how much of the text it may show."""

    source: str
    head_chars: int


class Pointer(NamedTuple):
    """What the note of an offloaded result is made from; the engine writes the file, and no edit names it."""

    folder: str
    head_lines: int
    tail_lines: int


@dataclass(frozen=True, slots=True)
class Replace:
    """Put other content where one tool result or one text part stands.

    Where a call stands, the content is the call with other arguments; where thinking stands, it is nothing, and the
    thinking goes.  ``elides`` says that the new text is a placeholder: the part is then left alone for good.
    ``template`` is what it was made from, where the engine may make it anew when the request's tools change; with a
    :class:`Pointer`, what stood there goes to a file first.
    """

    address: Address
    content: tuple[Piece, ...]
    reason: str = ""
    elides: bool = False
    template: Template | Pointer | None = None


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
    """Add a message of our own before the message at ``position``.

    One with a ``key`` can be taken away again, by a later one that ``replaces`` it.
    """

    position: int
    role: Literal["user", "system"]
    text: str
    kind: Kind = "note"
    reason: str = ""
    key: str = ""
    replaces: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Tag:
    """Add tags to an observation; later processors read them."""

    address: Address
    tags: frozenset[str]
    reason: str = ""


@dataclass(frozen=True, slots=True)
class CacheBreakpoint:
    """Set (or take away) the provider's cache breakpoint at the end of one message.

    ``ttl`` is how long what it ends is kept; without one, the host's own breakpoint in that message says it.
    """

    position: int
    on: bool = True
    reason: str = ""
    ttl: Ttl | None = None


Edit: TypeAlias = Replace | Drop | Remove | Insert | Tag | CacheBreakpoint
