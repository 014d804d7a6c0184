"""Parts and entries that the builders are made of: what is said, called and answered, in no dialect yet."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

Shape = Literal["openai", "anthropic", "responses", "gemini", "sweagent", "sweagent_text", "miniswe", "miniswe_text"]
"""A dialect, and for SWE-agent and mini-swe-agent also whether commands are written as text."""

SHAPES: tuple[Shape, ...] = (
    "openai",
    "anthropic",
    "responses",
    "gemini",
    "sweagent",
    "sweagent_text",
    "miniswe",
    "miniswe_text",
)

DIALECT_OF: Mapping[Shape, str] = {shape: shape.removesuffix("_text") for shape in SHAPES}
"""The name of the dialect that each shape belongs to."""


@dataclass(frozen=True, slots=True)
class TextPart:
    """A text that stands as a part in a list; ``cached`` sets a cache breakpoint on it."""

    text: str
    cached: bool = False
    extra: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ImagePart:
    """An image, given as a URL (``data:`` URLs included)."""

    url: str


@dataclass(frozen=True, slots=True)
class ThinkingPart:
    """Reasoning of the model; with ``redacted`` the text is the provider's encrypted data.

    In ``gemini`` the signature stands on the first call, or on the last part where there is none.
    """

    text: str
    signature: str = ""
    redacted: bool = False


@dataclass(frozen=True, slots=True)
class CallPart:
    """A tool call; without an id it gets the next free one, arguments that are a string are written as they are."""

    name: str
    arguments: Mapping[str, Any] | str
    id: str | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)


ContentPart: TypeAlias = TextPart | ImagePart
Body: TypeAlias = str | tuple[ContentPart, ...] | None
"""Content: a bare string, a list of parts, or null."""


@dataclass(frozen=True, slots=True)
class ResultPart:
    """A tool result; without an id it has that of its call.

    ``error`` is written where the shape has a place for it, ``tags`` in SWE-agent items only.  ``tool`` is the name of
    the call, which some shapes write; it is found while writing.
    """

    content: Body
    id: str | None = None
    error: bool = False
    tags: tuple[str, ...] = ()
    cached: bool = False
    extra: Mapping[str, Any] = field(default_factory=dict)
    tool: str = ""


@dataclass(frozen=True, slots=True)
class Said:
    """A message of the system or the user; ``task`` where it is the first of the user's, before any step."""

    role: Literal["system", "user"]
    content: Body
    task: bool = False
    demo: bool = False
    extra: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Acted:
    """A step: what the model said and called, and the results, parallel to the calls; ``None`` where one lacks."""

    content: Body
    thinking: tuple[ThinkingPart, ...] = ()
    calls: tuple[CallPart, ...] = ()
    results: tuple[ResultPart | None, ...] = ()
    then: str | None = None
    demo: bool = False
    extra: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Stray:
    """Results that stand by themselves."""

    results: tuple[ResultPart, ...]


@dataclass(frozen=True, slots=True)
class Given:
    """A message of the host's, as it is."""

    raw: Any


Entry: TypeAlias = Said | Acted | Stray | Given


def present(results: Iterable[ResultPart | None]) -> list[ResultPart]:
    """Return the results that there are."""
    return [result for result in results if result is not None]


def words(body: Body) -> str:
    """Return the text of content."""
    return "\n".join(part.text for part in texts(body))


def texts(body: Body) -> list[TextPart]:
    """Return the texts of content; a bare string is one, nothing is none."""
    if isinstance(body, str):
        return [TextPart(body)]
    return [part for part in body or () if isinstance(part, TextPart)]


def arguments(call: CallPart) -> str:
    """Return the arguments of a call as JSON, or as they are where they are text."""
    return call.arguments if isinstance(call.arguments, str) else json.dumps(dict(call.arguments), ensure_ascii=False)
