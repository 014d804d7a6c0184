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
    reminded: bool = False
    taken_out: int = 0
    learned: dict[int, Any] = field(default_factory=dict)
    """What has been learned of each step."""
    log: Any = None
    """What task notes are made from."""
