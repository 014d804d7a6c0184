"""The note that stands for an offloaded result: where it is, how large it is, how it is read, and what it is like."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from elision.offloading.outline import outline
from elision.reducing.bounds import head_end, sendable, tail_start
from elision.reducing.data import binary_note, is_binary, without_base64
from elision.reducing.error_lines import error_lines, error_places

_OUTLINE_CHARS = 700
_ERROR_LINES = 3
_ERROR_CHARS = 400
_PREVIEW_CHARS = 1000
"""Characters of the head, and of the tail: with all else, a note is no longer than a placeholder may be."""


class Offloaded(NamedTuple):
    """What a note says of a result."""

    call: str
    """What was called, in short."""
    text: str
    lines: int
    tokens: str
    path: str
    reader: str
    """The tool that reads files; empty where none is known."""
    recalled: str
    """How the original is recalled; empty where it is not."""


def note(found: Offloaded, *, head_lines: int, tail_lines: int) -> str:
    """Return the note: a line in brackets, then an outline, the first lines, errors between, and the last lines."""
    parts, text, is_json = [_told(found)], found.text, found.path.endswith(".json")
    if is_binary(text):
        return "\n".join([*parts, binary_note(text, "")])
    shown = [*_bounded(outline(text, is_json=is_json), _OUTLINE_CHARS)]
    if shown:
        parts += ["outline:", *shown]
    start = head_end(text, _PREVIEW_CHARS, head_lines)
    stop = max(start, tail_start(text, _PREVIEW_CHARS, tail_lines))
    head, tail = _preview(text[:start]), _preview(text[stop:])
    if head:
        parts += ["head:", head]
    errors = [] if is_json else [*_bounded(_errors(text, start, stop), _ERROR_CHARS)]
    if errors:
        parts += ["lines between that look like errors:", *errors]
    if tail:
        parts += ["tail:", tail]
    return "\n".join(parts)


def _told(found: Offloaded) -> str:
    lines = f", {found.lines} lines" if found.lines > 1 else ""
    size = f"{len(found.text)} chars{lines}, {found.tokens} tokens"
    return f"[{found.call}: {size}, offloaded to {found.path}; {_way_back(found)}]"


def _way_back(found: Offloaded) -> str:
    pages, recalled = f"read it in pages{f' with {found.reader}' if found.reader else ''}", found.recalled
    if not recalled or recalled.startswith("ref "):
        return f"{pages}; {recalled}" if recalled else pages
    return f"{pages}, or {recalled}" if found.reader else recalled


def _preview(text: str) -> str:
    return sendable(without_base64(text, "")).rstrip("\r\n") if text else ""


def _errors(text: str, start: int, stop: int) -> list[str]:
    places = error_places(text, None, head=start, tail=len(text) - stop)
    return [_preview(str(line)) for line in error_lines(text, places, start, stop, most=_ERROR_LINES)]


def _bounded(lines: list[str], room: int) -> Iterator[str]:
    """Yield lines for as long as there is room."""
    for line in lines:
        room -= len(line) + 1
        if room < 0:
            break
        yield line
