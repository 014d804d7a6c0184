"""From a call to its result, and from a result to its call."""

from __future__ import annotations

from collections.abc import Iterable

from elision.history import History, Paired, Segment
from elision.message import Address, Thinking, ToolCall


def call_address(history: History, paired: Paired) -> Address | None:
    """Return where the call stands that a result answers; ``None`` for an orphan."""
    if paired.call is None or paired.step < 0:
        return None
    step = history.steps[paired.step]
    found = zip(step.calls, step.results, strict=True)
    return next((address for (address, _), result in found if result == paired.address), None)


def result_of(history: History, address: Address) -> Paired | None:
    """Return the result of the call at an address; ``None`` where no call stands there, or it has none."""
    index = history.step_of[address.position]
    if index is None:
        return None
    step = history.steps[index]
    for (called, _), result in zip(step.calls, step.results, strict=True):
        if called == address:
            return None if result is None else history.paired[result]
    return None


def step_at(history: History, address: Address) -> int:
    """Return the step that a part belongs to, -1 where it belongs to none; a result belongs to that of its call."""
    paired = history.paired.get(address)
    if paired is not None:
        return paired.step
    step = history.step_of[address.position]
    return -1 if step is None else step


def is_said(history: History, address: Address) -> bool:
    """Whether a call or thinking stands at an address."""
    return isinstance(history.messages[address.position].parts[address.part], ToolCall | Thinking)


def windows_of(history: History, changed: Iterable[int], segment: Segment) -> list[tuple[int, int]]:
    """Return the windows of messages before a segment that have changed: whole steps, or single messages."""
    windows: dict[tuple[int, int], None] = {}
    for position in changed:
        if position < segment.start:
            step = history.step_of[position]
            found = history.steps[step] if step is not None else None
            windows[(found.start, found.stop) if found else (position, position + 1)] = None
    return list(windows)
