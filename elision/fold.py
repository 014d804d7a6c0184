"""The fold: decisions(t) = fold(step t, decisions(t-1)).

Each segment (a complete step, or one message outside steps) enters once, through all processors in the order of the
chain.  So a session and a fresh process that sees the whole history at once come to the same decisions.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from elision.batch import Candidate
from elision.edits import Edit, Replace, Template, length
from elision.guard import can_come_back
from elision.history import Address, History, Segment, Text, plain
from elision.hostside import HostSide
from elision.moment import Memory, Moment, Request, whole
from elision.originals import Originals
from elision.outgoing import Outgoing
from elision.overlay import Overlay, Version
from elision.parts import Observation
from elision.processor import Processor, Stage
from elision.question import Decisions, Question
from elision.report import Pending
from elision.schedule import Schedule
from elision.scheduler import Scheduler
from elision.standing import Standing
from elision.view import View

if TYPE_CHECKING:
    from elision.classification import Table


MOST_OWED = 20
"""Most edits that are proposed again at once while the archive fails: a run must go on at its pace."""


class Fold:
    """Decisions over one growing history."""

    def __init__(
        self,
        processors: Sequence[Processor],
        history: History,
        *,
        on_error: str,
        table: Table | None,
        originals: Originals,
        schedule: Schedule,
    ) -> None:
        self.processors = processors
        self.history = history
        self.on_error = on_error
        self.originals = originals
        self.standing = Standing(history, table)
        self.unreachable: dict[Address, None] = {}
        self.overlay = Overlay()
        self.decisions = Decisions()
        self.scheduler = Scheduler(processors, schedule, history, self.overlay)
        self._stages = [processor.runs_at for processor in processors]
        self._memories = [Memory() for _ in processors]
        self._ways: tuple[frozenset[str] | None, str] | None = None
        self._called: set[str] = set()
        self._shortened: dict[str, dict[Address, None]] = {}
        self._done = 0
        self._steps = 0
        self._observations = 0

    def advance(self, request: Request) -> None:
        """Take in the segments that have become complete."""
        self.originals.begin()
        self._choose_ways_back(request)
        self._propose_again(request)
        segments, ready = self.history.segments, self.history.ready()
        for segment in segments[self._done : ready]:
            self._enter(segment, request)
        self._done = ready

    def for_request(self, sent: Outgoing, request: Request) -> Decisions:
        """Ask the ``request`` processors; what they decide is good for this request only.

        So is what the ``entry`` processors make of a last step that still waits for results: it enters for good when
        it is complete.
        """
        decisions, history = Decisions(), sent.history
        standing = self.standing if history is self.history else Standing(history, self.standing.table)
        moment = whole(history)
        host = HostSide(sent.dialect, history, sent.rendered)
        waiting = self._done < len(self.history.segments)
        newest = history.segments[-1] if waiting else None
        questions: list[tuple[Stage, tuple[int, int]]] = [("request", (0, len(history)))]
        if newest is not None:
            questions.insert(0, ("entry", (newest.start, newest.stop)))
        for stage, window in questions:
            for index, processor in enumerate(self.processors):
                if self._stages[index] == stage:
                    view = View(
                        history,
                        sent.overlay,
                        moment,
                        stage=None,
                        window=window,
                        request=request,
                        host=host,
                        standing=standing,
                        originals=self.originals,
                    )
                    Question(processor, index, stage, view, decisions, on_error=self.on_error).ask()
        return decisions

    def _propose_again(self, request: Request) -> None:
        """Propose what was taken back when the archive failed, in the same order."""
        originals = self.originals
        most = MOST_OWED if originals.failing else len(originals.owed)
        owed, originals.owed = originals.owed[:most], originals.owed[most:]
        moment = Moment(self._reached(), self._steps, self._observations, self._observations)
        for index, edit in owed:
            view = self._view(moment, index, (0, moment.stop), self._memories[index], request)
            question = Question(
                self.processors[index], index, self._stages[index], view, self.decisions, on_error=self.on_error
            )
            self._note_changes(index, question.decide(edit), request)
        originals.again = len(originals.taken)

    def _reached(self) -> int:
        return self.history.segments[self._done - 1].stop if self._done else 0

    def settle(self) -> bool:
        """Archive what has been taken, and let it stand; ``False`` where it had to be taken back."""
        return self.originals.put()

    def unreachable_calls(self) -> tuple[Pending, ...]:
        """Return the calls whose placeholders nothing in the request can read back."""
        found = [self.history.paired[address] for address in self.unreachable]
        return tuple(Pending(paired.step, paired.call.id, paired.call.name) for paired in found if paired.call)

    def _choose_ways_back(self, request: Request) -> None:
        """Make placeholders anew when their tools come or go: these lead the prefix, so the cache is cold then.

        One that nothing can read back any longer stays as it is.
        """
        ways, before = (request.offered, request.recall_tool), self._ways
        if ways == before:
            return
        self._ways = ways
        names = self._that_came_or_went(before, request)
        if not names:
            return
        for memory in self._memories:
            for address in [address for address in memory.waiting if self._tool_at(address) in names]:
                del memory.waiting[address]
                memory.deferred[address] = None
        for name in names & self._shortened.keys():
            for address in self._shortened[name]:
                self.unreachable.pop(address, None)
                versions = self.overlay.versions.get(address)
                if versions and versions[-1].template is not None:
                    self._make_anew(address, versions, versions[-1].template, request)

    def _that_came_or_went(self, before: tuple[frozenset[str] | None, str] | None, request: Request) -> frozenset[str]:
        """Return the tools in the history for which there is another way back now."""
        called = frozenset(self._called)
        if before is None or before[0] is None or request.offered is None or before[1] != request.recall_tool:
            return called
        return called & (before[0] ^ request.offered)

    def _tool_at(self, address: Address) -> str:
        paired = self.history.paired[address]
        return paired.call.name if paired.call else ""

    def _make_anew(self, address: Address, versions: list[Version], template: Template, request: Request) -> None:
        paired, last = self.history.paired[address], versions[-1]
        if not can_come_back(paired, request):
            self.unreachable[address] = None
            return
        moment = Moment(len(self.history), self._steps, self._observations, self._observations)
        view = self._view(moment, last.stage - 1, (0, moment.stop), Memory(), request)
        observation = Observation(view, paired)
        text = observation.placeholder(template)
        if len(text) <= length(observation.content) and text != plain(last.content):
            versions[-1] = last._replace(content=(Text(text),))
            self.originals.texts.append(text)
            self.decisions.touched.add(address.position)

    def _view(self, moment: Moment, stage: int, window: tuple[int, int], memory: Memory, request: Request) -> View:
        return View(
            self.history,
            self.overlay,
            moment,
            stage=stage,
            window=window,
            memory=memory,
            request=request,
            standing=self.standing,
            originals=self.originals,
        )

    def _enter(self, segment: Segment, request: Request) -> None:
        moment = self._moment(segment)
        for paired in self.history.observations[moment.earlier_observations : moment.observations]:
            self._called.add(paired.call.name if paired.call else "")
        dirty: dict[int, None] = {}
        for index, processor in enumerate(self.processors):
            stage = self._stages[index]
            if stage == "request":
                continue
            fresh = (segment.start, segment.stop)
            windows = [fresh, *self._windows(dirty, segment)] if stage == "entry" else [(0, segment.stop)]
            for window in windows:
                memory = self._memories[index]
                view = self._view(moment, index, window, memory, request)
                question = Question(processor, index, stage, view, self.decisions, on_error=self.on_error)
                if self.scheduler.schedules(index):
                    self.scheduler.add(index, question.propose(), index, request.model)
                    continue
                changed = question.ask()
                self._note_changes(index, changed, request)
                dirty.update(dict.fromkeys(question.stale))
        for due in self.scheduler.due(segment, request):
            self._make(due, moment, request)

    def _make(self, due: Sequence[Candidate], moment: Moment, request: Request) -> None:
        """Make those edits that processors choose of what is due; placeholders are made anew, as the tools are now."""
        for index in dict.fromkeys(each.stage for each in due):
            view = self._view(moment, index, (0, moment.stop), self._memories[index], request)
            question = Question(
                self.processors[index], index, self._stages[index], view, self.decisions, on_error=self.on_error
            )
            chosen, left = question.choose([each for each in due if each.stage == index])
            for each in chosen:
                self._note_changes(index, question.decide(self._fresh(each.edit, view)), request)
            self.scheduler.wait_on(left)

    @staticmethod
    def _fresh(edit: Edit, view: View) -> Edit:
        if not isinstance(edit, Replace) or edit.template is None or edit.address not in view.history.paired:
            return edit
        observation = Observation(view, view.history.paired[edit.address])
        return replace(edit, content=(Text(observation.placeholder(edit.template)),))

    def _note_changes(self, index: int, positions: Sequence[int], request: Request) -> None:
        """Let a processor, and those after it, know which messages it has changed."""
        self.scheduler.changed(positions, request.model)
        self._memories[index].own.extend(positions)
        for position in positions:
            for part in self.overlay.edited.get(position, ()):
                if (address := Address(position, part)) in self.history.paired:
                    self._shortened.setdefault(self._tool_at(address), {})[address] = None
        for later in self._memories[index + 1 :]:
            later.changed.extend(positions)

    def _moment(self, segment: Segment) -> Moment:
        earlier, observations, steps = self._observations, self.history.observations, self.history.steps
        while self._observations < len(observations) and (
            observations[self._observations].address.position < segment.stop
        ):
            self._observations += 1
        while self._steps < len(steps) and steps[self._steps].start < segment.stop:
            self._steps += 1
        return Moment(segment.stop, self._steps, self._observations, earlier)

    def _windows(self, dirty: Iterable[int], segment: Segment) -> list[tuple[int, int]]:
        """Return the windows of old messages that an earlier processor has just changed under a later one."""
        windows: dict[tuple[int, int], None] = {}
        for position in dirty:
            if position < segment.start:
                step = self.history.step_of[position]
                found = self.history.steps[step] if step is not None else None
                windows[(found.start, found.stop) if found else (position, position + 1)] = None
        return list(windows)
