"""In which forms data and code give a value to a name: members, settings, literals."""

from __future__ import annotations

import re
from typing import NamedTuple

_CALLED = re.compile(r"\w\(\s*\\{0,7}[\"']\Z")
_BEGINS_A_LINE = re.compile(
    r"(?:\A|\n|\\n)[ \t]*(?:(?:[\w./-]{1,60}[:-])?\d{1,6}[\t:-][ \t]*)?(?:\+\+?|[;#>|*-])?[ \t]*(?:-[ \t]+)?"
    r"(?:\d{4}-\d\d-\d\dT[\d:.]+Z[ \t]+)?(?:export[ \t]+|set[ \t]+)?\Z"
)
_ENDS_A_LINE = re.compile(r"[ \t]*(?:[#;][^\n]*)?(?:\Z|\r?\n|\\n|\\r)")
_ENDS_A_WORD = re.compile(r"[\s,.;]|\Z|\\n|[\"']")
_BEFORE = 80
_SHORTEST_IN_TEXT, _SHORTEST_OF_KEY = 8, 16


class Given(NamedTuple):
    """Where a value stands."""

    start: int
    stop: int


class Setting(NamedTuple):
    """A name, where it begins, whether a quote closes it, what joins it to its value, and that."""

    first: int
    name: str
    closed: bool
    join: str
    quoted: bool
    value: Given


def is_in_data(text: str, given: Setting) -> bool:
    """Whether a name is given a value as data files, code and logs do."""
    before = text[max(0, given.first - _BEFORE) : given.first]
    if given.quoted:
        return bool(
            given.join in {":", "=", ":=", "=>"} or (given.join == "," and given.closed and _CALLED.search(before))
        )
    if given.join not in {":", "="}:
        return False
    begins = bool(_BEGINS_A_LINE.search(before))
    if begins and _ENDS_A_LINE.match(text, given.value.stop):
        return True
    chars = given.value.stop - given.value.start
    if chars < _SHORTEST_IN_TEXT or given.closed or not _ENDS_A_WORD.match(text, given.value.stop):
        return False
    if given.join == "=":
        behind_a_word = before[-1:] == " " and before[-2:-1].isalnum()
        return (begins or behind_a_word) and text[given.value.start - 1] == "="
    return given.name.lower() in {"password", "passwd", "passphrase"} or (begins and chars >= _SHORTEST_OF_KEY)
