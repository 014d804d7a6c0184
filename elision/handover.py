"""Handing a request over: its provider then manages the context, and nothing is removed here (guard rule 11)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from elision.moment import Request
from elision.protected import can_be_protected, protecting_classes
from elision.standing import annotations_of

if TYPE_CHECKING:
    from elision.classification import Table
    from elision.processor import Processor

Offer = Literal["clear_tool_uses", "clear_thinking", "compact"]

ANY_DIALECT = "auto"


class Handover(NamedTuple):
    """Whether a processor leaves a request's context to the provider; ``problem`` is what it may not leave to it."""

    active: bool = False
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Target:
    """Where requests go, and the table that protects what is in them.

    The dialect is ``auto`` where it is not known yet; ``tools`` are the definitions that the request has, ``offered``
    their names, ``None`` where that is not known.
    """

    model: str | None
    dialect: str
    table: Table | None
    tools: Any = None
    offered: frozenset[str] | None = None

    def offers(self, what: Offer) -> bool:
        """Whether the provider does this itself when a request of this dialect asks it to."""
        from elision.profiles import profile_for

        dialects = getattr(profile_for(self.model).native, what)
        return bool(dialects) if self.dialect == ANY_DIALECT else self.dialect in dialects

    def protected(self, operation: str) -> tuple[str, ...]:
        """Return the classes of the table that an operation may not touch, or only under a condition."""
        return protecting_classes(self.table, operation)

    def unprotected_tools(self, operation: str) -> frozenset[str]:
        """Return those of the offered tools of which, as far as their names tell, every result may be touched."""
        offered, table = self.offered or frozenset(), self.table
        if table is None:
            return offered
        told = annotations_of(self.tools)
        return frozenset(name for name in offered if not can_be_protected(table, name, told.get(name), operation))


def handed_over(request: Request, processors: Iterable[Processor], table: Table | None) -> tuple[Request, list[str]]:
    """Say who manages the context of a request, and what may not be handed over."""
    givers = [processor for processor in processors if request.may_hand_over and can_hand_over(processor)]
    if not givers:
        return request, []
    target = Target(request.model, request.dialect, table, request.tools, request.offered)
    found = [(each.type_name, each.handover(target)) for each in givers]
    problems = [f"{name} {handover.problem}" for name, handover in found if handover.problem]
    active = any(handover.active for _, handover in found)
    return replace(request, owner="provider" if active else "elision", handed_over=active), problems


def problems_of(processors: Iterable[Processor], target: Target) -> list[tuple[int, str]]:
    """Return what processors would hand over and may not, by their index; nothing where no model is named."""
    if target.model is None:
        return []
    return [
        (index, f"{processor.type_name} {problem}")
        for index, processor in enumerate(processors)
        if can_hand_over(processor) and (problem := processor.handover(target).problem)
    ]


def can_hand_over(processor: Processor) -> bool:
    """Whether a processor may leave the context of requests to their provider."""
    from elision.processor import Processor

    return type(processor).handover is not Processor.handover
