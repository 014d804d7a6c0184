"""The fold: decisions(t) = fold(step t, decisions(t-1)).

Each segment (a complete step, or one message outside steps) enters once, through all processors in the order of the
chain.  So a session and a fresh process that sees the whole history at once come to the same decisions.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from elision.history import History, Segment
from elision.hostside import HostSide
from elision.moment import Memory, Moment, Request
from elision.outgoing import Outgoing
from elision.overlay import Overlay
from elision.processor import Processor, Stage
from elision.question import Decisions, Question
from elision.view import View


class Fold:
    """Decisions over one growing history."""

    def __init__(self, processors: Sequence[Processor], history: History, on_error: str) -> None:
        self.processors = processors
        self.history = history
        self.on_error = on_error
        self.overlay = Overlay()
        self.decisions = Decisions()
        self._stages = [processor.runs_at for processor in processors]
        self._memories = [Memory() for _ in processors]
        self._done = 0
        self._steps = 0
        self._observations = 0

    def advance(self, request: Request) -> None:
        """Take in the segments that have become complete."""
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
        count = len(history.observations)
        moment = Moment(len(history), len(history.steps), count, count)
        host = HostSide(sent.dialect, history, sent.rendered)
        waiting = self._done < len(self.history.segments)
        newest = history.segments[-1] if waiting else None
        questions: list[tuple[Stage, tuple[int, int]]] = [("request", (0, len(history)))]
        if newest is not None:
            questions.insert(0, ("entry", (newest.start, newest.stop)))
        for stage, window in questions:
            for index, processor in enumerate(self.processors):
                if self._stages[index] == stage:
                    view = View(history, sent.overlay, moment, stage=None, window=window, request=request, host=host)
                    Question(processor, index, stage, view, decisions, on_error=self.on_error).ask()
        return decisions

    def _enter(self, segment: Segment, request: Request) -> None:
        moment = self._moment(segment)
        dirty: dict[int, None] = {}
        for index, processor in enumerate(self.processors):
            stage = self._stages[index]
            if stage == "request":
                continue
            fresh = (segment.start, segment.stop)
            windows = [fresh, *self._windows(dirty, segment)] if stage == "entry" else [(0, segment.stop)]
            for window in windows:
                memory = self._memories[index]
                view = View(
                    self.history, self.overlay, moment, stage=index, window=window, memory=memory, request=request
                )
                question = Question(processor, index, stage, view, self.decisions, on_error=self.on_error)
                changed = question.ask()
                memory.own.extend(changed)
                for later in self._memories[index + 1 :]:
                    later.changed.extend(changed)
                dirty.update(dict.fromkeys(question.stale))

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
