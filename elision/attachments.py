"""Files that a result holds beside its text, in the shapes in which the wires have them: documents, sound, film."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from elision.message import Opaque, Piece

TYPES = frozenset(
    {"document", "search_result", "file", "input_file", "image", "input_image", "input_audio", "audio", "video_url"}
    | {"video", "resource", "inlineData", "inline_data", "fileData", "file_data"}
)
"""What they are called in Anthropic's, OpenAI's and Gemini's messages, and in those of MCP servers."""


_MOST_PIECES = 10_000


def attachments(content: Iterable[Piece]) -> Iterator[Opaque]:
    """Yield the files in a content; images that are read as such are none."""
    return (piece for piece in content if isinstance(piece, Opaque) and piece.type in TYPES)


def size_of(file: Opaque, most: int) -> int:
    """Return what a file counts for beside text: one of text its characters, up to ``most``; any other ``most``."""
    source = _get(file.raw, "source")
    is_text = file.type in {"search_result", "resource"} or _get(source, "type") in {"text", "content"}
    return _chars(file.raw, most) if is_text else most


def _get(holder: Any, key: str) -> Any:
    return holder.get(key) if isinstance(holder, Mapping) else getattr(holder, key, None)


def _chars(value: Any, most: int) -> int:
    """Return the characters of the texts in plain data, or ``most`` if there are more."""
    waiting, found = [value], 0
    for _ in range(_MOST_PIECES):
        if not waiting or found >= most:
            break
        each = waiting.pop()
        if isinstance(each, str | bytes | bytearray):
            found += len(each)
        elif isinstance(each, Mapping):
            waiting += each.values()
        elif isinstance(each, Sequence):
            waiting += each
        elif callable(dump := getattr(each, "model_dump", None)) and not isinstance(each, type):
            waiting.append(dump())
    return min(found, most)
