"""What a rule of the guard looks at, and what it may answer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple, Self, TypeAlias

from elision.edits import Drop, Edit, Replace
from elision.history import History, Paired
from elision.message import Address, Piece
from elision.overlay import Overlay, content_at
from elision.pairing import result_of
from elision.processor import Processor, Stage

if TYPE_CHECKING:
    from elision.view import View

Until: TypeAlias = Literal["never", "later", "changed", "turn"]
"""When an edit that was refused can pass: ``later`` when its step is no longer open or the newest, ``changed`` when
what is known of its result (or the request's tools) has changed, ``turn`` when the turn is over."""


class Why(NamedTuple):
    """Why an edit is refused, and until when."""

    reason: str
    until: Until = "never"


@dataclass(frozen=True, slots=True)
class Case:
    """What a rule may look at: the edit, who proposed it, and the view that they had."""

    edit: Edit
    processor: Processor
    stage: Stage
    view: View
    sweagent: bool
    history: History
    overlay: Overlay
    """What has been decided so far."""
    stop: int
    """How many messages there were."""
    newest_step: int
    """The step that the model has not answered."""
    known: dict[Address, tuple[Piece, ...]]
    """What has been looked up of it."""

    @classmethod
    def of(cls, edit: Edit, processor: Processor, stage: Stage, view: View, *, sweagent: bool) -> Self:
        """Return the case of an edit that is proposed for a view."""
        moment = view.moment
        return cls(
            edit, processor, stage, view, sweagent, view.history, view.overlay, moment.stop, moment.newest_step, {}
        )


Check: TypeAlias = Callable[[Case], Why | None]


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule of the guard, about edits of some kinds, or of all."""

    number: int
    name: str
    check: Check
    about: tuple[type[Edit], ...] = ()


def results_of(history: History, edit: Edit) -> list[Paired]:
    """Return the results that an edit changes or leaves out; of an edit of a call, the call's result."""
    match edit:
        case Replace(address=address) if address in history.paired:
            return [history.paired[address]]
        case Replace(address=address) if 0 <= address.position < len(history):
            found = result_of(history, address)
            return [] if found is None else [found]
        case Drop(step=step):
            return [history.paired[address] for address in history.steps[step].results if address is not None]
        case _:
            return []


def found_at(case: Case, address: Address) -> tuple[Piece, ...]:
    """Return the content that the processor found at ``address``."""
    found = case.known.get(address)
    if found is None:
        found = case.known[address] = content_at(case.history, case.overlay, address, case.view.stage)
    return found
