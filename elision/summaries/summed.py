"""What the engine keeps for one processor that summarises, takes notes or reminds, so that each step is met once."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple


class Span(NamedTuple):
    """One summary that stands: the steps from ``first`` up to ``stop``, those of them that it stands for, its size."""

    key: str
    first: int
    stop: int
    steps: tuple[int, ...]
    position: int
    tokens: int


class Covered(NamedTuple):
    """What one summary covers: ``steps`` go for it, ``shown`` are those that it is made from, with those that overlap;
    ``replaced`` are the earlier ones that it takes the place of.
    """

    steps: tuple[int, ...]
    shown: tuple[int, ...]
    replaced: tuple[Span, ...] = ()


class Awaited(NamedTuple):
    """One summary that a model is asked for while requests go on; all counts are in messages."""

    covered: Covered
    query: Any
    known_to: int
    """What there was when the ledger was asked."""
    place: int | None
    """Where the ledger says that it came."""


@dataclass(slots=True)
class Summed:
    """How far one processor has come.

    ``numbers`` are the steps that may be left out and stand, the oldest first, ``held`` those that the table keeps as
    yet.  After ``useless`` runs it waits until ``wait_for`` steps could be covered.
    """

    looked_at: int = 0
    noticed: int = 0
    standing: int = 0
    dropped: int = 0
    gone: int = 0
    left_tokens: int = 0
    numbers: list[int] = field(default_factory=list)
    held: set[int] = field(default_factory=set)
    spans: list[Span] = field(default_factory=list)
    made: int = 0
    told_of_fixed: bool = False
    useless: int = 0
    wait_for: int = 0
    awaited: Awaited | None = None
    prefixes: Any = None
    """The content hashes of the history, where they are asked for."""
    reminded: bool = False
    taken_out: int = 0
    learned: dict[int, Any] = field(default_factory=dict)
    """What has been learned of each step."""
    log: Any = None
    """What task notes are made from."""
