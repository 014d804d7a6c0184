"""Putting the outgoing messages in order: edits rendered, steps dropped, poisoned histories mended.

What is mended here is mended on the outgoing view only; the stored history stays as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, NamedTuple

from elision.dialect import Dialect, Patch
from elision.edits import Insert
from elision.history import History, Segment, Step
from elision.message import (
    Address,
    Content,
    Image,
    Message,
    Part,
    Text,
    Thinking,
    ToolResult,
    has_surrogates,
    is_blank_block,
    only_content,
    plain,
)
from elision.outcomes import OUTCOME_UNKNOWN
from elision.overlay import Overlay
from elision.scrubbing import scrubbed

BLANK = "(empty)"
OPENING = "(What came before is not in this history.)"


@dataclass(frozen=True, slots=True)
class Repair:
    """One thing that was mended on the outgoing view."""

    fault: Literal[
        "dangling_call",
        "orphan_result",
        "late_result",
        "split_batch",
        "surrogate",
        "blank_text",
        "marks",
        "call",
        "no_user_first",
        "thinking_alone",
    ]
    position: int
    detail: str


@dataclass(frozen=True, slots=True)
class Assembly:
    """Everything that :func:`assemble` needs; ``rendered`` has the host message of each position, edits applied."""

    history: History
    dialect: Dialect
    rendered: Sequence[Any]
    overlay: Overlay
    refs: Mapping[Address, str] = field(default_factory=dict)
    """What results that answer no call are called in the archive."""

    def current(self, address: Address) -> ToolResult:
        """Return a result with the content that is sent."""
        part = self.history.messages[address.position].parts[address.part]
        assert isinstance(part, ToolResult)  # noqa: S101 (addresses of results only)
        version = self.overlay.version(address)
        content = only_content(version.content) if version else part.content
        if address.position in self.history.faults.surrogates:
            content = _scrubbed(content)
        if address.position in self.history.faults.blanks:
            content = _without_blank_blocks(content)
        return part if content is part.content else replace(part, content=content)


class Assembled(NamedTuple):
    """The host messages to send, what was mended for it, and where segments begin among them."""

    messages: list[Any]
    repairs: list[Repair]
    starts: set[int]


def assemble(work: Assembly) -> Assembled:
    """Return the host messages to send."""
    repairs: list[Repair] = []
    out: list[Any] = []
    starts: set[int] = set()
    inserted = work.overlay.insertions()
    emit = _emitter(work, repairs)
    for segment in work.history.segments:
        for insert in inserted.get(segment.start, ()):
            if not says(work.history.messages[segment.start], insert):
                out.extend(work.dialect.build(_inserted_message(insert)))
        if segment.step is not None and work.overlay.is_dropped(segment.step):
            out.extend(_left(work, segment, repairs))
            continue
        starts.add(len(out))
        out.extend(emit(segment.start, segment.stop, segment.step))
    for insert in inserted.get(len(work.history), ()):
        out.extend(work.dialect.build(_inserted_message(insert)))
    return Assembled(out, repairs, starts)


def _left(work: Assembly, segment: Segment, repairs: list[Repair]) -> Iterator[Any]:
    """Yield what the user said in one message with the results of a dropped step: only the step goes."""
    acted = work.history.steps[segment.step].acted if segment.step is not None else segment.start
    for position in range(acted, segment.stop):
        parts = work.history.messages[position].parts
        results = frozenset(index for index, part in enumerate(parts) if isinstance(part, ToolResult))
        if len(results) < len(parts):
            yield _clean(work, position, repairs, results)


def _emitter(work: Assembly, repairs: list[Repair]) -> Callable[[int, int, int | None], Iterator[Any]]:
    faults, steps = work.history.faults, work.history.steps
    checked = work.dialect.wire.checked
    dangling = {step.index for step, _, call in work.history.unanswered() if call.raw is not None}
    sick = dangling | set(faults.late.values()) | faults.split
    misplaced = _by_position(faults.orphans | faults.late.keys())
    told = _by_position(faults.again)

    def emit(start: int, stop: int, step: int | None) -> Iterator[Any]:
        if not checked:
            yield from (work.rendered[position] for position in range(start, stop))
            return
        later = [Address(at, part) for at in range(start, stop) for part in sorted(told.get(at, ()))]
        news = _later_results(work, later, repairs)
        if step is None:
            yield from news
        elif step in sick:
            stop = steps[step].acted
        for position in range(start, stop):
            rendered = _clean(work, position, repairs, misplaced.get(position, frozenset()))
            if rendered is not None:
                yield rendered
        if step is not None:
            if step in sick:
                yield from _answers(work, steps[step], repairs)
                for position in sorted(misplaced.keys() & range(stop, steps[step].stop)):
                    repairs.extend(_left_out(work, position, misplaced[position]))
            yield from news

    return emit


def _later_results(work: Assembly, addresses: Iterable[Address], repairs: list[Repair]) -> list[Any]:
    """Return as messages of the user what came for calls that had a result by then, such as that they are pending."""
    found: list[Any] = []
    for address in addresses:
        call = work.history.paired[work.history.faults.again[address]].call
        if call is None:
            continue
        repairs.append(Repair("late_result", address.position, "its call has a result already; sent as the user's"))
        content = work.current(address).content
        said = f"(A later result of {call.name!r:.80}, call {call.id!r:.80})\n{plain(content)}"
        images = (piece for piece in content if isinstance(piece, Image))
        found += work.dialect.build(Message("user", "note", (Text(said), *images), None))
    return found


def _by_position(addresses: Iterable[Address]) -> dict[int, frozenset[int]]:
    found: dict[int, set[int]] = {}
    for position, part in addresses:
        found.setdefault(position, set()).add(part)
    return {position: frozenset(parts) for position, parts in found.items()}


def _clean(work: Assembly, position: int, repairs: list[Repair], removed: frozenset[int]) -> Any:
    """Render one message without misplaced results, lone surrogates and (where refused) blank text; None if empty."""
    message, faults = work.history.messages[position], work.history.faults
    if position in faults.alone:
        repairs.append(Repair("thinking_alone", position, "nothing follows this thinking; left out"))
        return None
    repairs.extend(_left_out(work, position, removed))
    blanks = _blanks(message) if position in faults.blanks else frozenset()
    if not removed and position not in faults.blanks and position not in faults.surrogates:
        return work.rendered[position]
    if len(removed) == len(message.parts):
        return None
    patch = Patch.of(message, work.overlay.changes(position))
    contents, removed = patch.contents, removed | patch.removed
    if position in faults.surrogates:
        repairs.append(Repair("surrogate", position, "lone surrogates replaced with U+FFFD"))
        contents = _without_surrogates(message, contents)
    if position in faults.blanks:
        repairs.append(Repair("blank_text", position, "blank text left out"))
        contents = _results_without_blanks(message, contents)
    if blanks:
        left = [part for index, part in enumerate(message.parts) if index not in blanks | removed]
        if not left or isinstance(left[-1], Thinking):
            keep = max(blanks)
            blanks, contents = blanks - {keep}, {**contents, keep: (Text(BLANK),)}
    return work.dialect.patch(message, replace(patch, contents=contents, removed=removed | blanks))


def _answers(work: Assembly, step: Step, repairs: list[Repair]) -> Iterator[Any]:
    """Render the results of a sick step: all of them, in the order of the calls, then what stood beside them."""
    results: list[Part] = []
    for (_, call), address in zip(step.calls, step.results, strict=True):
        if address is None and call.raw is None:
            continue
        if address is None:
            repairs.append(Repair("dangling_call", step.start, f"call {call.id or call.name!r} has no result"))
            missing = ToolResult(call.id, (Text(OUTCOME_UNKNOWN),), "error")
            results.append(work.dialect.answer(call, missing))
            continue
        if address in work.history.faults.late:
            repairs.append(Repair("late_result", address.position, f"result of {call.id!r} moved to its call"))
        results.append(work.current(address))
    if step.index in work.history.faults.split:
        repairs.append(Repair("split_batch", step.start, "results of one batch put into one message"))
    yield from work.dialect.build(Message("tool", "observation", (*results, *_beside(work, step)), None))


def _beside(work: Assembly, step: Step) -> Iterator[Part]:
    """Yield what stands beside the results of a step, edits applied."""
    for position in range(step.acted, step.stop):
        changes = work.overlay.changes(position)
        for index, part in enumerate(work.history.messages[position].parts):
            if isinstance(part, Text):
                blank = position in work.history.faults.blanks
                found = _scrubbed(only_content(changes.get(index, (part,))))
                yield from (piece for piece in found if not (blank and is_blank_block(piece)))
            elif not isinstance(part, ToolResult):
                yield part


def says(message: Message, insert: Insert) -> bool:
    """Whether a message of the host's is what was to be inserted before it: a view that is processed again."""
    part = message.parts[0] if len(message.parts) == 1 else None
    return isinstance(part, Text) and (part.text, message.role) == (insert.text, insert.role)


def _inserted_message(insert: Insert) -> Message:
    return Message(insert.role, insert.kind, (Text(insert.text),), None)


def _blanks(message: Message) -> frozenset[int]:
    return frozenset(
        index for index, part in enumerate(message.parts) if isinstance(part, Text) and not part.text.strip()
    )


def _results_without_blanks(
    message: Message, contents: Mapping[int, tuple[Content, ...]]
) -> dict[int, tuple[Content, ...]]:
    results = {
        index: _without_blank_blocks(contents.get(index, part.content))
        for index, part in enumerate(message.parts)
        if isinstance(part, ToolResult) and any(map(is_blank_block, part.content))
    }
    return {**contents, **results}


def _without_blank_blocks(content: tuple[Content, ...]) -> tuple[Content, ...]:
    kept = tuple(piece for piece in content if not is_blank_block(piece))
    return content if len(kept) == len(content) else kept or (Text(BLANK),)


def _without_surrogates(
    message: Message, contents: Mapping[int, tuple[Content, ...]]
) -> dict[int, tuple[Content, ...]]:
    cleaned = dict(contents)
    for index, part in enumerate(message.parts):
        if isinstance(part, Text | ToolResult):
            found = contents.get(index, part.content if isinstance(part, ToolResult) else (part,))
            cleaned[index] = _scrubbed(found)
    return cleaned


def _scrubbed(content: tuple[Content, ...]) -> tuple[Content, ...]:
    """Replace lone surrogates; two halves that stand together become their character."""
    return tuple(
        replace(part, text=scrubbed(part.text)) if isinstance(part, Text) and has_surrogates(part.text) else part
        for part in content
    )


def _left_out(work: Assembly, position: int, parts: Iterable[int]) -> Iterator[Repair]:
    """Yield what of some parts answers no call, and is not sent in another way."""
    faults = work.history.faults
    for part in sorted(parts):
        address = Address(position, part)
        if address in faults.orphans and address not in faults.again:
            ref = f"; ref {work.refs[address]}" if work.refs.get(address) else ""
            what = _id_of(work.history.messages[position].parts[part])
            yield Repair("orphan_result", position, f"{what} answers no call; left out{ref}")


def _id_of(part: Part) -> str:
    return repr(part.call_id) if isinstance(part, ToolResult) and part.call_id else "a result without an id"
