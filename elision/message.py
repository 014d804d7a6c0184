"""One message of a history: frozen values, whatever the wire; the host's own objects are kept in ``raw``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, TypeAlias

Role = Literal["system", "user", "assistant", "tool"]
Kind = Literal["system", "task", "user", "action", "observation", "summary", "note", "demo"]


@dataclass(frozen=True, slots=True)
class Text:
    """A piece of text; ``raw`` is the host's own part, or ``None`` for text that we made or that is a bare string."""

    text: str
    raw: Any = None


@dataclass(frozen=True, slots=True)
class Image:
    """An image given as a URL (``data:`` URLs included)."""

    url: str
    raw: Any = None


@dataclass(frozen=True, slots=True)
class Thinking:
    """Reasoning of the model; ``fixed`` where the wire refuses a history without it."""

    text: str
    raw: Any = None
    fixed: bool = False


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One call of a tool; ``arguments`` are a mapping, or the text that could not be read as one.

    ``text`` is how the wire has them, where that is text.  A call is ``fixed`` where the provider has signed it: its
    arguments stay as they are.
    """

    id: str
    name: str
    arguments: Mapping[str, Any] | str
    raw: Any = None
    fixed: bool = False
    text: str = field(default="", compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Opaque:
    """A part that we do not know: carried as it is."""

    type: str
    raw: Any = None


Content: TypeAlias = Text | Image | Opaque
Piece: TypeAlias = Content | Thinking | ToolCall
"""What can stand at an address: the content of a text or of a result, thinking, or a call."""


@dataclass(frozen=True, slots=True)
class ToolResult:
    """The result of one call; ``status`` is what the host says of it, never what its text says.

    ``tool`` is the name of the tool where the wire writes it into results: it answers no call of another.
    """

    call_id: str
    content: tuple[Content, ...]
    status: Literal["ok", "error"] | None = None
    raw: Any = None
    tool: str = ""


Part: TypeAlias = Text | Image | Thinking | ToolCall | ToolResult | Opaque


@dataclass(frozen=True, slots=True)
class Message:
    """One entry of the history.

    ``raw`` is the host's own object and is never changed.  ``marks`` counts the cache breakpoints that the host has
    set in it, ``tags`` are the host's own.
    """

    role: Role
    kind: Kind
    parts: tuple[Part, ...]
    raw: Any
    marks: int = 0
    tags: frozenset[str] = frozenset()


class Address(NamedTuple):
    """Where a part stands: position of its message in the history, index of the part in the message."""

    position: int
    part: int


def is_blank_block(piece: Content) -> bool:
    """Whether this is a blank text that stands as a part of its own; a result that is a blank string is none."""
    return isinstance(piece, Text) and piece.raw is not None and not piece.text.strip()


def texts_of(parts: Iterable[Part]) -> Iterable[str]:
    """Yield every text in ``parts`` that can be edited, those inside tool results included."""
    for part in parts:
        if isinstance(part, Text):
            yield part.text
        elif isinstance(part, ToolResult):
            yield from (item.text for item in part.content if isinstance(item, Text))


def has_surrogates(text: str) -> bool:
    """Whether ``text`` holds a lone surrogate, which no wire accepts."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return True
    return False


def only_content(pieces: Iterable[Piece]) -> tuple[Content, ...]:
    """Return those of ``pieces`` that a text or a result is made of."""
    match pieces:
        case (Text() as text,):
            return (text,)
    return tuple([piece for piece in pieces if isinstance(piece, Text | Image | Opaque)])


def plain(content: Iterable[Piece]) -> str:
    """Return the text of ``content``; images and unknown parts have none."""
    if type(content) is tuple and len(content) == 1 and type(content[0]) is Text:
        return content[0].text
    return "\n".join(part.text for part in content if isinstance(part, Text))
