"""The outline of a long text: names of JSON, definitions of code, headings."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

from elision.placeholders.cleaning import clean

_LONGEST_READ = 4_000_000
"""Characters up to which a text is read as JSON."""

_LONGEST_SEARCHED = 2_000_000
"""Characters that are searched for lines that structure a text."""

_LINE_CHARS = 80
_NAME_CHARS = 40
_LINES = 12
_NAMES = 20

_WORDS = (
    r"(?:export|public|private|protected|static|final|abstract|async|default|pub(?:\([^)\n]{1,20}\))?|unsafe|inline) +"
)
_KEYWORDS = "def|class|function|func|fn|interface|struct|enum|trait|impl|module|namespace|type|record|object"
_NUMBER = r"(?:[ \t]*\d{1,7}(?:[:|\t→]|\t| {2})[ ]?)?"
_CODE = re.compile(rf"^{_NUMBER}(?P<line> {{0,4}}(?:{_WORDS}){{0,5}}(?:{_KEYWORDS})\b[ (].{{0,200}})", re.MULTILINE)
_HEADINGS = re.compile(
    rf"^{_NUMBER}(?P<line>#{{1,6}} .{{1,200}}|[=-]{{3,80}} [^\n]{{1,120}} [=-]{{3,80}}$|diff --git .{{1,200}})",
    re.MULTILINE,
)


def outline(text: str, *, is_json: bool) -> list[str]:
    """Return a few lines that say what a text is made of; none where nothing structures it."""
    if is_json:
        return _of_json(text) if len(text) <= _LONGEST_READ else []
    code = _of_lines(text, _CODE)
    return code or _of_lines(text, _HEADINGS)


def _of_json(text: str) -> list[str]:
    try:
        value = json.loads(text, parse_int=str, parse_float=str)
    except (ValueError, RecursionError):
        return []
    if isinstance(value, dict):
        told = (f"{_name(name)}: {_kind(inner)}" for name, inner in value.items())
        return [f"{_kind(value)}:", *_first(told, _LINES)]
    if isinstance(value, list):
        named = next((inner for inner in value if isinstance(inner, dict)), None)
        return [f"{_kind(value)}{f'; the first has {_names(named)}' if named else ''}"]
    return []


def _kind(value: Any) -> str:
    match value:
        case dict():
            return f"object of {len(value)}"
        case list():
            return f"list of {len(value)}"
        case str():
            return f"text of {len(value)} chars" if len(value) > _NAME_CHARS else clean(value, _NAME_CHARS) or "text"
        case _:
            return json.dumps(value)


def _names(record: dict[str, Any]) -> str:
    shown = [_name(name) for name in islice(record, _NAMES)]
    return ", ".join([*shown, f"{len(record) - _NAMES} more"] if len(record) > _NAMES else shown)


def _name(name: str) -> str:
    return clean(name, _NAME_CHARS) or "''"


def _of_lines(text: str, pattern: re.Pattern[str]) -> list[str]:
    return list(_first(_numbered(text, pattern), _LINES))


def _numbered(text: str, pattern: re.Pattern[str]) -> Iterator[str]:
    number, counted = 1, 0
    for match in pattern.finditer(text, 0, _LONGEST_SEARCHED):
        number += text.count("\n", counted, match.start())
        counted = match.start()
        line = match["line"]
        indented = " " * (len(line) - len(line.lstrip(" ")))
        yield f"{number}: {indented}{clean(line, _LINE_CHARS)}"


def _first(lines: Iterable[str], most: int) -> Iterator[str]:
    found = list(lines)
    yield from found[:most]
    if len(found) > most:
        yield f"and {len(found) - most} more"
