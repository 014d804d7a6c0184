"""Edits that wait for a schedule, to be made all at once."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from elision.edits import Drop, Edit, Replace
from elision.history import Address
from elision.schedule import Load, Prices, Schedule, counts_tokens, is_due
from elision.weights import Weights


class Candidate(NamedTuple):
    """An edit that waits: the place of its processor in the chain, where it is made, and the tokens that it saves."""

    stage: int
    edit: Edit
    position: int
    step: int
    tokens: int


class Standpoint(NamedTuple):
    """How a run stands at one step: its tokens, where its newest step begins, what it has cost, and what it pays.

    ``beside`` are the tokens of system prompt and tools.
    """

    weights: Weights
    beside: int
    newest: int
    step: int
    spent: float
    prices: Prices


@dataclass(slots=True)
class Batch:
    """What processors that share a schedule have proposed since it last came due.

    It goes by what waits, and by what stands behind that, never by what came before: so the view, processed again,
    is left as it is.
    """

    schedule: Schedule
    stages: frozenset[int]
    waiting: dict[tuple[int, Address | int], Candidate] = field(default_factory=dict)
    _saved: dict[Address | int, int] = field(default_factory=dict)
    _stale: int = 0
    _carried: int = 0
    _steps: int = 0
    _first: Candidate | None = None
    _newest_step: int = 0

    @property
    def counts_tokens(self) -> bool:
        """Whether its schedule needs tokens."""
        return counts_tokens(self.schedule)

    def add(self, candidate: Candidate) -> None:
        """Let an edit wait; what several processors want gone is saved once."""
        place = place_of(candidate.edit)
        if place is None:
            return
        self.waiting[candidate.stage, place] = candidate
        more = candidate.tokens - self._saved.get(place, 0)
        if more > 0:
            self._saved[place] = candidate.tokens
            self._stale += more
        if self._first is None or candidate.position < self._first.position:
            self._first = candidate
        self._newest_step = max(self._newest_step, candidate.step)

    def stepped(self) -> None:
        """Count a request that was sent with what is stale."""
        self._steps += bool(self.waiting)
        self._carried += self._stale

    def due(self, at: Standpoint) -> list[Candidate]:
        """Return what is to be done now, in the order of the chain and of the history; nothing while it waits."""
        if self._first is None or not is_due(self.schedule, self._load(at, self._first)):
            return []
        found = sorted(self.waiting.values(), key=lambda each: (each.stage, each.position))
        self._forget()
        return found

    def _load(self, at: Standpoint, first: Candidate) -> Load:
        behind = at.weights.total - at.weights.upto(first.position)
        new = at.weights.total - at.weights.upto(at.newest)
        return Load(
            steps=self._steps,
            total_tokens=at.weights.total + at.beside,
            stale_tokens=self._stale,
            rewritten_tokens=max(0, behind - self._stale - new),
            added_tokens=behind / max(1, at.step - first.step + 1),
            removed_tokens=self._stale / max(1, len(self._saved)),
            carried=self._carried,
            kept=max(1, at.step - self._newest_step),
            spent=at.spent,
            prices=at.prices,
        )

    def _forget(self) -> None:
        self.waiting, self._saved = {}, {}
        self._stale = self._carried = self._steps = self._newest_step = 0
        self._first = None


def place_of(edit: Edit) -> Address | int | None:
    """Return what an edit changes or leaves out: a part, or a step."""
    match edit:
        case Replace(address=address):
            return address
        case Drop(step=step):
            return step
        case _:
            return None
