"""The records in a text: the elements of a list in JSON, or documents in a row, as lines of JSON are."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

from elision.reducing.json_text import DECODER, NotPlainError, parse_at

_BEGINS = re.compile(r"(?:\A[ \t\r\n]*|^)[\[{](?=[ \t\r\n]*[\"\[{\]}\d\-tfn])", re.MULTILINE)
_MOST_BEGINNINGS = 8
"""Lines that can be the first of JSON, of which the document is looked for."""
_DEEPEST = 4
_SHORTEST_ROW = 2
_SPACE = " \t\r\n"


@dataclass(frozen=True, slots=True)
class Records:
    """The records of a document; ``at`` are the names that lead to their list, none in a list and in a row.

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
    """Return the records in the longest text of a result that has any: its longest list, or its documents in a row.

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
    text, at = texts[found.text], _skip(texts[found.text], found.start)
    if found.are_lines:
        return [text[begin:end] for _, begin, end in _row(text, at)]
    for name in found.at:
        at = _value_of(text, at, name)
    return _elements(text, at)


def _records_of(text: str) -> Records | None:
    """Return the records of a text that is JSON, or has nothing but a few lines around it, as shells show output."""
    for match in islice(_BEGINS.finditer(text), _MOST_BEGINNINGS):
        found = _beginning_at(text, match.end() - 1)
        if found is not None:
            before, behind = text[: found.start].strip(_SPACE), text[found.stop :].strip(_SPACE)
            return replace(found, start=found.start if before else 0, stop=found.stop if behind else len(text))
    return None


def _beginning_at(text: str, begin: int) -> Records | None:
    """Return the records of one document, or of documents in a row, that are at least half of a text."""
    half = len(text) // 2
    if len(text) - begin < half:
        return None
    try:
        document, stop = parse_at(text, begin)
    except NotPlainError:
        return None
    if stop - begin >= half:
        found = _of_document(document)
        if found is not None:
            return replace(found, start=begin, stop=stop)
    row = list(_row(text, begin))
    if len(row) < _SHORTEST_ROW or (stop := row[-1][2]) - begin < half:
        return None
    return Records(None, (), [record for record, _, _ in row], are_lines=True, start=begin, stop=stop)


def _of_document(document: Any) -> Records | None:
    at = () if isinstance(document, list) else _longest(document)
    if at is None:
        return None
    found = document
    for name in at:
        found = found[name]
    return Records(document, at, found) if found else None


def _row(text: str, at: int) -> Iterator[tuple[Any, int, int]]:
    """Yield objects and lists that stand one after the other, and where each begins and ends."""
    while at < len(text) and text[at] in "[{":
        try:
            record, end = parse_at(text, at)
        except NotPlainError:
            return
        yield record, at, end
        at = _skip(text, end)


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
    while at < len(text) and text[at] in _SPACE:
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
