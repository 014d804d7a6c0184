"""Running schedules: what waits in each batch, and what the run weighs and has cost so far."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from elision.batch import Batch, Candidate, Settled, Standpoint
from elision.binding import Binding
from elision.economics import Price
from elision.edits import Drop, Edit, Insert, Replace
from elision.history import History, Segment
from elision.moment import Request
from elision.overlay import Overlay, content_at
from elision.processor import Processor
from elision.report import Waiting
from elision.schedule import Prices, Schedule, shown
from elision.sizes import Sizes
from elision.tokens import count_parts
from elision.weights import Weights, tokens_at

if TYPE_CHECKING:
    from elision.ledger import Fact


class RunSize(NamedTuple):
    """How long a run is at one step, in tokens; ``settled`` where the view is processed again up to here."""

    messages: int
    beside: int
    window_tokens: int | None
    weights: Weights
    settled: bool


class Scheduler:
    """The batches of a chain over one growing history; a step costs the same however long the history is."""

    def __init__(self, processors: Sequence[Processor], shared: Schedule, history: History, overlay: Overlay) -> None:
        self._processors = processors
        self._history = history
        self._overlay = overlay
        self._batches = _batches(processors, shared)
        self._of = {index: batch for batch in self._batches for index in batch.stages}
        self.weighs = any(batch.counts_tokens for batch in self._batches) or any(
            type(processors[index]).chosen is not Processor.chosen for index in self._of
        )
        """Whether tokens and prices are asked for anything."""
        self._keeps_weights = self.weighs or any(processor.weighs for processor in processors)
        self._weights = Weights(history, overlay)
        self.sizes = Sizes(history, overlay, self._weights)
        """How long requests are, as far as somebody asks."""
        self._fact: Fact | None = None
        self._settled: Settled | None = None
        self._prices, self._price = Prices(1, 1, None), Price(1, 1)
        self._spent = 0.0
        self._cached = 0
        self._newest = 0
        self._broken: int | None = None
        self._held: list[Candidate] = []
        self._floor = -1
        self.weighed = False
        """Whether tokens and prices have decided that something is due now."""
        self._acted = False
        self.held_back: list[Candidate] = []
        """Edits that bound thinking has just begun to hold back."""

    def stand(self, fact: Fact | None, settled: Settled | None = None) -> None:
        """Go by what holds at the next segment; up to where a view is ``settled`` nothing that waits is done."""
        if fact is not None and fact is not self._fact:
            self._prices = Prices(fact.read, fact.write, fact.window_tokens, fact.tiers)
            self._price = Price(fact.read, fact.write, fact.tiers)
        self._fact, self._settled = fact, settled

    @property
    def weighs_at_once(self) -> bool:
        """Whether processors that see the history decide by its size, without a schedule."""
        return any(each.weighs and each.runs_at == "history" for each in self._processors)

    @property
    def redacts_at(self) -> int:
        """The last stage that redacts; -1 where none does."""
        return max((at for at, each in enumerate(self._processors) if each.operation == "redact"), default=-1)

    def size(self, stop: int, model: str | None) -> RunSize:
        """Return how long the run is at a step, whose messages, up to ``stop``, may not have been weighed yet."""
        weights = self._weights
        fresh = range(weights.stop, stop)
        total = weights.total + sum(tokens_at(self._history, self._overlay, each, model) for each in fresh)
        beside = self._fact.beside if self._fact is not None else 0
        return RunSize(total, beside, self._prices.window_tokens, weights, self._settled is not None)

    def act(self) -> None:
        """Note that a processor which weighs has acted."""
        self._acted = True

    def acted(self) -> bool:
        """Say whether one has, since this was last asked."""
        found, self._acted = self._acted, False
        self.weighed = self.weighed or found
        return found

    def schedules(self, index: int) -> bool:
        """Whether the edits of a processor wait."""
        return index in self._of

    def add(self, index: int, edit: Edit, tokens: int) -> None:
        """Let an edit wait that saves so many tokens."""
        position, step = self._place(edit)
        self._of[index].add(Candidate(index, edit, position, step, tokens))

    def changed(self, positions: Iterable[int], model: str | None) -> None:
        """Weigh messages again that edits have changed."""
        if self._keeps_weights:
            self.sizes.changed(positions, model)
            before = self._weights.total
            for position in positions:
                self._weights.recount(position, model)
                self._broken = position if self._broken is None else min(self._broken, position)
            self._cached += self._weights.total - before

    def due(self, segment: Segment, request: Request, binding: Binding) -> list[list[Candidate]]:
        """Return what is to be done after a segment, batch by batch.

        After a step, and where bound thinking may go, after the message of the user that ends the turn.
        """
        if not self._batches:
            if self._keeps_weights:
                self._weights.advance(segment.stop, request.model)
            return []
        self._hold_back(binding.floor)
        if segment.step is None and not binding.closed:
            return []
        at = self._standpoint(segment, request, binding)
        found, self.weighed = [], False
        for batch in self._batches:
            if segment.step is not None:
                batch.stepped(at, self._price)
            if self._settled is not None:
                batch.settle(self._settled)
            elif batch.first is not None and binding.lets(batch.first.position) and (due := batch.due(at)):
                found.append(due)
                self.weighed = self.weighed or batch.counts_tokens
        return found

    def waiting(self) -> tuple[Waiting, ...]:
        """Return how many edits wait, by schedule."""
        return tuple(
            Waiting(shown(batch.schedule), len(batch.waiting), batch.saves) for batch in self._batches if batch.waiting
        )

    @property
    def restarted(self) -> bool:
        """Whether anything that waits was due before, and was left then."""
        return any(batch.restarted and batch.waiting for batch in self._batches)

    def left(self) -> Settled:
        """Return for how long what waits has waited since its batch was last due, by batch."""
        return {min(batch.stages): batch.meter() for batch in self._batches if batch.waiting}

    def _hold_back(self, floor: int) -> None:
        """Let edits before ``floor`` wait beside their batches, and those that no longer are before it in them."""
        if floor < self._floor:
            held, self._held = self._held, []
            for each in held:
                if each.position < floor:
                    self._held.append(each)
                else:
                    self._of[each.stage].add(each)
        self._floor = floor
        for batch in self._batches:
            if batch.first is not None and batch.first.position < floor:
                self.held_back += batch.take_before(floor)
        self._held += self.held_back

    def wait_on(self, left: Iterable[Candidate]) -> None:
        """Let edits go on waiting that were due and not chosen."""
        for each in left:
            self._of[each.stage].add(each)
            self._of[each.stage].restarted = True

    def _standpoint(self, segment: Segment, request: Request, binding: Binding) -> Standpoint:
        weights, fact = self._weights, self._fact
        cold, beside = (fact.cold and segment.step is not None, fact.beside) if fact is not None else (False, 0)
        if self._keeps_weights:
            weights.advance(segment.stop, request.model)
        if self.weighs and segment.step is not None:
            self._pay(segment.start, self._priced(beside), cold=cold)
        return Standpoint(
            weights=weights,
            beside=beside,
            new=weights.total - weights.upto(segment.start),
            step=max(0, binding.newest_step),
            spent=self._spent,
            prices=self._prices,
            cold=cold,
        )

    def _priced(self, beside: int) -> Price:
        """Return the prices of the request that is weighed."""
        factor = self._price.factor(self._weights.total + beside)
        return self._price if factor == 1 else Price(factor * self._price.read, factor * self._price.write)

    def _pay(self, newest: int, prices: Price, *, cold: bool) -> None:
        """Add what this request costs as things stand, and what breaks before the newest step made of the last one."""
        if cold:
            self._cached = 0
        elif self._broken is not None:
            rewritten = self._weights.upto(self._newest) - self._weights.upto(self._broken)
            self._spent += (prices.write - prices.read) * max(0, rewritten)
        total = self._weights.total
        self._spent += prices.read * self._cached + prices.write * (total - self._cached)
        self._cached, self._newest, self._broken = total, newest, None

    def _place(self, edit: Edit) -> tuple[int, int]:
        if isinstance(edit, Drop):
            return self._history.steps[edit.step].start, edit.step
        if isinstance(edit, Replace):
            position = edit.address.position
            paired = self._history.paired.get(edit.address)
            return position, paired.step if paired else (self._history.step_of[position] or 0)
        return edit.position if isinstance(edit, Insert) else 0, 0

    def saved(self, edit: Edit, stage: int, model: str | None) -> int:
        """Return the tokens that an edit saves; none where they are not asked for."""
        if self.weighs and isinstance(edit, Replace):
            return self._found(edit, stage, model) - count_parts(edit.content, model)
        if self.weighs and isinstance(edit, Drop):
            step = self._history.steps[edit.step]
            return self._weights.upto(step.stop) - self._weights.upto(step.start)
        return 0

    def _found(self, edit: Replace, stage: int, model: str | None) -> int:
        """Return the tokens of what an edit replaces; they are known where the message is nothing else."""
        address = edit.address
        alone = len(self._history.messages[address.position].parts) == 1 and address not in self._overlay.versions
        known = self._weights.of(address.position) if alone else None
        if known is None:
            known = count_parts(content_at(self._history, self._overlay, address, stage), model)
        return known


def _batches(processors: Sequence[Processor], shared: Schedule) -> list[Batch]:
    """Return a batch for those that keep to the chain's schedule, and one for each that has its own."""
    own = {index: processor.own_schedule for index, processor in enumerate(processors) if processor.waits}
    together = frozenset(index for index, schedule in own.items() if schedule is None)
    alone = [Batch(schedule, frozenset({index})) for index, schedule in own.items() if schedule is not None]
    return [*([Batch(shared, together)] if together else []), *alone]
