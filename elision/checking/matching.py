"""Texts that a pattern matches: a short one for each glob or regular expression."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress

from elision.classification.patterns import Glob, OutOfTimeError, Regex

_ESCAPES = {"d": "1", "w": "a", "s": " ", "S": "x", "D": "x", "W": "-", "n": "\n", "t": "\t", "b": "", "B": ""}
_EDGES = {"A": "", "Z": "", "z": "", "^": "", "$": ""}
_BRACKET = re.compile(r"\[(?P<not>[!^])?(?P<first>\\?.)[^\]]*\]")
_COUNT = re.compile(r"\{(\d+)(?:,\d*)?\}")
_GROUP = re.compile(r"\?(?:P?<\w+>|:|(?P<look><?[=!])|(?P<flags>[aiLmsux-]+\)))")
_MOST_COPIES = 100


def matching_glob(pattern: Glob) -> Iterator[str]:
    """Yield texts that a glob matches."""
    found = [*sorted(pattern.literals), *(f"{start}x" for start in pattern.beginnings), *pattern.beginnings]
    found += [mark.join(pieces) for pieces in pattern.starred for mark in ("x", "")]
    found += [_BRACKET.sub(_of_bracket, other).replace("?", "x").replace("*", "x") for other in pattern.others]
    for text in found:
        with suppress(OutOfTimeError):
            if text and pattern.matches(text):
                yield text


def matching_regex(source: str, payload: str = "x") -> str | None:
    """Return a text in which a regular expression is found, if one is easily made; ``payload`` stands for its ``.``."""
    with suppress(IndexError, OutOfTimeError, re.error, ValueError):
        for text in (_Sampler(source, payload).text(), _Sampler(source, "x").text()):
            if text and (Regex(source).matches(text) or Regex(f"(?s){source}").matches(text)):
                return text
    return None


def _of_bracket(match: re.Match[str]) -> str:
    return "x" if match["not"] else match["first"][-1]


class _Sampler:
    """Reads a regular expression from left to right: the first of alternatives, once where it may be repeated."""

    def __init__(self, source: str, payload: str) -> None:
        self._source = source
        self._payload = payload
        self._at = 0

    def text(self) -> str:
        found = self._sequence()
        while self._next("|"):
            self._sequence()
        return found

    def _sequence(self) -> str:
        found = ""
        while self._at < len(self._source) and self._source[self._at] not in "|)":
            found += self._repeated(self._atom())
        return found

    def _repeated(self, atom: str) -> str:
        if count := _COUNT.match(self._source, self._at):
            self._at = count.end()
            atom *= max(1, min(int(count[1]), _MOST_COPIES))
        while self._at < len(self._source) and self._source[self._at] in "*+?":
            self._at += 1
        return atom

    def _atom(self) -> str:
        letter = self._source[self._at]
        if letter == "[" and (bracket := _BRACKET.match(self._source, self._at)):
            self._at = bracket.end()
            first = bracket["first"]
            return "x" if bracket["not"] else _ESCAPES.get(first[1], first[1]) if len(first) == 2 else first
        self._at += 1
        if letter == "\\":
            self._at += 1
            return (_ESCAPES | _EDGES).get(self._source[self._at - 1], self._source[self._at - 1])
        if letter == "(":
            return self._group()
        return self._payload if letter == "." else _EDGES.get(letter, letter)

    def _group(self) -> str:
        head = _GROUP.match(self._source, self._at)
        self._at = head.end() if head else self._at
        if head and head["flags"]:
            return ""
        found = self.text()
        self._next(")")
        return "" if head and head["look"] else found

    def _next(self, letter: str) -> bool:
        there = self._source[self._at : self._at + 1] == letter
        self._at += there
        return there
