"""Globs and regular expressions over names and arguments, with a bound on their time."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any

from elision.expressions import compile_regex

MAX_CHARS = 100_000
"""Longest text that a pattern is tried on."""

MAX_SECONDS = 0.25
"""Longest time that one pattern may take."""

MAX_ALTERNATIVES = 500
"""Most alternatives of one glob, braces written out."""

_MAGIC = frozenset("*?[(\\")
_BRACE = re.compile(r"\{([^{}]*,[^{}]*)\}")


class OutOfTimeError(Exception):
    """A pattern took too long, or its text is too long: what it would have said is not known."""


@dataclass(frozen=True, slots=True)
class Glob:
    """A glob over a whole text: ``*`` any text, ``?`` one character, ``[a-z]`` one of these, ``{a,b}`` alternatives."""

    source: str
    literals: frozenset[str]
    beginnings: tuple[str, ...]
    starred: tuple[tuple[str, ...], ...]
    others: tuple[str, ...]
    fold: bool = False
    needles: tuple[str, ...] = ()
    """The longest piece of each of ``starred``."""

    @property
    def plain(self) -> bool:
        """Whether it is only literal alternatives."""
        return not (self.beginnings or self.starred or self.others)

    def matches(self, text: str) -> bool:
        """Whether the whole text matches."""
        if self.fold:
            text = text.lower()
        if text in self.literals or (self.beginnings and text.startswith(self.beginnings)):
            return True
        # Of the many alternatives of one rule hardly any has its longest piece in a text.
        for needle, pieces in zip(self.needles, self.starred, strict=True):
            if needle in text and _has_pieces(text, pieces):
                return True
        return bool(self.others) and any(_search(_translated(other), text) for other in self.others)

    def may_match(self, beginning: str, end: str = "") -> bool:
        """Whether a text that begins and ends like this, with something between that is not known, can match."""
        ends = [(start, "") for start in (*self.beginnings, *map(_fixed, self.others))]
        ends += [(pieces[0], pieces[-1]) for pieces in self.starred]
        return any(text.startswith(beginning) and text.endswith(end) for text in self.literals) or any(
            (start.startswith(beginning) or beginning.startswith(start)) and (stop.endswith(end) or end.endswith(stop))
            for start, stop in ends
        )

    def must_match(self, beginning: str, end: str = "") -> bool:
        """Whether each text that begins and ends like this, with anything between, matches for certain."""
        ends = [(start, "") for start in self.beginnings]
        ends += [(pieces[0], pieces[1]) for pieces in self.starred if len(pieces) == 2]
        if any(beginning.startswith(start) and end.endswith(stop) for start, stop in ends):
            return True
        # What ends in a star goes on with anything once its beginning is there: [!-]*.
        return any(other.endswith("*") and _search(_translated(other), beginning) for other in self.others)

    def covers(self, other: Glob) -> bool:
        """Whether it certainly matches all that ``other`` matches."""
        if self.others:
            return self.source == other.source
        # A wildcard of the other is one more character here: what lies in a * of ours still does when it is longer.
        stars = [f"{start}*" for start in other.beginnings] + ["*".join(pieces) for pieces in other.starred]
        return all(self.matches(text) for text in (*other.literals, *stars, *other.others))


@lru_cache(maxsize=8192)
def glob(source: str, *, fold: bool = False) -> Glob:
    """Read a glob; ``fold`` makes capital and small letters the same."""
    literals, beginnings, starred, others = set(), [], [], []
    for each in _alternatives(source.lower() if fold else source):
        magic = set(each) & _MAGIC
        if not magic:
            literals.add(each)
        elif magic != {"*"}:
            others.append(each)
        elif each.endswith("*") and "*" not in each[:-1]:
            beginnings.append(each[:-1])
        else:
            starred.append(tuple(each.split("*")))
    needles = tuple(max(pieces, key=len) for pieces in starred)
    return Glob(source, frozenset(literals), tuple(beginnings), tuple(starred), tuple(others), fold, needles)


@dataclass(frozen=True, slots=True)
class Regex:
    """A regular expression that is searched in a text."""

    source: str

    def matches(self, text: str) -> bool:
        """Whether it is found."""
        return _search(self.source, text)


def compiled(source: str) -> Any:
    """Compile a regular expression; raise ``ValueError`` where it is none, or is too large."""
    return compile_regex(source)


def _search(source: str, text: str) -> bool:
    if len(text) > MAX_CHARS:
        raise OutOfTimeError
    try:
        return _compiled(source).search(text, timeout=MAX_SECONDS) is not None
    except TimeoutError:
        raise OutOfTimeError from None


@cache
def _compiled(source: str) -> Any:
    import regex

    return regex.compile(source)


@cache
def _translated(source: str) -> str:
    from wcmatch import fnmatch

    (found,), _ = fnmatch.translate(source, flags=fnmatch.EXTMATCH | fnmatch.CASE | fnmatch.DOTMATCH)
    return str(found)


def _fixed(source: str) -> str:
    """Return what a glob begins with for certain."""
    end = next((place for place, letter in enumerate(source) if letter in _MAGIC), len(source))
    # The character before a bracket may belong to it, as in x@(a|b).
    return source[: max(end - 1, 0)] if source[end : end + 1] == "(" else source[:end]


def _has_pieces(text: str, pieces: tuple[str, ...]) -> bool:
    """Whether a text is the pieces in their order, with anything between them; without going back."""
    first, *middle, last = pieces
    if len(text) < len(first) + len(last) or not text.startswith(first) or not text.endswith(last):
        return False
    place, stop = len(first), len(text) - len(last)
    for piece in middle:
        place = text.find(piece, place, stop)
        if place < 0:
            return False
        place += len(piece)
    return True


def _alternatives(source: str) -> list[str]:
    """Return a glob with its braces written out; a brace without a comma stands for itself."""
    open_, done = [source], dict[str, None]()
    while open_:
        each = open_.pop()
        brace = _BRACE.search(each) if len(open_) + len(done) < MAX_ALTERNATIVES else None
        if brace is None:
            done[each] = None
        else:
            open_ += [each[: brace.start()] + one + each[brace.end() :] for one in reversed(brace[1].split(","))]
    return list(done)
