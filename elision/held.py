"""Edits that wait for the end of a turn: thinking stands behind them that goes only then."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from elision.edits import Edit
from elision.message import Piece

if TYPE_CHECKING:
    from elision.question import Question

Place: TypeAlias = tuple[int, int, str]


class Held(NamedTuple):
    """An edit, the place of its processor in the chain, and the content that it was made from."""

    stage: int
    edit: Edit
    found: tuple[Piece, ...]


class HeldEdits:
    """What waits, the newest for each place."""

    def __init__(self) -> None:
        self._held: dict[tuple[int, Place], Held] = {}

    def keep(self, question: Question) -> None:
        """Let wait what a processor was refused until the turn is over."""
        for edit in question.held:
            self._held[question.index, question.place_of(edit)] = Held(question.index, edit, question.found(edit))
        question.held.clear()

    def taken(self) -> Iterator[Held]:
        """Take all out, in the order of the chain and of the history."""
        held, self._held = self._held, {}
        for place in sorted(held):
            yield held[place]
