"""Text from outside, made fit to stand inside a placeholder: one line, nothing unseen, nothing that closes it."""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import takewhile

import regex

MORE = "…"
_ESCAPES = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]")
_UNSEEN = regex.compile(r"[\p{Cf}\p{Cs}\p{Co}\p{Noncharacter_Code_Point}\p{Default_Ignorable_Code_Point}]+")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]+")
_NOT_IN_A_NAME = regex.compile(r"[^\w.:/-]+")
_SHORT_NAME = 200
_DELIMITERS = str.maketrans(
    {**dict.fromkeys("[［【〔⟦❲", "("), **dict.fromkeys("]］】〕⟧❳", ")"), **dict.fromkeys('"＂“”„‟`｀', "'")}
)
"""Our delimiters and what looks like them; a model may read one for the other."""


def clean(text: str, limit: int) -> str:
    """Return the beginning of ``text`` as one line of at most ``limit`` characters, cut between graphemes.

    Only the first few times ``limit`` characters are looked at, so that its cost does not depend on the text.
    """
    if limit <= 0:
        return ""
    piece = text[: 4 * limit + 64]
    seen = piece
    if not (piece.isascii() and piece.isprintable()):
        seen = _ESCAPES.sub("", piece)
        if not seen.isascii():
            seen = _UNSEEN.sub("", seen)
        seen = _CONTROL.sub(" ", seen)
    line = " ".join(seen.split()).translate(_DELIMITERS)
    if line and len(piece) < len(text):
        line = _head(line, limit - 1).rstrip() + MORE
    line = shortened(line, limit)
    # A reader who knows escapes would take \" for a quote that goes on.
    return line.rstrip("\\")


def clean_name(name: str, limit: int) -> str:
    """Return a name of which only letters, digits, and ``_ . : / -`` are left."""
    return _clean_name(name, limit) if len(name) <= _SHORT_NAME else _clean_name.__wrapped__(name, limit)


@lru_cache(maxsize=4096)
def _clean_name(name: str, limit: int) -> str:
    return str(_NOT_IN_A_NAME.sub("_", clean(name, limit).removesuffix(MORE)))


def shortened(text: str, limit: int) -> str:
    """Return at most ``limit`` characters of ``text``, cut between graphemes, with ``…`` where some are left out."""
    return text if len(text) <= limit else _head(text, limit - 1).rstrip() + MORE if limit > 0 else ""


def _head(text: str, limit: int) -> str:
    if len(text) <= limit or text[: limit + 1].isascii():
        return text[:limit]
    ends = (match.end() for match in regex.finditer(r"\X", text, endpos=min(len(text), limit + 64)))
    *_, last = 0, *takewhile(lambda end: end <= limit, ends)
    return text[: last or limit]
