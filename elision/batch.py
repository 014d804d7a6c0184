"""Edits that wait for a schedule, to be made all at once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

from elision.economics import Price, carried_tokens
from elision.edits import Drop, Edit, Replace
from elision.message import Address
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
    """How a run stands at one step: its tokens, those of its newest step, what it has cost, and what it pays.

    ``beside`` are the tokens of system prompt and tools; ``cold`` says that the provider has nothing of the prefix.
    """

    weights: Weights
    beside: int
    new: int
    step: int
    spent: float
    prices: Prices
    cold: bool = False


@dataclass(slots=True)
class Saved:
    """Tokens that edits save: what several of them want gone, a step or parts of it, is saved once."""

    total: int = 0
    places: int = 0
    _parts: dict[Address | int, int] = field(default_factory=dict)
    _by_step: dict[int, tuple[int, int]] = field(default_factory=dict)

    def add(self, place: Address | int, step: int, tokens: int) -> None:
        """Count what an edit at a place of a step saves."""
        self.places += place not in self._parts
        more = max(tokens - self._parts.get(place, 0), 0)
        self._parts[place] = self._parts.get(place, 0) + more
        whole, parts = self._by_step.get(step, (0, 0))
        before = max(whole, parts)
        whole, parts = (whole + more, parts) if isinstance(place, int) else (whole, parts + more)
        self._by_step[step] = whole, parts
        self.total += max(whole, parts) - before


@dataclass(slots=True)
class Batch:
    """What processors that share a schedule have proposed since it last came due.

    It goes by what waits, and by what stands behind that, never by what came before: so the view, processed again,
    is left as it is.
    """

    schedule: Schedule
    stages: frozenset[int]
    waiting: dict[tuple[int, Place], Candidate] = field(default_factory=dict)
    restarted: bool = False
    """Whether some were due before and left: the others have gone, and these wait anew since then."""
    first: Candidate | None = None
    """The first edit that waits, in the order of the history."""
    _saved: Saved = field(default_factory=Saved)
    _carried: float = 0
    _steps: int = 0
    _newest_step: int = 0

    @property
    def counts_tokens(self) -> bool:
        """Whether its schedule needs tokens."""
        return counts_tokens(self.schedule)

    def add(self, candidate: Candidate) -> None:
        """Let an edit wait; what several processors want gone is saved once."""
        place = place_of(candidate.edit)
        self.waiting[candidate.stage, place] = candidate
        if isinstance(place, Address | int):
            self._saved.add(place, candidate.step, candidate.tokens)
        if self.first is None or candidate.position < self.first.position:
            self.first = candidate
        self._newest_step = max(self._newest_step, candidate.step)

    @property
    def saves(self) -> int:
        """Tokens that all that waits would save."""
        return self._saved.total

    def take_before(self, position: int) -> list[Candidate]:
        """Return the edits before a position, which wait here no longer; the others begin to wait anew."""
        waiting = list(self.waiting.values())
        self._forget()
        for each in waiting:
            if each.position >= position:
                self.add(each)
        return [each for each in waiting if each.position < position]

    def stepped(self, at: Standpoint, price: Price) -> None:
        """Count a request that was sent with what is stale."""
        self._steps += bool(self.waiting)
        self._carried += carried_tokens(price, at.weights.total - at.new + at.beside, at.new, self._saved.total)

    def meter(self) -> tuple[int, float]:
        """Return for how many steps it has waited, and what was carried meanwhile."""
        return self._steps, self._carried

    def settle(self, settled: Settled) -> None:
        """Let what waits have waited for as long as the view says in which it was left."""
        if (found := settled.get(min(self.stages))) is not None:
            self._steps, self._carried = found
            self.restarted = True

    def due(self, at: Standpoint) -> list[Candidate]:
        """Return what is to be done now, in the order of the chain and of the history; nothing while it waits."""
        if self.first is None or not is_due(self.schedule, self._load(at, self.first)):
            return []
        found = sorted(self.waiting.values(), key=lambda each: (each.stage, each.position))
        self._forget()
        return found

    def _load(self, at: Standpoint, first: Candidate) -> Load:
        behind = at.weights.total - at.weights.upto(first.position)
        return Load(
            steps=self._steps,
            total_tokens=at.weights.total + at.beside,
            stale_tokens=self._saved.total,
            rewritten_tokens=0 if at.cold else max(0, behind - self._saved.total - at.new),
            added_tokens=behind / max(1, at.step - first.step + 1),
            removed_tokens=self._saved.total / max(1, self._saved.places),
            carried=self._carried,
            kept=max(1, at.step - self._newest_step),
            spent=at.spent,
            prices=at.prices,
            cold=at.cold,
        )

    def _forget(self) -> None:
        self.waiting, self._saved, self.first = {}, Saved(), None
        self._carried, self._steps, self._newest_step, self.restarted = 0, 0, 0, False


Settled: TypeAlias = Mapping[int, tuple[int, float]]
"""For how many steps what was left waits since then, and what was carried meanwhile; by the first stage of a batch."""

Place: TypeAlias = Address | int | Edit
"""What an edit changes or leaves out: a part, or a step; or the edit itself where it does neither."""


def place_of(edit: Edit) -> Place:
    """Return where an edit is made."""
    match edit:
        case Replace(address=address):
            return address
        case Drop(step=step):
            return step
        case _:
            return edit
