"""The history: messages made of parts, grouped into steps.

A dialect turns each of the host's messages into a :class:`Message` that keeps the host's own object in ``raw``.  The
:class:`History` groups them into steps (what the assistant said at once and the results of all its calls) and pairs
results with calls: by position within the step first and by id second, because ids repeat across turns, are empty, or
are huge.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from itertools import takewhile

from elision.message import (
    Address,
    Message,
    Part,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    has_surrogates,
    is_blank_block,
    texts_of,
)
from elision.outcomes import is_abort_note, is_news, stands_for_none
from elision.wire import Faults, Wire


@dataclass(slots=True)
class Step:
    """What the assistant said at once and the results of all its calls; ``results`` runs parallel to ``calls``.

    The assistant's messages stand from ``start`` to ``acted``: one, or several where the wire has items.
    """

    index: int
    start: int
    acted: int
    stop: int
    calls: tuple[tuple[Address, ToolCall], ...]
    results: list[Address | None]
    demo: bool = False
    unfinished: bool = False
    """Whether a result was made up for it on the way out: it still counts as open."""
    turn: int = 0

    @property
    def open(self) -> bool:
        """Whether a call still lacks its result."""
        return None in self.results

    @property
    def unanswered(self) -> bool:
        """Whether it has no result at all: the assistant may not have finished it."""
        return self.acted == self.stop and not any(self.results)

    def open_at(self, stop: int) -> bool:
        """Whether a call had no result yet when the history was ``stop`` messages long."""
        return self.unfinished or any(address is None or address.position >= stop for address in self.results)


@dataclass(slots=True)
class Turn:
    """The steps from a message of the user, at ``start``, to the next one; whether any of them has a call."""

    start: int
    calls: bool = False


@dataclass(frozen=True, slots=True)
class Paired:
    """A tool result and the call it answers (``None`` for an orphan); ``ordinal`` counts the observations."""

    address: Address
    step: int
    call: ToolCall | None
    ordinal: int


@dataclass(frozen=True, slots=True)
class Segment:
    """What enters the history at once: a whole step, or one message that belongs to no step."""

    start: int
    stop: int
    step: int | None


class History:
    """The append-only list of messages, with its steps, pairs and faults kept up to date."""

    def __init__(self, wire: Wire | None = None) -> None:
        self.wire = wire or Wire()
        self.messages: list[Message] = []
        self.steps: list[Step] = []
        self.segments: list[Segment] = []
        self.observations: list[Paired] = []
        self.demos: dict[Address, Paired] = {}
        self.paired: dict[Address, Paired] = {}
        self.step_of: list[int | None] = []
        self.marked: list[int] = []
        self.thinking: list[int] = []
        self.turns: list[Turn] = [Turn(0)]
        self.task: int | None = None
        self.faults = Faults()
        self.altered: list[int] = []
        """Where steps begin that have got a result from behind what followed them, in the order in which they did."""
        self._unanswered: dict[int, Step] = {}
        self._answered: dict[tuple[str, str], list[Address]] = {}

    def __len__(self) -> int:
        return len(self.messages)

    def append(self, message: Message, *, joins: bool = True) -> None:
        """Add the next message; one of the assistant begins a new step where it is not to join the last one."""
        position = len(self.messages)
        self.messages.append(message)
        self.step_of.append(None)
        if message.marks:
            self.marked.append(position)
        kinds = {type(part) for part in message.parts}
        if Thinking in kinds:
            self.thinking.append(position)
        if message.kind == "task" and self.task is None:
            self.task = position
        self._scan_text(position, message)
        if message.role == "assistant":
            self._act(position, message, self._growing(position) if joins else None)
        elif ToolResult in kinds:
            self._answer(position, message)
        else:
            self.segments.append(Segment(position, position + 1, None))
            if message.role == "user":
                self.turns.append(Turn(position))

    def cut(self, position: int) -> None:
        """Take the messages from ``position`` on away, where a segment begins; they have altered none before it."""
        for at in range(position, len(self.messages)):
            for part in range(len(self.messages[at].parts)):
                self._unpair(Address(at, part))
        while self.segments and self.segments[-1].start >= position:
            self.segments.pop()
        while self.steps and self.steps[-1].start >= position:
            self._unanswered.pop(self.steps.pop().index, None)
        while len(self.turns) > 1 and self.turns[-1].start >= position:
            self.turns.pop()
        newest = len(self.turns) - 1
        self.turns[newest].calls = any(
            step.calls for step in takewhile(lambda step: step.turn == newest, reversed(self.steps))
        )
        for places in (self.marked, self.thinking):
            del places[bisect_left(places, position) :]
        self.task = self.task if self.task is not None and self.task < position else None
        self.faults.cut(position, len(self.steps))
        self.altered = [start for start in self.altered if start < position]
        del self.messages[position:], self.step_of[position:]

    def _unpair(self, address: Address) -> None:
        paired = self.paired.pop(address, None)
        if paired is None:
            return
        if self.demos.pop(address, None) is None:
            self.observations.pop()
        result = self.messages[address.position].parts[address.part]
        if paired.call is not None and isinstance(result, ToolResult):
            self._answered[_key_of(result)].pop()

    def ready(self) -> int:
        """Return how many segments are complete: all but a last step that still waits for results, or may grow."""
        if not self.segments:
            return 0
        last = self.segments[-1].step
        waiting = last is not None and (self.steps[last].open or self._growing(len(self.messages)) is not None)
        return len(self.segments) - waiting

    def goes_out(self, step: Step) -> bool:
        """Whether anything of a step can be sent: not so of thinking alone, where it has to lead to something."""
        return not self.faults.alone.issuperset(range(step.start, step.acted))

    def unanswered(self) -> list[tuple[Step, int, ToolCall]]:
        """Return the calls that lack a result, with their steps and their place among the step's calls."""
        return [
            (step, index, call)
            for step in self._unanswered.values()
            for index, (_, call) in enumerate(step.calls)
            if step.results[index] is None
        ]

    @property
    def poisoned(self) -> bool:
        """Whether the history cannot go on the wire as it stands."""
        return bool(self.faults) or any(
            call.raw is not None for step in self._unanswered.values() for _, call in step.calls
        )

    def _growing(self, position: int) -> Step | None:
        """Return the last step where a message of the assistant at ``position`` would be part of it."""
        step = self.steps[-1] if self.steps and self.wire.items_join_steps else None
        return step if step is not None and step.stop == position and step.unanswered else None

    def _act(self, position: int, message: Message, step: Step | None) -> None:
        stop = position + 1
        if step is None:
            turn = len(self.turns) - 1
            step = Step(len(self.steps), position, stop, stop, (), [], message.kind == "demo", turn=turn)
            self.steps.append(step)
            self.segments.append(Segment(position, stop, step.index))
        else:
            step.acted = step.stop = stop
            self.segments[-1] = Segment(step.start, stop, step.index)
        self.step_of[position] = step.index
        if self.wire.thinking_leads:
            self._note_alone(step, position, message)
        calls = [(Address(position, i), part) for i, part in enumerate(message.parts) if isinstance(part, ToolCall)]
        if calls:
            self.turns[step.turn].calls = True
            step.calls += tuple(calls)
            step.results += [None] * len(calls)
            self._unanswered[step.index] = step

    def _note_alone(self, step: Step, position: int, message: Message) -> None:
        if message.parts and all(isinstance(part, Thinking) for part in message.parts):
            self.faults.alone.add(position)
        else:
            self.faults.alone.difference_update(range(step.start, position))

    def _answer(self, position: int, message: Message) -> None:
        results = [(i, part) for i, part in enumerate(message.parts) if isinstance(part, ToolResult)]
        step = self.steps[-1] if self.steps else None
        joins = step is not None and step.stop == position and step.open
        if joins and step is not None:
            if self.wire.results_in_one_message and (step.stop > step.acted or results[-1][0] >= len(results)):
                self.faults.split.add(step.index)
            step.stop = position + 1
            self.segments[-1] = Segment(step.start, step.stop, step.index)
            self.step_of[position] = step.index
        else:
            self.segments.append(Segment(position, position + 1, None))
        for slot, (part, result) in enumerate(results):
            self._pair(Address(position, part), result, step if joins else None, slot, demo=message.kind == "demo")

    def _pair(self, address: Address, result: ToolResult, step: Step | None, slot: int, *, demo: bool) -> None:
        found = _claim(step, result, slot) if step else None
        if found is None:
            found = self._claim_late(address, result) or self._claim_from_abort(address, result)
        if found is None:
            self.faults.orphans.add(address)
            self._note_again(address, result)
            paired = Paired(address, step.index if step else -1, None, len(self.observations))
        else:
            owner, index = found
            owner.results[index] = address
            owner.unfinished = owner.unfinished or stands_for_none(result)
            self._answered.setdefault(_key_of(result), []).append(address)
            if owner is not step:
                self.altered.append(owner.start)
            if not owner.open:
                self._unanswered.pop(owner.index, None)
            paired = Paired(address, owner.index, owner.calls[index][1], len(self.observations))
        self.paired[address] = paired
        if demo:
            self.demos[address] = paired
        else:
            self.observations.append(paired)

    def _note_again(self, address: Address, result: ToolResult) -> None:
        """Note what comes after a result of the same call that was not the last: that it was pending, or aborted."""
        answered = self._answered.get(_key_of(result)) if any(_key_of(result)) else None
        first = answered[-1] if answered else None
        call = self.paired[first].call if first is not None else None
        if first is None or call is None or result.tool not in ("", call.name):
            return
        said = self.messages[first.position].parts[first.part]
        if isinstance(said, ToolResult) and is_news(result, said):
            self.faults.again[address] = first

    def _claim_late(self, address: Address, result: ToolResult) -> tuple[Step, int] | None:
        """Find an older call for a result that does not stand where it should: by a non-empty id, newest first."""
        if not result.call_id:
            return None
        for step in reversed(self._unanswered.values()):
            for index, (_, call) in enumerate(step.calls):
                if step.results[index] is None and _is_answer(result, call):
                    self.faults.late[address] = step.index
                    return step, index
        return None

    def _claim_from_abort(self, address: Address, result: ToolResult) -> tuple[Step, int] | None:
        """Let a second result for one call stand when the first only says that the call was aborted."""
        step = self.steps[-1] if self.steps else None
        if step is None or address.position not in {step.stop - 1, step.stop}:
            return None
        for index, (_, call) in enumerate(step.calls):
            first = step.results[index]
            if first is not None and _is_answer(result, call) and self._is_aborted(first):
                self.faults.orphans.add(first)
                self.faults.late[address] = step.index
                return step, index
        return None

    def _is_aborted(self, address: Address) -> bool:
        result = self.messages[address.position].parts[address.part]
        return isinstance(result, ToolResult) and is_abort_note(result)

    def _scan_text(self, position: int, message: Message) -> None:
        for text in texts_of(message.parts):
            if not text.isascii() and has_surrogates(text):
                self.faults.surrogates.add(position)
        if self.wire.refuses_blank_text and any(map(_holds_blank, message.parts)):
            self.faults.blanks.add(position)


def _claim(step: Step, result: ToolResult, slot: int) -> tuple[Step, int] | None:
    """Pair a result with a call of its own step: by position where the ids agree, by id, by position without ids.

    Where results name their tool, it has to be that of the call, and stands in for an id that is missing.
    """
    free = [index for index, address in enumerate(step.results) if address is None]
    places = [index for index in (len(step.calls) - len(free), slot) if index in free]
    for index in [*places, *free]:
        if _is_answer(result, step.calls[index][1]):
            return step, index
    for index in [*places, *free] if result.tool else places:
        call = step.calls[index][1]
        if result.tool in ("", call.name) and not (call.id and result.call_id):
            return step, index
    return None


def _key_of(result: ToolResult) -> tuple[str, str]:
    """Return what tells of which call a result is: the tool, where there is no id."""
    return (result.call_id, "" if result.call_id else result.tool)


def _is_answer(result: ToolResult, call: ToolCall) -> bool:
    return result.call_id == call.id and result.tool in ("", call.name)


def _holds_blank(part: Part) -> bool:
    if isinstance(part, ToolResult):
        return any(map(is_blank_block, part.content))
    return isinstance(part, Text) and not part.text.strip()
