"""Telling a history that has grown from one that its host has rewritten."""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Literal

_item = operator.itemgetter("content")
_KEYS = ("content", "output", "parts")


LOOKED_INTO = 1024
"""Messages whose content is looked at with one request; beyond that the newest, and the others in turn."""


class Known:
    """The messages of the request before.

    A message is recognised by identity, or by equality, together with its content and the length of content that is a
    list: a host that edits its messages in place is noticed, too.  In a history longer than ``LOOKED_INTO`` that is so
    at once for the newer half of as many messages, and for older ones within a few requests; so it is for objects that
    are equal to those before, and others.
    """

    def __init__(self) -> None:
        self.raws: list[Any] = []
        self._contents: list[Any] = []
        self._lengths: dict[int, int] = {}
        self._turn = 0

    def compare(self, messages: list[Any]) -> Literal["same", "equal", "other"]:
        """Say whether ``messages`` begin with the known ones: the same objects, equal ones, or others."""
        known = len(self.raws)
        if len(messages) < known:
            return "other"
        try:
            # Objects that are the same are not compared any further.
            if messages[:known] != self.raws:
                return "other"
            spans = self._spans(known)
            same = all(all(map(operator.is_, self.raws[a:b], messages[a:b])) for a, b in spans)
            unchanged = all(self._is_unchanged(messages, *span) for span in spans)
        except RecursionError:
            # Nested deeper than Python compares.
            return "other"
        return ("same" if same else "equal") if unchanged else "other"

    def _spans(self, known: int) -> list[tuple[int, int]]:
        """Return the parts of the history to look into now."""
        if known <= LOOKED_INTO:
            return [(0, known)]
        half = LOOKED_INTO // 2
        newer = known - half
        start = self._turn if self._turn < newer else 0
        self._turn = min(start + half, newer)
        return [(start, self._turn), (newer, known)]

    def _is_unchanged(self, messages: list[Any], start: int, stop: int) -> bool:
        before = self._contents[start:stop]
        return contents(messages[start:stop]) == before and (
            not self._lengths
            or all(
                len(content) == self._lengths[position]
                for position, content in enumerate(before, start)
                if isinstance(content, list)
            )
        )

    def replace(self, messages: list[Any]) -> None:
        """Take equal objects in place of the known ones."""
        self.raws, self._contents, self._lengths = [], [], {}
        self.extend(messages)

    def extend(self, messages: Sequence[Any]) -> None:
        """Take in messages that have come in."""
        start = len(self.raws)
        self.raws.extend(messages)
        fresh = contents(messages)
        self._contents += fresh
        for position, content in enumerate(fresh, start):
            if isinstance(content, list):
                self._lengths[position] = len(content)


def contents(messages: Sequence[Any]) -> list[Any]:
    """Return the content of each message; ``None`` where it has none."""
    try:
        return list(map(_item, messages))
    except (AttributeError, KeyError, TypeError):
        return list(map(_content, messages))


def _content(message: Any) -> Any:
    read = message.get if isinstance(message, Mapping) else partial(getattr, message)
    return next((found for key in _KEYS if (found := read(key, None)) is not None), None)
