"""Lines that look like errors, in what is left out of a text."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple, TypeAlias

from elision.expressions import compile_regex
from elision.graphemes import bound_at
from elision.reducing.bounds import sendable

ERROR_PATTERN = r"(?i)(?:error|exception|fatal|panic|traceback|fail(?:ed|ure)?)\b"
"""What makes a line look like an error."""

_WINDOW = 1_000_000
"""Characters that are searched at each end of what is left out: the time does not grow without end."""

_SECONDS = 2.0
_PATIENCE_SECONDS = 30.0
"""Time that a pattern gets which was once in time on the same text."""

_SLOW_SECONDS = 0.5
"""Time from which on another machine might not be in time."""

_BEFORE = 100
_SHOWN = 300


Agreed: TypeAlias = Callable[[str], str]
"""Takes what was found now about something that is a matter of time, and returns what was found first."""


class ErrorLine(NamedTuple):
    """A line that looks like an error, cut to what can be shown; lines are counted from 1."""

    number: int
    text: str

    def __str__(self) -> str:
        return f"{self.number}: {self.text}"


def error_places(text: str, pattern: str | None, *, head: int, tail: int, agreed: Agreed = str) -> list[int]:
    """Return where in a text, beside its head and tail, something looks like an error: one place a line, in order.

    Nothing where a pattern of the user's needs too much time; ``agreed`` says whether it did when that was first seen.
    """
    near, far = head + _WINDOW, len(text) - tail - _WINDOW
    windows = [(0, len(text))] if far <= near else [(0, near), (far, len(text))]
    if pattern is None:
        # It looks at each character once, so it needs no limit.
        return _found(text, windows, ERROR_PATTERN, None) or []
    start = time.monotonic()
    found = _found(text, windows, pattern, _SECONDS)
    if found is not None and time.monotonic() - start < _SLOW_SECONDS:
        return found
    if agreed("out of time" if found is None else "in time") == "out of time":
        return []
    return (_found(text, windows, pattern, _PATIENCE_SECONDS) if found is None else found) or []


def _found(text: str, windows: Sequence[tuple[int, int]], pattern: str, seconds: float | None) -> list[int] | None:
    """Return the places in some parts of a text; ``None`` where there is no time for that."""
    deadline = None if seconds is None else time.monotonic() + seconds
    try:
        return [place for window in windows for place in _places(text, *window, compile_regex(pattern), deadline)]
    except TimeoutError:
        return None


def _places(text: str, start: int, stop: int, pattern: Any, deadline: float | None) -> Iterator[int]:
    at = start
    while at < stop:
        # A timeout below zero would mean none.
        left = None if deadline is None else max(deadline - time.monotonic(), 0)
        match = pattern.search(text, at, stop, timeout=left)
        if match is None:
            return
        yield match.start()
        next_line = text.find("\n", match.end(), stop) + 1
        at = next_line or stop


def error_lines(text: str, places: Sequence[int], start: int, stop: int, *, most: int) -> list[ErrorLine]:
    """Return the lines of ``text[start:stop]`` that places are in: the first ones and the last ones."""
    found = [place for place in places if start <= place < stop]
    if len(found) > most:
        last = most // 2
        found = [*found[: most - last], *found[len(found) - last :]]
    lines, number, counted = [], 1, 0
    for place in found:
        number += text.count("\n", counted, place)
        counted = place
        first = max(text.rfind("\n", start, place) + 1, start)
        end = text.find("\n", place, stop)
        lines.append(ErrorLine(number, _shown(text, first, place, stop if end < 0 else end)))
    return lines


def _shown(text: str, first: int, place: int, last: int) -> str:
    begin = first if place - first <= _BEFORE else bound_at(text, place - _BEFORE)
    end = last if last - begin <= _SHOWN else bound_at(text, begin + _SHOWN)
    shown = sendable(text[begin:end].rstrip("\r"))
    return f"{'…' if begin > first else ''}{shown}{'…' if end < last else ''}"
