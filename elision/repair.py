"""Putting the outgoing messages in order: edits rendered, steps dropped, poisoned histories mended.

What is mended here is mended on the outgoing view only; the stored history stays as it is.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
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
    """The host messages of one segment, and what was mended for them; from ``own`` on they are the segment's own."""

    messages: list[Any]
    repairs: list[Repair]
    own: int


def assemble(work: Assembly) -> list[Any]:
    """Return the host messages to send."""
    inserted = work.overlay.insertions()
    found = [
        message
        for segment in work.history.segments
        for message in assembled(work, segment, inserted.get(segment.start, ())).messages
    ]
    return [*found, *built(work, inserted.get(len(work.history), ()))]


def assembled(work: Assembly, segment: Segment, inserted: Iterable[Insert]) -> Assembled:
    """Return the host messages of one segment, and those to insert before it."""
    repairs: list[Repair] = []
    first = work.history.messages[segment.start]
    before = built(work, (insert for insert in inserted if not says(first, insert)))
    if segment.step is not None and work.overlay.is_dropped(segment.step):
        before += _left(work, work.history.steps[segment.step], repairs)
        return Assembled(before, repairs, len(before))
    return Assembled([*before, *_own(work, segment, repairs)], repairs, len(before))


def built(work: Assembly, inserted: Iterable[Insert]) -> list[Any]:
    """Return messages of ours as the host's."""
    return [message for insert in inserted for message in work.dialect.build(_inserted_message(insert))]


def _left(work: Assembly, step: Step, repairs: list[Repair]) -> Iterator[Any]:
    """Yield what the user said in one message with the results of a dropped step: only the step goes."""
    for position in range(step.acted, step.stop):
        parts = work.history.messages[position].parts
        results = frozenset(index for index, part in enumerate(parts) if isinstance(part, ToolResult))
        if len(results) < len(parts):
            yield _clean(work, position, repairs, results)


def _own(work: Assembly, segment: Segment, repairs: list[Repair]) -> Iterator[Any]:
    """Yield the messages of a segment, in order, and what has come later for calls that had a result."""
    start, stop = segment.start, segment.stop
    if not work.dialect.wire.checked:
        yield from work.rendered[start:stop]
        return
    step = None if segment.step is None else work.history.steps[segment.step]
    sick = step is not None and _is_sick(work.history, step)
    news = _later_results(work, _told_again(work.history, segment), repairs)
    if step is None:
        yield from news
    for position in range(start, step.acted if step is not None and sick else stop):
        rendered = _clean(work, position, repairs, _misplaced(work.history, position))
        if rendered is not None:
            yield rendered
    if step is not None:
        if sick:
            yield from _answers(work, step, repairs)
            for position in range(step.acted, stop):
                repairs.extend(_left_out(work, position, _misplaced(work.history, position)))
        yield from news


def _is_sick(history: History, step: Step) -> bool:
    """Whether results of a step are missing, or stand where no wire takes them."""
    late = history.faults.late
    lacking = any(
        result is None and call.raw is not None for (_, call), result in zip(step.calls, step.results, strict=True)
    )
    return lacking or step.index in history.faults.split or any(result in late for result in step.results if result)


def _misplaced(history: History, position: int) -> frozenset[int]:
    """Return the results in a message that do not stand behind their calls."""
    orphans, late = history.faults.orphans, history.faults.late
    found = _addresses(history, position) if orphans or late else ()
    return frozenset(each.part for each in found if each in orphans or each in late)


def _told_again(history: History, segment: Segment) -> list[Address]:
    """Return the results in a segment of calls that had another one before."""
    again, positions = history.faults.again, range(segment.start, segment.stop)
    return [each for position in positions for each in _addresses(history, position) if each in again] if again else []


def _addresses(history: History, position: int) -> Iterator[Address]:
    return (Address(position, part) for part in range(len(history.messages[position].parts)))


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
