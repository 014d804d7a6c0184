"""Where a text may be cut: between graphemes, which are what a reader sees as characters."""

from __future__ import annotations

import regex


def splits_grapheme(before: str, after: str) -> bool:
    """Whether ``after`` keeps a head or a tail of ``before`` that ends inside a grapheme."""
    if before.isascii():
        return False
    head = _common(before, after)
    tail = _common(before[::-1], after[::-1])
    return _inside(before, head) or _inside(before, len(before) - tail)


def _common(left: str, right: str) -> int:
    low, high = 0, min(len(left), len(right))
    while low < high:
        middle = (low + high + 1) // 2
        if left[:middle] == right[:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _inside(text: str, at: int) -> bool:
    """Whether ``at`` falls inside a grapheme; a window of 64 characters is more than any emoji sequence needs."""
    if not 0 < at < len(text):
        return False
    start = max(0, at - 32)
    position = start
    for match in regex.finditer(r"\X", text, pos=start, endpos=min(len(text), at + 32)):
        position = match.end()
        if position >= at:
            break
    return position != at


_FARTHEST = 1000
"""Characters that are gone through for a place between graphemes: no character that can be read is longer."""


def bound_at(text: str, at: int, *, forward: bool = False) -> int:
    """Return the nearest place before ``at``, or behind it, between graphemes; an end of the text if there is none."""
    end = len(text) if forward else 0
    step = 1 if forward else -1
    for place in range(at, end, step):
        if abs(place - at) > _FARTHEST:
            break
        if not _inside(text, place):
            return place
    return end
