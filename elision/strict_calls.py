"""Calls as a strict wire takes them: each with an id of its own, and with an object as its arguments."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from typing import Any

from elision.history import Address, History, Step, ToolCall

_UNFIT = re.compile(r"[^a-zA-Z0-9_-]")


class StrictCalls:
    """What the calls of one history need other than the host has it; each step is looked at once, as it comes in.

    The first call with an id keeps it.  What a later one gets is a function of the history before it, so what has been
    sent stays as it was.
    """

    def __init__(self, history: History) -> None:
        self.ids: dict[int, dict[int, str]] = {}
        """New ids of calls and of their results, by message and part."""
        self.arguments: dict[int, dict[int, Mapping[str, Any]]] = {}
        """New arguments of calls, by message and part."""
        self._history = history
        self._taken: set[str] = set()
        self._named: dict[Address, str] = {}
        self._before: dict[Address, str] = {}
        self._done = 0

    def carried_over(self, kept: Iterable[Step], mended: History) -> StrictCalls:
        """Return those of a mended history, in which the steps that were kept call what they have called before."""
        self.advance()
        found = StrictCalls(mended)
        for old, new in zip(kept, mended.steps, strict=False):
            for (source, _), (target, _) in zip(old.calls, new.calls, strict=False):
                found._before[target] = self._named[source]
        return found

    def advance(self) -> None:
        """Take in the steps that have come in."""
        steps = self._history.steps
        for step in steps[self._done :]:
            for (address, call), result in zip(step.calls, step.results, strict=True):
                if address not in self._named:
                    self._take(address, call)
                if result is not None and self._named[address] != call.id:
                    self.ids.setdefault(result.position, {})[result.part] = self._named[address]
        # The last one may still get results.
        self._done = max(0, len(steps) - 1)

    def _take(self, address: Address, call: ToolCall) -> None:
        """Name a call; one that is read from text has nothing to be named by."""
        before = [self._before[address]] if address in self._before else []
        names = (name for name in chain(before, _names(call.id)) if name not in self._taken)
        name = call.id if call.raw is None else next(names)
        self._named[address] = name
        self._taken.add(name)
        if name != call.id:
            self.ids.setdefault(address.position, {})[address.part] = name
        if call.raw is not None and isinstance(call.arguments, str):
            given = {"arguments": call.arguments} if call.arguments.strip() else {}
            self.arguments.setdefault(address.position, {})[address.part] = given


def _names(given: str) -> Iterator[str]:
    """Yield what a call with this id can be called, the id itself first where it is fit to be sent."""
    fit = _UNFIT.sub("_", given)
    if fit:
        yield fit
    number = 2 if fit else 1
    while True:
        yield f"{fit or 'call'}_{number}"
        number += 1
