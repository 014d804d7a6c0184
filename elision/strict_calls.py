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
        self._taken: set[str] = set()
        self._named: dict[Address, str] = {}
        self._before: dict[Address, str] = {}
        self._done = 0

    def carried_over(self, kept: Iterable[Step], mended: History) -> StrictCalls:
        """Return those of a mended history, in which the steps that were kept call what they have called before."""
        self._advance()
        found = StrictCalls(mended)
        for old, new in zip(kept, mended.steps, strict=False):
            for (source, _), (target, _) in zip(old.calls, new.calls, strict=False):
                found._before[target] = self._named[source]
        return found

    def unfit(self, *, own_ids: bool, objects: bool) -> dict[int, Unfit]:
        """Return what is to be mended, by message; with ``own_ids`` and ``objects`` as a strict wire wants it."""
        self._advance()
        ids, arguments = self._own if own_ids else self._plain, self._arguments if objects else self._unsendable
        return {at: Unfit(ids.get(at, {}), arguments.get(at, {})) for at in sorted({*ids, *arguments})}

    def _advance(self) -> None:
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
        if address not in self._named:
            before = [self._before[address]] if address in self._before else []
            self._named[address] = next(name for name in chain(before, _names(plain)) if name not in self._taken)
            self._taken.add(self._named[address])
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
