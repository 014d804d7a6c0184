"""The history: frozen messages made of parts, grouped into steps.

A dialect turns each of the host's messages into a :class:`Message` that keeps the host's own object in ``raw``.  The
:class:`History` groups them into steps (what the assistant said at once and the results of all its calls) and pairs
results with calls: by position within the step first and by id second, because ids repeat across turns, are empty, or
are huge.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, TypeAlias

from elision.wire import Faults, Wire

Role = Literal["system", "user", "assistant", "tool"]
Kind = Literal["system", "task", "user", "action", "observation", "summary", "note", "demo"]


@dataclass(frozen=True, slots=True)
class Text:
    """A piece of text; ``raw`` is the host's own part, or ``None`` for text that we made or that is a bare string."""

    text: str
    raw: Any = None


@dataclass(frozen=True, slots=True)
class Image:
    """An image given as a URL (``data:`` URLs included)."""

    url: str
    raw: Any = None


@dataclass(frozen=True, slots=True)
class Thinking:
    """Reasoning of the model; ``fixed`` where the wire refuses a history without it."""

    text: str
    raw: Any = None
    fixed: bool = False


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One call of a tool; ``arguments`` are a mapping, or the text that could not be read as one.

    ``text`` is how the wire has them, where that is text.  A call is ``fixed`` where the provider has signed it: its
    arguments stay as they are.
    """

    id: str
    name: str
    arguments: Mapping[str, Any] | str
    raw: Any = None
    fixed: bool = False
    text: str = field(default="", compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Opaque:
    """A part that we do not know: carried as it is."""

    type: str
    raw: Any = None


Content: TypeAlias = Text | Image | Opaque
Piece: TypeAlias = Content | Thinking | ToolCall
"""What can stand at an address: the content of a text or of a result, thinking, or a call."""


@dataclass(frozen=True, slots=True)
class ToolResult:
    """The result of one call; ``status`` is what the host says of it, never what its text says.

    ``tool`` is the name of the tool where the wire writes it into results: it answers no call of another.
    """

    call_id: str
    content: tuple[Content, ...]
    status: Literal["ok", "error"] | None = None
    raw: Any = None
    tool: str = ""


Part: TypeAlias = Text | Image | Thinking | ToolCall | ToolResult | Opaque


@dataclass(frozen=True, slots=True)
class Message:
    """One entry of the history.

    ``raw`` is the host's own object and is never changed.  ``marks`` counts the cache breakpoints that the host has
    set in it, ``tags`` are the host's own.
    """

    role: Role
    kind: Kind
    parts: tuple[Part, ...]
    raw: Any
    marks: int = 0
    tags: frozenset[str] = frozenset()


class Address(NamedTuple):
    """Where a part stands: position of its message in the history, index of the part in the message."""

    position: int
    part: int


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
        self._unanswered: dict[int, Step] = {}

    def __len__(self) -> int:
        return len(self.messages)

    def append(self, message: Message, *, joins: bool = True) -> None:
        """Add the next message; one of the assistant begins a new step where it is not to join the last one."""
        position = len(self.messages)
        self.messages.append(message)
        self.step_of.append(None)
        if message.marks:
            self.marked.append(position)
        if any(isinstance(part, Thinking) for part in message.parts):
            self.thinking.append(position)
        if message.kind == "task" and self.task is None:
            self.task = position
        self._scan_text(position, message)
        if message.role == "assistant":
            self._act(position, message, self._growing(position) if joins else None)
        elif any(isinstance(part, ToolResult) for part in message.parts):
            self._answer(position, message)
        else:
            self.segments.append(Segment(position, position + 1, None))
            if message.role == "user":
                self.turns.append(Turn(position))

    def ready(self) -> int:
        """Return how many segments are complete: all but a last step that still waits for results, or may grow."""
        if not self.segments:
            return 0
        last = self.segments[-1].step
        waiting = last is not None and (self.steps[last].open or self._growing(len(self.messages)) is not None)
        return len(self.segments) - waiting

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
        calls = [(Address(position, i), part) for i, part in enumerate(message.parts) if isinstance(part, ToolCall)]
        if calls:
            self.turns[step.turn].calls = True
            step.calls += tuple(calls)
            step.results += [None] * len(calls)
            self._unanswered[step.index] = step

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
            paired = Paired(address, step.index if step else -1, None, len(self.observations))
        else:
            owner, index = found
            owner.results[index] = address
            if not owner.open:
                self._unanswered.pop(owner.index, None)
            paired = Paired(address, owner.index, owner.calls[index][1], len(self.observations))
        self.paired[address] = paired
        if demo:
            self.demos[address] = paired
        else:
            self.observations.append(paired)

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
            if first is not None and _is_answer(result, call) and _is_abort_note(self.messages[first.position], first):
                self.faults.orphans.add(first)
                self.faults.late[address] = step.index
                return step, index
        return None

    def _scan_text(self, position: int, message: Message) -> None:
        for text in texts_of(message.parts):
            if not text.isascii() and has_surrogates(text):
                self.faults.surrogates.add(position)
        if self.wire.refuses_blank_text and any(map(_holds_blank, message.parts)):
            self.faults.blanks.add(position)


_ABORT_NOTE = re.compile(r"\b(abort|cancel|interrupt|skip)(p?ed|l?ed)?\b", re.IGNORECASE)


def _is_abort_note(message: Message, address: Address) -> bool:
    result = message.parts[address.part]
    if not isinstance(result, ToolResult) or result.status == "ok":
        return False
    text = plain(result.content)
    return result.status == "error" or (len(text) < 200 and bool(_ABORT_NOTE.search(text)))


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


def _is_answer(result: ToolResult, call: ToolCall) -> bool:
    return result.call_id == call.id and result.tool in ("", call.name)


def _holds_blank(part: Part) -> bool:
    if isinstance(part, ToolResult):
        return any(map(is_blank_block, part.content))
    return isinstance(part, Text) and not part.text.strip()


def is_blank_block(piece: Content) -> bool:
    """Whether this is a blank text that stands as a part of its own; a result that is a blank string is none."""
    return isinstance(piece, Text) and piece.raw is not None and not piece.text.strip()


def texts_of(parts: Iterable[Part]) -> Iterable[str]:
    """Yield every text in ``parts`` that can be edited, those inside tool results included."""
    for part in parts:
        if isinstance(part, Text):
            yield part.text
        elif isinstance(part, ToolResult):
            yield from (item.text for item in part.content if isinstance(item, Text))


def has_surrogates(text: str) -> bool:
    """Whether ``text`` holds a lone surrogate, which no wire accepts."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return True
    return False


def only_content(pieces: Iterable[Piece]) -> tuple[Content, ...]:
    """Return those of ``pieces`` that a text or a result is made of."""
    return tuple(piece for piece in pieces if isinstance(piece, Text | Image | Opaque))


def plain(content: Iterable[Piece]) -> str:
    """Return the text of ``content``; images and unknown parts have none."""
    return "\n".join(part.text for part in content if isinstance(part, Text))
