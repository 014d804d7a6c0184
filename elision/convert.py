"""Writing messages of one dialect in another."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from typing import Any

from elision.dialect import Dialect, Patch
from elision.history import History
from elision.message import (
    Address,
    Content,
    Image,
    Message,
    Opaque,
    Part,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    texts_of,
)

_ACCEPTED_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")
"""What every wire accepts as the id of a call."""


@dataclass(frozen=True, slots=True)
class Converted:
    """Messages in another dialect, and one line for each kind of part that has no place there.

    ``system`` is the system prompt that the messages began with, where the other dialect has it beside them.
    """

    messages: list[Any]
    lost: tuple[str, ...]
    system: str | None = None


def convert(messages: Sequence[Any], source: Dialect, target: Dialect, *, system: Any = None) -> Converted:
    """Write messages in another dialect; ``system`` is what the request carried beside them.

    Steps, calls, results, texts, images and cache breakpoints are carried.  A call without an id of its own gets one,
    the same every time.
    """
    if source.name == target.name:
        return Converted(list(messages), ())
    history = parsed(messages, source)
    ids = dict(_ids(history))
    made = History(target.wire)
    lost: Counter[str] = Counter()
    grouped = [*_system(system, source), *_in_groups(history, ids, target)]
    beside = list(takewhile(lambda message: message.kind == "system", grouped)) if target.wire.system_beside else []
    for message in grouped[len(beside) :]:
        known, unknown = _split(message)
        lost.update(f"{part.type} (opaque)" for part in unknown)
        start = len(made)
        _append(made, target, target.build(known) if known.parts or not unknown else [], mark=message.marks > 0)
        lost.update(_missing(known, made.messages[start:]))
    lines = [f"{kind}: {count} left out; there is no place for it in {target.name}" for kind, count in lost.items()]
    if target.wire.system_beside and made.messages and made.messages[0].role == "assistant":
        lines.append(f"user message: none before the first of the assistant; {target.name} wants one first; add one")
    prompt = "\n".join(text for message in beside for text in texts_of(message.parts)) if beside else None
    return Converted([message.raw for message in made.messages], tuple(lines), prompt)


def parsed(messages: Iterable[Any], dialect: Dialect) -> History:
    """Read messages into a history."""
    history = History(dialect.wire)
    for raw in messages:
        history.append(dialect.parse(raw, history))
    return history


def _append(made: History, target: Dialect, built: list[Any], *, mark: bool) -> None:
    for raw in built:
        message = target.parse(raw, made)
        if mark and raw is built[-1]:
            message = target.parse(target.patch(message, Patch(mark=True)), made)
        made.append(message)


def _system(system: Any, source: Dialect) -> Iterator[Message]:
    """Yield what the request carried as its system prompt, as a message."""
    if system:
        message = source.parse({"role": "system", "content": system}, History(source.wire))
        yield replace(message, role="system", kind="system", parts=tuple(map(_bare, message.parts)))


def _in_groups(history: History, ids: Mapping[Address, str], target: Dialect) -> Iterator[Message]:
    """Yield the messages to build: what the assistant said in one step as one message, and its results as one where
    the target's wire wants that.
    """
    for segment in history.segments:
        messages = [_with_ids(history, position, ids, target) for position in range(segment.start, segment.stop)]
        step = history.steps[segment.step] if segment.step is not None else None
        acted = step.acted - step.start if step else 0
        said, answers = messages[:acted], messages[acted:]
        if said:
            yield replace(said[0], parts=_parts(said), marks=sum(message.marks for message in said))
        if step and target.wire.results_in_one_message and len(answers) > 1:
            parts = sorted(_parts(answers), key=lambda part: not isinstance(part, ToolResult))
            yield replace(answers[-1], role="tool", kind="observation", parts=tuple(parts))
        else:
            yield from answers


def _parts(messages: Iterable[Message]) -> tuple[Part, ...]:
    return tuple(part for message in messages for part in message.parts)


def _ids(history: History) -> Iterator[tuple[Address, str]]:
    """Yield an id for each call and for its result; one that is missing, repeated or refused somewhere is made up."""
    seen: set[str] = set()
    used = {part.id for message in history.messages for part in message.parts if isinstance(part, ToolCall)}
    for step in history.steps:
        for number, ((address, call), result) in enumerate(zip(step.calls, step.results, strict=True)):
            fits = _ACCEPTED_ID.fullmatch(call.id) and call.id not in seen
            chosen = call.id if fits else f"call_{step.index}_{number}"
            while not fits and (chosen in used or chosen in seen):
                chosen += "_"
            seen.add(chosen)
            yield address, chosen
            if result is not None:
                yield result, chosen


def _with_ids(history: History, position: int, ids: Mapping[Address, str], target: Dialect) -> Message:
    """Return a message without the source's own objects, which the target must not pass on, and with other ids."""
    message = history.messages[position]
    parts: list[Part] = []
    for index, part in enumerate(message.parts):
        address, bare = Address(position, index), _bare(part)
        chosen = ids.get(address)
        if chosen is not None and isinstance(bare, ToolCall):
            bare = replace(bare, id=chosen)
        elif chosen is not None and isinstance(bare, ToolResult) and (call := history.paired[address].call):
            bare = target.answer(replace(call, id=chosen, raw=None), replace(bare, call_id=chosen))
        parts.append(bare)
    return replace(message, parts=tuple(parts), raw=None)


def _bare(part: Part) -> Part:
    if isinstance(part, Opaque | Thinking):  # a signature of thinking is only there
        return part
    if isinstance(part, ToolResult):
        content: tuple[Content, ...] = tuple(
            item if isinstance(item, Opaque) else replace(item, raw=None) for item in part.content
        )
        return replace(part, content=content, raw=None)
    return replace(part, raw=None)


def _split(message: Message) -> tuple[Message, list[Opaque]]:
    """Take the opaque parts out of a message, those inside results included."""
    unknown = [part for part in message.parts if isinstance(part, Opaque)]
    parts: list[Part] = []
    for part in message.parts:
        if isinstance(part, ToolResult):
            unknown.extend(item for item in part.content if isinstance(item, Opaque))
            content = tuple(item for item in part.content if not isinstance(item, Opaque))
            parts.append(replace(part, content=content or (Text(""),)))
        elif not isinstance(part, Opaque):
            parts.append(part)
    return replace(message, parts=tuple(parts)), unknown


def _missing(wanted: Message, got: Sequence[Message]) -> Counter[str]:
    made: Counter[str] = Counter()
    for message in got:
        made += _kinds(message.parts)
    return _kinds(wanted.parts) - made


_KINDS: Mapping[type[Part], str] = {
    Image: "image",
    Thinking: "thinking",
    ToolCall: "tool call",
    ToolResult: "tool result",
}


def _kinds(parts: Iterable[Part]) -> Counter[str]:
    found: Counter[str] = Counter()
    for part in parts:
        inside = part.content if isinstance(part, ToolResult) else ()
        found.update(["error mark of a tool result"] * (isinstance(part, ToolResult) and part.status == "error"))
        found.update(_KINDS[type(item)] for item in (part, *inside) if type(item) in _KINDS)
    return found
