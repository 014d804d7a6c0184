"""What the engine tells and keeps while it asks processors: how far the history is, and what each was offered."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from elision.history import Address, History, Paired


@dataclass(frozen=True, slots=True)
class Moment:
    """How far the history had come when the engine asked; ``earlier_*`` are the counts one segment before."""

    stop: int
    steps: int
    observations: int
    earlier_observations: int

    @property
    def newest_step(self) -> int:
        """Index of the step that the model has not answered yet (-1 before the first)."""
        return self.steps - 1


def whole(history: History) -> Moment:
    """Return the moment at which all of a history is there."""
    count = len(history.observations)
    return Moment(len(history), len(history.steps), count, count)


@dataclass(frozen=True, slots=True)
class Request:
    """What the request carries besides messages."""

    system: Any = None
    tools: Any = None
    model: str | None = None
    compat: str | None = None
    offered: frozenset[str] | None = None
    """Names of the tools that it offers; ``None`` where it does not say."""
    recall_tool: str = ""
    """The offered tool that brings originals back."""
    owner: Literal["elision", "provider"] = "elision"
    """Who manages the context."""


@dataclass(slots=True)
class KeyIndex:
    """Where keys occur in the view, kept up to date message by message (see :meth:`View.index`)."""

    upto: int = 0
    by_key: dict[Hashable, dict[Address, None]] = field(default_factory=dict)
    keys_of: dict[Address, tuple[Hashable, ...]] = field(default_factory=dict)
    entered: tuple[Address, ...] = ()

    def put(self, address: Address, keys: Iterable[Hashable]) -> None:
        """Record the keys found at an address, in place of those recorded before."""
        for key in self.keys_of.pop(address, ()):
            self.by_key[key].pop(address, None)
        found = tuple(dict.fromkeys(keys))
        if found:
            self.keys_of[address] = found
            for key in found:
                self.by_key.setdefault(key, {})[address] = None


Bookmark: TypeAlias = tuple[tuple[int, int, int], dict[Address, None], dict[str, int]]


@dataclass(slots=True)
class Memory:
    """What the engine keeps for one ``history`` processor, so that each part is offered to it once."""

    looked_at: int = 0
    fitting: list[Paired] = field(default_factory=list)
    offered_fitting: int = 0
    offered_observations: int = 0
    offered_messages: int = 0
    deferred: dict[Address, None] = field(default_factory=dict)
    waiting: dict[Address, None] = field(default_factory=dict)
    woken: int = 0
    changed: list[int] = field(default_factory=list)
    own: list[int] = field(default_factory=list)
    index: KeyIndex = field(default_factory=KeyIndex)
    _read: dict[str, int] = field(default_factory=dict)

    def changed_since(self, reader: str) -> list[int]:
        """Return the positions that earlier stages changed since ``reader`` last asked."""
        start = self._read.get(reader, 0)
        self._read[reader] = len(self.changed)
        return list(dict.fromkeys(self.changed[start:]))

    def bookmark(self) -> Bookmark:
        """Return what :meth:`rewind` needs to offer again what a failed plan was offered."""
        offered = (self.offered_fitting, self.offered_observations, self.offered_messages)
        return offered, dict(self.deferred), dict(self._read)

    def rewind(self, bookmark: Bookmark) -> None:
        """Go back to a bookmark."""
        offered, self.deferred, self._read = bookmark
        self.offered_fitting, self.offered_observations, self.offered_messages = offered
        self.index = KeyIndex()
