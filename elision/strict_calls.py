"""Ids and arguments of calls as wires take them: a result under its call's id, and for a strict wire more."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from typing import Any, Literal, NamedTuple

from elision.history import History, Step
from elision.message import Address, Content, ToolCall, ToolResult, has_surrogates
from elision.scrubbing import without_surrogates
from elision.unsaid import Unsaid

_UNFIT = re.compile(r"[^a-zA-Z0-9_-]")


class Unfit(NamedTuple):
    """What calls and results of one message need other than the host has it, by part."""

    ids: Mapping[int, str] = {}
    arguments: Mapping[int, Mapping[str, Any] | str] = {}
    contents: Mapping[int, tuple[Content, ...]] = {}

    @property
    def detail(self) -> str:
        """What is mended."""
        told = [f"it has the id {name!r}" for name in self.ids.values()]
        told += ["its arguments are no object, or no Unicode" for _ in self.arguments]
        return "; ".join([*told, *["it says nothing"][: len(self.contents)]])

    @property
    def fault(self) -> Literal["call", "blank_text"]:
        """What is wrong with it."""
        return "call" if self.ids or self.arguments else "blank_text"


class StrictCalls:
    """What the calls of one history need other than the host has it; each step is looked at once, as it comes in.

    Every wire wants a result under the id of its call, and no id twice in a step.  A strict one wants an id of its own
    for each call of the history, and an object as its arguments.  The first call with an id keeps it.  What a later
    one gets is a function of the history before it, so what has been sent stays as it was.
    """

    def __init__(self, history: History) -> None:
        self._history = history
        self.unsaid = Unsaid(history)
        self._plain: dict[int, dict[int, str]] = {}
        self._own: dict[int, dict[int, str]] = {}
        self._arguments: dict[int, dict[int, Mapping[str, Any] | str]] = {}
        self._unsendable: dict[int, dict[int, Mapping[str, Any] | str]] = {}
        self._taken: dict[str, Address] = {}
        self._named: dict[Address, str] = {}
        self._before: dict[Address, str] = {}
        self._done = 0

    def name_as(self, step: Step, names: Iterable[str]) -> None:
        """Give the calls of a step that is to come the names that they have elsewhere, as far as these are free."""
        for (address, _), name in zip(step.calls, names, strict=False):
            self._before[address] = name

    def names(self, step: Step) -> list[str]:
        """Return what the calls of a step that has come in are called where each needs an id of its own."""
        return [self._named[address] for address, _ in step.calls]

    def cut(self, position: int) -> None:
        """Forget the messages from ``position`` on, where a step begins or none is cut."""
        self.unsaid.cut(position)
        for by_message in (self._plain, self._own, self._arguments, self._unsendable):
            while by_message and next(reversed(by_message)) >= position:
                by_message.popitem()
        for by_call in (self._named, self._before):
            while by_call and next(reversed(by_call)).position >= position:
                by_call.popitem()
        while self._taken and next(reversed(self._taken.values())).position >= position:
            self._taken.popitem()
        # The last step may still get results.
        self._done = max(0, min(self._done, len(self._history.steps) - 1))

    def unfit(self, *, own_ids: bool, objects: bool) -> dict[int, Unfit]:
        """Return what is to be mended, by message; with ``own_ids`` and ``objects`` as a strict wire wants it."""
        self.advance()
        ids, arguments = self._own if own_ids else self._plain, self._arguments if objects else self._unsendable
        return {at: Unfit(ids.get(at, {}), arguments.get(at, {})) for at in sorted({*ids, *arguments})}

    def advance(self) -> None:
        """Name the calls that have come in."""
        steps = self._history.steps
        for step in steps[self._done :]:
            in_step: set[str] = set()
            for (address, call), answer in zip(step.calls, step.results, strict=True):
                self._take(address, call, answer, in_step)
        # The last one may still get results.
        self._done = max(0, len(steps) - 1)

    def _take(self, address: Address, call: ToolCall, answer: Address | None, in_step: set[str]) -> None:
        """Name a call and its result; one that is read from text has nothing to be named by."""
        if call.raw is None:
            self._named[address] = call.id
            return
        part = self._history.messages[answer.position].parts[answer.part] if answer else None
        given = part.call_id if isinstance(part, ToolResult) else ""
        plain = call.id or given
        if not call.id and address in self._named:
            # A result may have come in since, with an id that names both.
            self._taken.pop(self._named.pop(address))
        if address not in self._named:
            before = [self._before[address]] if address in self._before else []
            self._named[address] = next(name for name in chain(before, _names(plain)) if name not in self._taken)
            self._taken[self._named[address]] = address
            self._take_arguments(address, call)
        if plain in in_step:
            plain = self._named[address]
        in_step.add(plain)
        for ids, name in ((self._plain, plain), (self._own, self._named[address])):
            for place, found in ((address, call.id), (answer, given)):
                if place is not None and name != found:
                    ids.setdefault(place.position, {})[place.part] = name

    def _take_arguments(self, address: Address, call: ToolCall) -> None:
        """Note arguments that are no object, and those with lone surrogates, for which no wire has bytes."""
        clean = without_surrogates(call.arguments)
        held = ({"arguments": clean} if clean.strip() else {}) if isinstance(clean, str) else clean
        if held is not call.arguments:
            self._arguments.setdefault(address.position, {})[address.part] = held
        # Where they are JSON in a text, a lone surrogate can be an escape, which can be sent.
        if clean is not call.arguments and (not call.text or has_surrogates(call.text)):
            self._unsendable.setdefault(address.position, {})[address.part] = clean


def _names(given: str) -> Iterator[str]:
    """Yield what a call with this id can be called, the id itself first where it is fit to be sent."""
    fit = _UNFIT.sub("_", given)
    if fit:
        yield fit
    number = 2 if fit else 1
    while True:
        yield f"{fit or 'call'}_{number}"
        number += 1
