"""Running schedules: what waits in each batch, and what the run weighs and has cost so far."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from elision.batch import Batch, Candidate, Standpoint
from elision.edits import Drop, Edit, Replace
from elision.history import History, Segment
from elision.moment import Request
from elision.overlay import Overlay, content_at
from elision.processor import Processor
from elision.schedule import Prices, Schedule
from elision.tokens import count_beside, count_part
from elision.weights import Weights


class Scheduler:
    """The batches of a chain over one growing history; a step costs the same however long the history is."""

    def __init__(self, processors: Sequence[Processor], shared: Schedule, history: History, overlay: Overlay) -> None:
        self._processors = processors
        self._history = history
        self._overlay = overlay
        self._batches = _batches(processors, shared)
        self._of = {index: batch for batch in self._batches for index in batch.stages}
        self._weighs = any(batch.counts_tokens for batch in self._batches) or any(
            type(processors[index]).chosen is not Processor.chosen for index in self._of
        )
        self._weights = Weights(history, overlay)
        self._prices: Prices | None = None
        self._beside: tuple[Any, Any, int] = (None, None, 0)
        self._spent = 0.0
        self._cached = 0
        self._newest = 0
        self._broken: int | None = None

    def schedules(self, index: int) -> bool:
        """Whether the edits of a processor wait."""
        return index in self._of

    def add(self, index: int, edits: Iterable[Edit], stage_view: int, model: str | None) -> None:
        """Let edits wait."""
        for edit in edits:
            position, step = self._place(edit)
            tokens = self._saved(edit, stage_view, model) if self._weighs else 0
            self._of[index].add(Candidate(index, edit, position, step, tokens))

    def changed(self, positions: Iterable[int], model: str | None) -> None:
        """Weigh messages again that edits have changed."""
        if self._weighs:
            before = self._weights.total
            for position in positions:
                self._weights.recount(position, model)
                self._broken = position if self._broken is None else min(self._broken, position)
            self._cached += self._weights.total - before

    def due(self, segment: Segment, request: Request) -> list[list[Candidate]]:
        """Return what is to be done after a segment, batch by batch."""
        if not self._batches:
            return []
        at = self._standpoint(segment, request)
        if segment.step is None:
            return []
        found = []
        for batch in self._batches:
            batch.stepped()
            if due := batch.due(at):
                found.append(due)
        return found

    def wait_on(self, left: Iterable[Candidate]) -> None:
        """Let edits go on waiting that were due and not chosen."""
        for each in left:
            self._of[each.stage].add(each)

    def _standpoint(self, segment: Segment, request: Request) -> Standpoint:
        model, weights = request.model, self._weights
        if self._prices is None:
            self._prices = _prices_of(model) if self._weighs else Prices(1, 1, None)
        if self._weighs:
            weights.advance(segment.stop, model)
            if segment.step is not None:
                self._pay(segment.start, self._prices)
        return Standpoint(
            weights=weights,
            beside=self._count_beside(request) if self._weighs else 0,
            newest=segment.start,
            step=segment.step or 0,
            spent=self._spent,
            prices=self._prices,
        )

    def _pay(self, newest: int, prices: Prices) -> None:
        """Add what this request costs as things stand, and what breaks before the newest step made of the last one."""
        if self._broken is not None:
            rewritten = self._weights.upto(self._newest) - self._weights.upto(self._broken)
            self._spent += (prices.write - prices.read) * max(0, rewritten)
        total = self._weights.total
        self._spent += prices.read * self._cached + prices.write * (total - self._cached)
        self._cached, self._newest, self._broken = total, newest, None

    def _count_beside(self, request: Request) -> int:
        system, tools, tokens = self._beside
        if system is not request.system or tools is not request.tools:
            tokens = count_beside(request.system, request.tools, request.model)
            self._beside = (request.system, request.tools, tokens)
        return tokens

    def _place(self, edit: Edit) -> tuple[int, int]:
        if isinstance(edit, Drop):
            return self._history.steps[edit.step].start, edit.step
        if isinstance(edit, Replace):
            position = edit.address.position
            paired = self._history.paired.get(edit.address)
            return position, paired.step if paired else (self._history.step_of[position] or 0)
        return 0, 0

    def _saved(self, edit: Edit, stage: int, model: str | None) -> int:
        if isinstance(edit, Replace):
            found = content_at(self._history, self._overlay, edit.address, stage)
            before = sum(count_part(part, model) for part in found)
            return before - sum(count_part(part, model) for part in edit.content)
        if isinstance(edit, Drop):
            step = self._history.steps[edit.step]
            return self._weights.upto(step.stop) - self._weights.upto(step.start)
        return 0


def _batches(processors: Sequence[Processor], shared: Schedule) -> list[Batch]:
    """Return a batch for those that keep to the chain's schedule, and one for each that has its own."""
    own = {index: processor.own_schedule for index, processor in enumerate(processors) if processor.waits}
    together = frozenset(index for index, schedule in own.items() if schedule is None)
    alone = [Batch(schedule, frozenset({index})) for index, schedule in own.items() if schedule is not None]
    return [*([Batch(shared, together)] if together else []), *alone]


def _prices_of(model: str | None) -> Prices:
    from elision.profiles import profile_for

    profile = profile_for(model)
    base = profile.prices.base
    return Prices(base.cache_read, base.cache_write, profile.window.input_tokens)
