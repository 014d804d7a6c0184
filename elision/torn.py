"""What can be read of a recorded history whose writer was cut off, or wrote on behind what had been cut off."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

_BLANK = "\0 \t\r\n"
_TRIES = 100
"""How many places of a line are looked at for a record that was written behind one that was cut off."""

_NO_TEXT = re.compile(r"[\udc80-\udcff]")
"""A byte that is not UTF-8, as it is decoded here."""

_SIGN = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|\\?\Z)|[\[\]{},]', re.DOTALL)
"""A string, be it cut off, or a bracket or comma between strings."""

_CLOSES = {"{": "}", "[": "]"}


@dataclass(slots=True)
class Lines:
    """The values of JSON Lines, and what is set aside: the number of each line that is no value, and why."""

    begin_so: bool
    """Whether the text begins as a record does."""

    values: list[Any] = field(default_factory=list)
    aside: dict[int, str] = field(default_factory=dict)

    @property
    def usable(self) -> bool:
        """Whether these are lines of records, some of them damaged, and not a file of another kind."""
        records = all(isinstance(each, Mapping) for each in self.values)
        return self.begin_so and records and len(self.values) >= len(self.aside)


def decoded(data: bytes) -> str:
    """Return a text; each byte of it that is not UTF-8 becomes a lone surrogate."""
    return data.decode("utf-8-sig", "surrogateescape").strip(_BLANK)


def is_damaged(text: str) -> bool:
    """Whether some of what was decoded was no UTF-8."""
    return _NO_TEXT.search(text) is not None


def read_lines(text: str) -> Lines:
    """Read JSON Lines as far as they can be read; NUL bytes, as a file system leaves them, are blanks."""
    found = Lines(text.startswith("{"))
    # Not splitlines(): a JSON text may hold other line breaks inside its strings.
    for number, line in enumerate(text.split("\n"), 1):
        record = line.strip(_BLANK)
        value, reason = _value(record) if record else (None, "")
        if reason:
            found.aside[number] = reason
            found.values += _behind(record, found.values)
        elif record:
            found.values.append(value)
    return found


def _value(record: str) -> tuple[Any, str]:
    """Return what a line says, or why it says nothing."""
    if is_damaged(record):
        return None, "not UTF-8"
    try:
        return json.loads(record), ""
    except (ValueError, RecursionError) as error:
        return None, error.msg if isinstance(error, json.JSONDecodeError) else "it is nested too deeply"


def _behind(line: str, before: list[Any]) -> list[Any]:
    """Return the record that was written behind one that was cut off, in the same line; it is like those before."""
    begins, colon, _ = line.partition(":")
    keys = set(before[0]) if before and isinstance(before[0], Mapping) else set()
    at = len(line)
    for _ in range(_TRIES if colon and begins.startswith("{") else 0):
        at = line.rfind(begins + colon, 1, at)
        if at < 0:
            break
        value, reason = _value(line[at:])
        if not reason and isinstance(value, Mapping) and len(keys & set(value)) > 1:
            return [value]
    return []


def up_to_the_cut(text: str) -> Any | None:
    """Return what a JSON text says before the place where it ends too early; ``None`` where that is not its fault.

    The list that was being written loses the entry that is not complete; everything around it is closed.
    """
    opened = _open_at_the_end(text)
    cut = next((each for each in opened if each.kind == "[" and each.complete), None) or next(
        (each for each in opened if each.complete), None
    )
    if cut is None:
        return None
    closing = "".join(_CLOSES[each.kind] for each in reversed(opened[: opened.index(cut) + 1]))
    value, reason = _value(text[: cut.complete] + closing)
    return None if reason else value


@dataclass(slots=True)
class _Open:
    """A list or a mapping that is not closed: which, and up to where its entries are complete."""

    kind: str
    complete: int = 0


def _open_at_the_end(text: str) -> list[_Open]:
    opened: list[_Open] = []
    for at, sign in _signs(text):
        if sign in _CLOSES:
            opened.append(_Open(sign))
        elif sign == ",":
            if opened:
                opened[-1].complete = at
        elif opened:
            opened.pop()
            if opened:
                opened[-1].complete = at + 1
    return opened


def _signs(text: str) -> list[tuple[int, str]]:
    """Return the brackets and commas outside of strings, with their places."""
    return [(match.start(), match[0]) for match in _SIGN.finditer(text) if match[0][0] != '"']
