"""Where a text may be cut: between lines, else between graphemes."""

from __future__ import annotations

import re

from elision.graphemes import bound_at

_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


def head_end(text: str, chars: int, lines: int | None = None) -> int:
    """Return where a head of at most so many characters, and lines, ends."""
    at = min(chars, len(text))
    if lines is not None:
        at = min(at, _after_lines(text, lines, at))
    line_end = text.rfind("\n", 0, at) + 1
    if line_end == at or line_end > at // 2:
        return line_end
    return bound_at(text, at)


def tail_start(text: str, chars: int, lines: int | None = None) -> int:
    """Return where a tail of at most so many characters, and lines, begins."""
    at = max(len(text) - chars, 0)
    if lines is not None:
        at = max(at, _before_lines(text, lines, at))
    if at == 0 or text[at - 1] == "\n":
        return at
    line_start = text.find("\n", at) + 1
    if 0 < line_start < len(text) and line_start - at < (len(text) - at) // 2:
        return line_start
    return bound_at(text, at, forward=True)


def sendable(text: str) -> str:
    """Return a text without lone surrogates, for which no wire has bytes."""
    return text if text.isascii() else _LONE_SURROGATE.sub("\ufffd", text)


def _after_lines(text: str, lines: int, stop: int) -> int:
    at = 0
    for _ in range(lines):
        at = text.find("\n", at, stop) + 1
        if not at:
            return stop
    return at


def _before_lines(text: str, lines: int, start: int) -> int:
    if not lines:
        return len(text)
    at = len(text) - text.endswith("\n")
    for _ in range(lines):
        at = text.rfind("\n", start, at)
        if at < 0:
            return start
    return at + 1
