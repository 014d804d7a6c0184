"""Thinking that is bound to all that stands before it: where it still stands, and what an edit would break."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from elision.edits import Drop, Edit, Insert, Replace
from elision.history import History, Segment, Step
from elision.message import Address, Thinking
from elision.moment import OnBoundThinking, Request

if TYPE_CHECKING:
    from elision.overlay import Overlay
    from elision.processor import Stage

BOUND = "bound_to_prefix"
"""The thinking rule of models that check what stands before their thinking."""


@dataclass(slots=True)
class Told:
    """What has come of edits that bound thinking stood behind in one run.

    ``broken``: one stands, which the provider has to know; ``deferred``: one was not made; ``error``: one that was not
    to be proposed.  ``bound`` says whether there is such thinking in the newest request, ``binds`` whether its model
    binds any, ``lasting`` has the edits that last.
    """

    lasting: Binding | None = None
    bound: bool = False
    binds: bool | None = None
    broken: bool = False
    deferred: bool = False
    error: str = ""


class Binding:
    """The thinking of one growing history, as far as it stands in the view; each message is looked at once.

    ``bound`` says that the model binds it to what stands before it, ``closed`` that it may go now: no turn is open.
    """

    def __init__(self, history: History, overlay: Overlay, told: Told | None = None) -> None:
        self.told = told or Told(lasting=self)
        self.newest_step = -1
        self.closed = False
        self.policy: OnBoundThinking = "defer"
        self._history = history
        self._overlay = overlay
        self._standing: list[int] = []
        self._gone_before = 0
        self._taken_in = 0
        self._open: dict[int, Step] = {}
        self._newest = 0
        self._known: tuple[str | None, bool] | None = None

    @property
    def bound(self) -> bool:
        """Whether the model of the newest request binds thinking that came in to what stands before it."""
        return self.told.bound

    def enter(self, segment: Segment, steps: int, request: Request) -> None:
        """Take in a segment, the last of so many steps."""
        self.look(segment.start, segment.stop, request)
        self.newest_step = steps - 1
        step = None if segment.step is None else self._history.steps[segment.step]
        if step is not None and step.open_at(segment.stop):
            self._open[step.index] = step
        self.closed = self.told.bound and self.policy == "drop_thinking" and self._ends_turn(segment, steps)

    def look(self, newest: int, stop: int, request: Request) -> None:
        """Take in the thinking before ``stop``; ``newest`` is where what has just come in begins."""
        thinking = self._history.thinking
        while self._taken_in < len(thinking) and thinking[self._taken_in] < stop:
            self._standing.append(thinking[self._taken_in])
            self._taken_in += 1
        self._newest, self.closed, self.policy = newest, False, request.on_bound_thinking
        told, binds = self.told, self._binds(request.model)
        told.bound = self._taken_in > 0 and binds
        if binds and told.binds is False and self.policy == "request_drop_block":
            told.broken = told.broken or (told.lasting or self).is_edited_before_thinking()
        told.binds = binds

    def is_edited_before_thinking(self) -> bool:
        """Whether anything was edited before thinking that stands, while the model did not bind it."""
        last, overlay = self.last(), self._overlay
        edited = {address.position for address in overlay.versions}
        edited |= {self._history.steps[step].start for step in overlay.dropped}
        return last is not None and any(position < last.position for position in edited)

    def again(self) -> None:
        """Look again for what stands: edits have been taken back."""
        self._standing, self._gone_before = self._history.thinking[: self._taken_in], 0

    def first(self) -> Address | None:
        """Return the first thinking that stands."""
        standing = self._standing
        while self._gone_before < len(standing):
            if found := self.standing_in(standing[self._gone_before]):
                return found[0]
            self._gone_before += 1
        return None

    def last(self) -> Address | None:
        """Return the last thinking that stands."""
        standing = self._standing
        while len(standing) > self._gone_before:
            if found := self.standing_in(standing[-1]):
                return found[-1]
            standing.pop()
        return None

    def standing_in(self, position: int) -> list[Address]:
        """Return the thinking that stands in one message."""
        if self._overlay.is_dropped(self._history.step_of[position]):
            return []
        parts = self._history.messages[position].parts
        found = [Address(position, index) for index, part in enumerate(parts) if isinstance(part, Thinking)]
        versions = [(address, self._overlay.version(address)) for address in found]
        return [address for address, version in versions if version is None or version.content]

    def behind(self, edit: Edit) -> list[Address]:
        """Return the thinking behind an edit, the last first."""
        place, found = self._place(edit), list[Address]()
        for index in range(len(self._standing) - 1, self._gone_before - 1, -1):
            if place is None or self._standing[index] < place.position:
                break
            found += [each for each in reversed(self.standing_in(self._standing[index])) if each > place]
        return found

    def would_break(self, edit: Edit, stage: Stage) -> bool:
        """Whether an edit changes what thinking that stands is bound to.

        That of a ``request`` processor is not remembered, so that thinking of the next answer is bound to it, too.
        """
        place = self._place(edit) if self.bound else None
        if place is None or (stage == "entry" and place.position >= self._newest):
            return False
        last = self.last()
        return last is not None and (stage == "request" or last > place)

    @property
    def floor(self) -> int:
        """The position before which edits wait for good; -1 where they need not."""
        last = self.last() if self.told.bound and self.policy == "defer" else None
        return -1 if last is None else last.position

    def lets(self, position: int) -> bool:
        """Whether edits from a position on need not wait for the end of the turn."""
        if not self.told.bound or self.closed or self.policy != "drop_thinking":
            return True
        last = self.last()
        return last is None or last.position <= position

    def _place(self, edit: Edit) -> Address | None:
        """Return the place from which on thinking is bound to what an edit changes; nothing where none is."""
        match edit:
            case Replace(address=address):
                messages = self._history.messages
                return None if isinstance(messages[address.position].parts[address.part], Thinking) else address
            case Drop(step=step):
                return Address(self._history.steps[step].stop, -1)
            case Insert(position=position, replaces=replaces):
                gone = [self._overlay.keyed[key].position for key in replaces if key in self._overlay.keyed]
                return Address(min(position, *gone, position), -1)
            case _:
                return None

    def _ends_turn(self, segment: Segment, steps: int) -> bool:
        """Whether the user has answered a step without calls, and no call is open."""
        history = self._history
        answered = segment.step is None and history.messages[segment.start].role == "user"
        if not answered or not steps or history.steps[steps - 1].calls:
            return False
        for step in list(self._open.values()):
            if step.open_at(segment.stop):
                return False
            del self._open[step.index]
        return True

    def _binds(self, model: str | None) -> bool:
        if self._known is None or self._known[0] != model:
            self._known = (model, binds_thinking(model))
        return self._known[1]


def binds_thinking(model: str | None) -> bool:
    """Whether a model binds its thinking to what stands before it."""
    from elision.profiles.resolving import profile_for

    return profile_for(model).thinking.rule == BOUND
