"""Where earlier requests have left entries in the provider's cache, among the messages that still stand."""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from dataclasses import dataclass, field


@dataclass(slots=True)
class Entries:
    """Indices of messages, the oldest first; -1 stands for what leads the messages."""

    places: list[int] = field(default_factory=list)
    _written: dict[int, int] = field(default_factory=dict)
    _count: int = 0

    def cut(self, first: int) -> None:
        """Forget those from ``first`` on: the messages there are others now."""
        start = bisect_left(self.places, first)
        for place in self.places[start:]:
            del self._written[place]
        del self.places[start:]

    def write(self, place: int) -> None:
        """Note an entry, or one that is written again."""
        if place not in self._written:
            insort(self.places, place)
        self._written[place] = self._count
        self._count += 1

    def upto(self, place: int) -> int | None:
        """Return the nearest one at or before a place."""
        found = bisect_right(self.places, place)
        return self.places[found - 1] if found else None

    def recent(self, latest: int | None) -> int | None:
        """Return the longest one among the ``latest`` that were written."""
        oldest = 0 if latest is None else self._count - latest
        return next((place for place in reversed(self.places) if self._written[place] >= oldest), None)
