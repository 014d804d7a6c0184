"""Following a text through a run: which request, processor or rule made it invisible, and whether it can come back."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from operator import is_
from typing import TYPE_CHECKING, Any

from elision.chain import Chain, require_chain
from elision.convert import parsed
from elision.dialect import Dialect, detect, named
from elision.errors import InputError
from elision.following import Following, Spot
from elision.history import History
from elision.incoming import incoming
from elision.message import Address, Image, Opaque, Part, Text, Thinking, ToolCall, ToolResult
from elision.needle import Needle, Where, parts_of
from elision.registry import plugins
from elision.session import ElisionWarning, Session
from elision.traced import Found, Trace, TracedPlace

if TYPE_CHECKING:
    from elision.moment import Request


def trace(
    chain: Chain,
    messages: Sequence[Any] | Mapping[str, Any],
    find: str,
    *,
    system: Any = None,
    tools: Any = None,
    model: str | None = None,
    dialect: str | None = None,
) -> Trace:
    """Follow a text through every request that an agent with this history made, under a chain.

    ``find`` is looked for in texts, thinking, arguments of calls and results, JSON-escaped too; upper and lower case
    differ.  What is removed on the way goes into the chain's archive, as in a run.
    """
    require_chain(chain, "trace")
    needle = Needle(find)
    given, facts = incoming(messages, chain, system=system, tools=tools, model=model)
    reader = _reader(chain, given, facts, dialect)
    history = parsed(given, reader)
    following = Following(chain, needle, history, _spots(needle, history, facts.system))
    if not following.spots:
        raise InputError(_nowhere(needle, given))
    session = Session(replace(chain, mode="live", share=None), "trace", lives=False)
    requests = _requests(history)
    with warnings.catch_warnings():
        # What failed is in the trace.
        warnings.simplefilter("ignore", ElisionWarning)
        for step, stop in requests:
            begun = _begun(messages, given, stop)
            view = session.process(begun, system=system, tools=tools, model=model, dialect=reader.name)
            following.take(step, view, session)
    last = parsed(following.sent, reader)
    return Trace(
        find=find,
        dialect=reader.name,
        steps=len(requests),
        sent=needle.count(facts.system) + sum(needle.count(parts_of(each.parts)) for each in last.messages),
        places=tuple(following.places()),
        failures=tuple(following.failures),
    )


def _begun(messages: Sequence[Any] | Mapping[str, Any], given: list[Any], stop: int) -> Any:
    """Return the request as it was when it had its first messages only."""
    if not isinstance(messages, Mapping):
        return given[:stop]
    held = (key for key, value in messages.items() if isinstance(value, list | tuple) and _same(value, given))
    return {**messages, next(held, "messages"): given[:stop]}


def _same(value: Sequence[Any], given: list[Any]) -> bool:
    return len(value) == len(given) and all(map(is_, value, given))


def _reader(chain: Chain, messages: Sequence[Any], facts: Request, name: str | None) -> Dialect:
    beside = {key: value for key, value in (("system", facts.system), ("tools", facts.tools)) if value is not None}
    wanted = name or (None if chain.dialect == "auto" else chain.dialect)
    known = plugins().dialects()
    return named(known, wanted, messages, beside) if wanted else detect(known, messages, beside)


def _requests(history: History) -> list[tuple[int, int]]:
    """Return the step that each request asks for, and how many messages there are before it."""
    asked = [(step.index, step.start) for step in history.steps if step.start and not step.demo]
    return [*asked, (len(history.steps), len(history))]


def _spots(needle: Needle, history: History, system: Any) -> Iterator[Spot]:
    """Yield the places where the text stands, in the order of the history."""
    beside = needle.places(system)
    if beside:
        yield Spot(TracedPlace(None, None, None, "system", "system", "system", len(beside), _distinct(beside)), None)
    for position, message in enumerate(history.messages):
        for index, part in enumerate(message.parts):
            where = needle.places(part) if parts_of([part]) else []
            if where:
                yield _spot(history, Address(position, index), part, where)


def _spot(history: History, address: Address, part: Part, where: list[Where]) -> Spot:
    message, step, call = history.messages[address.position], history.step_of[address.position], None
    leaves_with = step if step is not None and address.position < history.steps[step].acted else None
    paired = history.paired.get(address)
    if paired is not None:
        call, step = paired.call, paired.step if paired.step >= 0 else None
        leaves_with = step
    elif isinstance(part, ToolCall):
        call = part
    place = TracedPlace(
        address.position,
        address.part,
        step,
        "tool" if paired else message.role,
        message.kind,
        _FOUND[type(part)],
        len(where),
        _distinct(where),
        call.name if call else "",
        call.id if call else "",
    )
    return Spot(place, leaves_with)


def _distinct(where: list[Where]) -> tuple[Where, ...]:
    return tuple(dict.fromkeys(where))


_FOUND: Mapping[type[Part], Found] = {
    Text: "text",
    Image: "image",
    Thinking: "thinking",
    ToolCall: "call",
    ToolResult: "result",
    Opaque: "opaque",
}


def _nowhere(needle: Needle, messages: Sequence[Any]) -> str:
    """Say that the text stands nowhere, or where it stands beside what is followed."""
    told = f"find: {needle.text[:_SHOWN]!r} stands in no text, thinking, call or result of this history"
    for position, raw in enumerate(messages):
        fields = raw if isinstance(raw, Mapping) else raw.model_dump() if hasattr(raw, "model_dump") else {}
        for key, value in fields.items():
            if needle.count(value):
                return (
                    f"{told}; message {position} has it under {key!r}, in what is carried as it is and never edited; "
                    "give a text that stands in the content"
                )
    return f"{told}; upper and lower case differ; give it as it stands there"


_SHOWN = 80
