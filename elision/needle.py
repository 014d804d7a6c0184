"""Where a text stands in messages: as it is, and JSON-escaped."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from typing import Any, Literal, TypeAlias

from elision.errors import InputError
from elision.message import Image, Opaque, Part, Text, Thinking, ToolCall, ToolResult

Where: TypeAlias = Literal["head", "middle", "tail"]

_CODE = re.compile(r"\\u([0-9a-f]{4})")
_DEEPEST = 2
"""Levels of JSON inside JSON in which a text is looked for."""


class Needle:
    """A text to look for.

    It is found also where JSON, or JSON inside JSON, has written its characters with backslashes.
    """

    def __init__(self, text: str) -> None:
        if not isinstance(text, str) or not text:
            raise InputError("find: there is no text to look for; give the identifier to follow")
        self.text = text

    def count(self, value: Any) -> int:
        """Count how often it stands in the strings of a part, or of plain data."""
        return sum(1 for text in strings_of(value) for _ in self._starts(text))

    def places(self, value: Any) -> list[Where]:
        """Return for each time that it stands there in which third of the whole text it begins."""
        found: list[int] = []
        length = 0
        for text in strings_of(value):
            found += [length + start for start in self._starts(text)]
            length += len(text)
        return [_third(start, length, len(self.text)) for start in found]

    def _starts(self, text: str) -> Iterator[int]:
        if "\\" in text:
            yield from (match.start() for match in self._forms.finditer(text))
            return
        start = text.find(self.text)
        while start >= 0:
            yield start
            start = text.find(self.text, start + len(self.text))

    @cached_property
    def _forms(self) -> re.Pattern[str]:
        forms = {self.text}
        for _ in range(_DEEPEST):
            forms |= {escaped for form in forms for escaped in _escaped(form)}
        return re.compile("|".join(map(re.escape, sorted(forms, key=len, reverse=True))))


def _escaped(text: str) -> Iterator[str]:
    """Yield the ways in which writers of JSON write a text in a string."""
    for ascii_only in (True, False):
        written = json.dumps(text, ensure_ascii=ascii_only)[1:-1]
        for form in (written, _CODE.sub(lambda match: f"\\u{match[1].upper()}", written)):
            yield form
            yield form.replace("/", "\\/")


def _third(start: int, length: int, size: int) -> Where:
    middle = start + size / 2
    return "head" if middle < length / 3 else "tail" if middle > length * 2 / 3 else "middle"


def strings_of(value: Any) -> Iterator[str]:
    """Yield the texts of a part, or the strings, keys and numbers of plain data, in order; data of images has none."""
    waiting = [value]
    while waiting:
        given = waiting.pop()
        if isinstance(given, str):
            yield given
        elif isinstance(given, Mapping):
            waiting += reversed([each for pair in given.items() for each in pair if not _is_data(given, pair[0])])
        elif isinstance(given, list | tuple):
            waiting += reversed(given)
        elif isinstance(given, int | float) and not isinstance(given, bool):
            yield str(given)
        else:
            waiting += reversed(list(_inside(given)))


def parts_of(parts: Iterable[Part]) -> list[Part]:
    """Return parts without calls that were read from the text beside them."""
    return [part for part in parts if not (isinstance(part, ToolCall) and part.raw is None)]


def _inside(given: Any) -> Iterator[Any]:
    match given:
        case Text(text=text) | Thinking(text=text):
            yield text
        case ToolCall(arguments=arguments):
            yield arguments
        case ToolResult(content=content):
            yield content
        case Image(url=url) if not url.startswith("data:"):
            yield url
        case Opaque(raw=raw):
            dump = getattr(raw, "model_dump", None)
            yield dump() if callable(dump) else raw


def _is_data(given: Mapping[Any, Any], key: Any) -> bool:
    return key == "data" and (given.get("type") == "base64" or "mimeType" in given or "mime_type" in given)
