"""Telling a history that has grown from one that its host has rewritten."""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Any, Literal

_item = operator.itemgetter("content")
_KEYS = ("content", "output", "parts")


class Known:
    """The messages of the request before.

    A message is recognised by identity, or by equality, together with its content and the length of content that is a
    list: a host that edits its messages in place is noticed, too.
    """

    def __init__(self) -> None:
        self.raws: list[Any] = []
        self._contents: list[Any] = []
        self._lengths: dict[int, int] = {}

    def compare(self, messages: list[Any]) -> Literal["same", "equal", "other"]:
        """Say whether ``messages`` begin with the known ones: the same objects, equal ones, or others."""
        begin = messages[: len(self.raws)]
        same = len(begin) == len(self.raws) and all(map(operator.is_, begin, self.raws))
        if not same and begin != self.raws:
            return "other"
        unchanged = contents(begin) == self._contents and all(
            len(self._contents[position]) == length for position, length in self._lengths.items()
        )
        return ("same" if same else "equal") if unchanged else "other"

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
    with suppress(AttributeError, KeyError, TypeError):
        return list(map(_item, messages))
    return list(map(_content, messages))


def _content(message: Any) -> Any:
    read = message.get if isinstance(message, Mapping) else partial(getattr, message)
    return next((found for key in _KEYS if (found := read(key, None)) is not None), None)
