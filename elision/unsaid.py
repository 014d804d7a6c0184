"""Messages that say nothing, which wires refuse: what stands in them instead when they are sent."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from elision.dialect import Dialect
from elision.history import History
from elision.message import Content, Text

Said: TypeAlias = Mapping[int, tuple[Content, ...]]
"""Content by the index of its part."""


class Unsaid:
    """What is said for the messages of one history that say nothing; each is looked at once, as it comes in."""

    def __init__(self, history: History) -> None:
        self._history = history
        self._found: dict[bool, dict[int, Said]] = {True: {}, False: {}}
        self._done = 0

    def found(self, dialect: Dialect, *, strict: bool) -> Mapping[int, Said]:
        """Return it by message; ``strict`` is for a model that refuses more than the wire does."""
        messages = self._history.messages
        for position in range(self._done, len(messages)):
            if said := dialect.unsaid(messages[position], strict=True):
                self._found[True][position] = _contents(said)
                if said := dialect.unsaid(messages[position], strict=False):
                    self._found[False][position] = _contents(said)
        self._done = len(messages)
        return self._found[strict]

    def cut(self, position: int) -> None:
        """Forget the messages from ``position`` on."""
        self._done = min(self._done, position)
        for found in self._found.values():
            while found and next(reversed(found)) >= position:
                found.popitem()


def _contents(said: Mapping[int, str]) -> Said:
    return {index: (Text(text),) if text else () for index, text in said.items()}
