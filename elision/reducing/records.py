"""The records in a text: the elements of a list in JSON, or lines of JSON."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from elision.reducing.json_text import DECODER, NotPlainError, is_json_line, parse

_BEGINS = re.compile(r"^[\[{]", re.MULTILINE)
_DEEPEST = 4
_FEWEST_LINES = 2
_SPACE = " \t\r\n"


@dataclass(frozen=True, slots=True)
class Records:
    """The records of a document; ``at`` are the names that lead to their list, none in a list and in lines.

    ``text`` is the place of their text among those of a result, ``start`` and ``stop`` where the document is in it.
    """

    document: Any
    at: tuple[str, ...]
    records: list[Any]
    are_lines: bool = False
    text: int = 0
    start: int = 0
    stop: int = 0

    @property
    def beside(self) -> Any:
        """What stands beside the list; nothing where that is the whole."""
        return _without(self.document, self.at) if self.at else None


def find_records(texts: Sequence[str]) -> Records | None:
    """Return the records in the longest text of a result that has any: its longest list, or its lines.

    ``None`` where there are none, or where JSON could not be written again as it was.
    """
    for index in sorted(range(len(texts)), key=lambda index: (-len(texts[index]), index)):
        found = _records_of(texts[index])
        if found is not None:
            return replace(found, text=index)
    return None


def record_texts(texts: Sequence[str]) -> list[str] | None:
    """Return each record of a result exactly as it stands in its text; ``None`` where there are none."""
    found = find_records(texts)
    if found is None:
        return None
    text = texts[found.text][found.start : found.stop]
    if found.are_lines:
        return [line.strip(_SPACE) for line in text.split("\n") if line.strip(_SPACE)]
    at = _skip(text, 0)
    for name in found.at:
        at = _value_of(text, at, name)
    return _elements(text, at)


def _records_of(text: str) -> Records | None:
    """Return the records of a text that is JSON, or has nothing but a few lines around it, as shells show output."""
    found = _read(text)
    if found is not None:
        return replace(found, stop=len(text))
    begin = _BEGINS.search(text)
    end = max(text.rfind("]"), text.rfind("}")) + 1
    if begin is None or end - begin.start() < len(text) // 2 or (begin.start(), end) == (0, len(text)):
        return None
    found = _read(text[begin.start() : end])
    return None if found is None else replace(found, start=begin.start(), stop=end)


def _read(text: str) -> Records | None:
    try:
        document = parse(text)
    except NotPlainError:
        return _lines(text)
    at = () if isinstance(document, list) else _longest(document)
    if at is None:
        return None
    found = document
    for name in at:
        found = found[name]
    return Records(document, at, found) if found else None


def _lines(text: str) -> Records | None:
    lines = [line for line in text.split("\n") if line.strip()] if text.lstrip()[:1] in ("{", "[") else []
    if len(lines) < _FEWEST_LINES or not is_json_line(lines[0]):
        return None
    try:
        return Records(None, (), [parse(line) for line in lines], are_lines=True)
    except NotPlainError:
        return None


def _longest(document: Any) -> tuple[str, ...] | None:
    """Return the way to the longest list; of equal ones to the first, the shallowest first."""
    best: tuple[str, ...] | None = None
    most = 0
    level: list[tuple[tuple[str, ...], Any]] = [((), document)]
    for _ in range(_DEEPEST):
        below: list[tuple[tuple[str, ...], Any]] = []
        for at, found in level:
            for name, value in found.items() if isinstance(found, dict) else ():
                if isinstance(value, list) and len(value) > most:
                    best, most = (*at, name), len(value)
                below.append(((*at, name), value))
        level = below
    return best


def _without(document: Any, at: tuple[str, ...]) -> Any:
    name, *rest = at
    left = {key: value for key, value in document.items() if key != name}
    inner = _without(document[name], tuple(rest)) if rest else None
    return {**left, name: inner} if inner else left


def _skip(text: str, at: int) -> int:
    while text[at] in _SPACE:
        at += 1
    return at


def _value_of(text: str, at: int, name: str) -> int:
    """Return where the value of a name begins in the object that begins at ``at``."""
    at = _skip(text, at + 1)
    while True:
        key, at = DECODER.raw_decode(text, at)
        at = _skip(text, _skip(text, at) + 1)
        if key == name:
            return at
        _, at = DECODER.raw_decode(text, at)
        at = _skip(text, _skip(text, at) + 1)


def _elements(text: str, at: int) -> list[str]:
    """Return the elements of the list that begins at ``at``, as they are written."""
    found = []
    at = _skip(text, at + 1)
    while text[at] != "]":
        _, end = DECODER.raw_decode(text, at)
        found.append(text[at:end])
        at = _skip(text, end)
        if text[at] == ",":
            at = _skip(text, at + 1)
    return found
