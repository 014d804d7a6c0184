"""What a wire demands of a history, and what makes one unfit for it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from elision.message import Address


@dataclass(frozen=True, slots=True)
class Wire:
    """What a dialect's wire demands of the order of messages; ``checked`` is off for dialects that are files only.

    ``items_join_steps`` says that one step may have several messages of the assistant: those that follow one another
    without a result or another message between them.  With ``strict_calls`` each call needs an id of its own, and an
    object as its arguments.  One that does not go by ids, but by names and order, has ``pairs_by_id`` off.
    With ``user_first`` the assistant may not begin; with ``thinking_leads`` its thinking may not stand alone.
    """

    checked: bool = True
    items_join_steps: bool = False
    cache_breakpoints: bool = True
    results_in_one_message: bool = False
    refuses_blank_text: bool = False
    system_beside: bool = False
    strict_calls: bool = False
    pairs_by_id: bool = True
    user_first: bool = False
    thinking_leads: bool = False


@dataclass(slots=True)
class Faults:
    """What makes a history unfit for the wire as it stands; filled while messages arrive."""

    orphans: set[Address] = field(default_factory=set)
    late: dict[Address, int] = field(default_factory=dict)
    split: set[int] = field(default_factory=set)
    surrogates: set[int] = field(default_factory=set)
    blanks: set[int] = field(default_factory=set)
    again: dict[Address, Address] = field(default_factory=dict)
    """Those orphans that say something else than the result that their call has, which came earlier; and that one."""
    alone: set[int] = field(default_factory=set)
    """Messages of thinking that nothing of the assistant's follows, where it has to lead to something."""

    def __bool__(self) -> bool:
        return bool(self.orphans or self.late or self.split or self.surrogates or self.blanks or self.alone)

    def cut(self, position: int, steps: int) -> None:
        """Forget what is wrong from a message on, and from a step on."""
        self.orphans = {each for each in self.orphans if each.position < position}
        self.late = {each: step for each, step in self.late.items() if each.position < position}
        self.split = {each for each in self.split if each < steps}
        self.surrogates = {each for each in self.surrogates if each < position}
        self.blanks = {each for each in self.blanks if each < position}
        self.alone = {each for each in self.alone if each < position}
        self.again = {each: first for each, first in self.again.items() if each.position < position}
