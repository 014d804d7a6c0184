"""What a process remembers of an archive, so that it need not ask again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

V = TypeVar("V")


class Recent(Generic[V]):
    """Values by their digests, at most ``most`` of them: those that were not asked for lately are forgotten.

    Threads share it without a lock, which a fork could leave held for ever: each step is one operation of a dict, and
    what two threads do at once can only forget.
    """

    def __init__(self, most: int, cost: Callable[[V], int] = lambda _: 1) -> None:
        self._half = most // 2
        self._cost = cost
        self._spent = 0
        self._young: dict[bytes, V] = {}
        self._old: dict[bytes, V] = {}

    def get(self, key: bytes) -> V | None:
        """Return the value of ``key``; ``None`` if it is not remembered."""
        found = self._young.get(key)
        if found is None and (found := self._old.get(key)) is not None:
            self.put(key, found)
        return found

    def put(self, key: bytes, value: V) -> None:
        """Remember a value."""
        self._young[key] = value
        self._spent += self._cost(value)
        if self._spent >= self._half:
            self._old, self._young, self._spent = self._young, {}, 0
