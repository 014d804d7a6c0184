"""The fold: decisions(t) = fold(step t, decisions(t-1)).

Each segment (a complete step, or one message outside steps) enters once, through all processors in the order of the
chain.  So a session and a fresh process that sees the whole history at once come to the same decisions.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from elision.compat import SWEAGENT, SWEAGENT_TYPES
from elision.edits import CacheBreakpoint, Drop, Edit, Insert, Remove, Replace, Tag
from elision.errors import ProcessorError
from elision.hostside import HostSide
from elision.guard import Case, Rule, first_refusal
from elision.history import Address, History, Segment, plain
from elision.overlay import Overlay, content_at
from elision.processor import Processor, Stage
from elision.registry import plugins
from elision.report import AppliedEdit, Failure, Refusal
from elision.view import Memory, Moment, Request, View


@dataclass(slots=True)
class Decisions:
    """What has been decided, as it is reported; each entry once."""

    edits: list[AppliedEdit] = field(default_factory=list)
    refusals: dict[tuple[str, int, int | None, str], Refusal] = field(default_factory=dict)
    failures: dict[tuple[str, str], Failure] = field(default_factory=dict)
    touched: set[int] = field(default_factory=set)


class Fold:
    """Decisions over one growing history."""

    def __init__(self, processors: Sequence[Processor], history: History, on_error: str) -> None:
        self.processors = processors
        self.history = history
        self.on_error = on_error
        self.overlay = Overlay()
        self.decisions = Decisions()
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

    def for_request(self, request: Request, host: HostSide) -> tuple[Overlay, Decisions]:
        """Ask the ``request`` processors; what they decide is good for this request only."""
        overlay, decisions = Overlay(parent=self.overlay), Decisions()
        history = self.history
        count = len(history.observations)
        moment = Moment(len(history), len(history.steps), count, count)
        for index, processor in enumerate(self.processors):
            if processor.runs_at == "request":
                view = View(
                    history, overlay, moment, stage=None, window=(0, len(history)), request=request, host=host
                )
                _Question(processor, index, "request", view, decisions, self.on_error).ask()
        return overlay, decisions

    def _enter(self, segment: Segment, request: Request) -> None:
        moment = self._moment(segment)
        dirty: dict[int, None] = {}
        for index, processor in enumerate(self.processors):
            stage = processor.runs_at
            if stage == "entry":
                windows = [(segment.start, segment.stop), *self._windows(dirty, segment)]
            elif stage == "history" and processor.fires(moment):
                windows = [(0, segment.stop)]
            else:
                continue
            for window in windows:
                memory = self._memories[index]
                view = View(
                    self.history, self.overlay, moment, stage=index, window=window, memory=memory, request=request
                )
                question = _Question(processor, index, stage, view, self.decisions, self.on_error)
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


class _Question:
    """One processor asked once: its edits, judged one by one."""

    def __init__(
        self, processor: Processor, index: int, stage: Stage, view: View, decisions: Decisions, on_error: str
    ) -> None:
        self.processor = processor
        self.index = index
        self.stage: Stage = stage
        self.view = view
        self.decisions = decisions
        self.on_error = on_error
        self.stale: list[int] = []

    def ask(self) -> list[int]:
        """Ask for edits and take in those that the guard lets pass; return the positions whose content changed."""
        bookmark = self.view.memory.bookmark()
        try:
            edits = _checked(self.processor.plan(self.view))
        except Exception as error:
            self._failed(error)
            self.view.memory.rewind(bookmark)
            return []
        return [position for edit in edits if (position := self._decide(edit)) is not None]

    def _decide(self, edit: Edit) -> int | None:
        view = self.view
        if self._changes_nothing(edit):
            return None
        case = Case(
            edit=edit,
            processor=self.processor,
            stage=self.stage,
            index=view.stage,
            history=view.history,
            overlay=view.overlay,
            stop=view.moment.stop,
            newest_step=view.moment.newest_step,
            window=view.window,
            sweagent=view.compat == SWEAGENT and self.processor.type_name in SWEAGENT_TYPES,
        )
        refused = first_refusal(case)
        if refused is not None:
            rule, why = refused
            if not why.lasting and isinstance(edit, Replace):
                view.memory.deferred[edit.address] = None
            self._refuse(edit, rule, why.reason)
            return None
        return self._apply(edit)

    def _apply(self, edit: Edit) -> int | None:
        view = self.view
        applied = self._applied(edit)
        if view.overlay.apply(edit, self.index) and isinstance(edit, Replace):
            self.stale.append(edit.address.position)
        self.decisions.edits.append(applied)
        plugins().hook.elision_edit_applied(edit=applied)
        if isinstance(edit, Replace | Tag):
            self.decisions.touched.add(edit.address.position)
        return edit.address.position if isinstance(edit, Replace) else None

    def _changes_nothing(self, edit: Edit) -> bool:
        history, overlay = self.view.history, self.view.overlay
        match edit:
            case Replace(address=address):
                if not 0 <= address.position < len(history) or not 0 <= address.part < len(
                    history.messages[address.position].parts
                ):
                    return False
                return overlay.elided(address) or edit.content == content_at(
                    history, overlay, address, self.view.stage
                )
            case Drop(step=step):
                return overlay.is_dropped(step)
            case Tag(address=address, tags=tags) if address in history.paired:
                return tags <= overlay.tags_of(address, history.messages[address.position])
            case CacheBreakpoint(position=position, on=False) if 0 <= position < len(history):
                return not history.messages[position].marks
        return False

    def _applied(self, edit: Edit) -> AppliedEdit:
        position, part, call_id, tool = self._place(edit)
        before = after = 0
        reason, elides = edit.reason, False
        if isinstance(edit, Replace):
            found = content_at(self.view.history, self.view.overlay, edit.address, self.view.stage)
            before, after, elides = len(plain(found)), len(plain(edit.content)), edit.elides
        elif isinstance(edit, Insert):
            after = len(edit.text)
        return AppliedEdit(
            self.processor.type_name,
            _action(edit),
            self.processor.operation,
            position,
            part,
            call_id,
            tool,
            before,
            after,
            reason,
            elides,
        )

    def _refuse(self, edit: Edit, rule: Rule, reason: str) -> None:
        position, part, call_id, _ = self._place(edit)
        key = (self.processor.type_name, position, part, rule.name)
        if key not in self.decisions.refusals:
            refusal = Refusal(self.processor.type_name, _action(edit), position, part, call_id, rule.name, reason)
            self.decisions.refusals[key] = refusal
            plugins().hook.elision_edit_refused(refusal=refusal, rule=rule)

    def _place(self, edit: Edit) -> tuple[int, int | None, str, str]:
        history = self.view.history
        match edit:
            case Replace(address=address) | Tag(address=address):
                paired = history.paired.get(Address(*address))
                call = paired.call if paired else None
                return address.position, address.part, call.id if call else "", call.name if call else ""
            case Drop(step=step):
                return (history.steps[step].start if 0 <= step < len(history.steps) else -1), None, "", ""
            case Insert(position=position) | CacheBreakpoint(position=position) | Remove(position=position):
                return position, None, "", ""

    def _failed(self, error: Exception) -> None:
        name = self.processor.type_name
        told = f"{type(error).__name__}: {error}"
        if self.on_error == "raise":
            raise ProcessorError(
                f"history_processors[{self.index}] ({name}): it raised {told}; "
                "mend the processor, or set on_error: skip to send the request without its edits"
            ) from error
        self.decisions.failures.setdefault((name, told), Failure(name, told))


def _checked(planned: Any) -> list[Edit]:
    edits = list(planned or ())
    for edit in edits:
        if not isinstance(edit, Edit):
            raise TypeError(f"plan gave a {type(edit).__name__}; it gives edits, made with the view's builders")
    return edits


def _action(edit: Edit) -> str:
    match edit:
        case Replace(elides=True):
            return "elide"
        case CacheBreakpoint(on=on):
            return "set_cache_breakpoint" if on else "clear_cache_breakpoint"
        case _:
            return type(edit).__name__.lower()
