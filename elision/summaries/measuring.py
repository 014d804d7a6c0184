"""How long the view is at a step, and which of its steps a summary could stand for."""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from typing import TYPE_CHECKING

from elision.history import History, Step
from elision.message import Address, ToolResult
from elision.offers import ends_open_step
from elision.repair import says
from elision.summaries.triggers import Measure
from elision.tokens import count_part, count_text

if TYPE_CHECKING:
    from elision.edits import Insert
    from elision.scheduler import RunSize
    from elision.view import View


def look(view: View) -> None:
    """Take in the steps before the newest, and those that the table lets go by now."""
    summed, history, standing = view.memory.summed, view.history, view.standing
    newest = max(view.moment.newest_step, 0)
    for step in history.steps[summed.looked_at : newest]:
        if not step.demo:
            summed.standing += 1
            if _may_go(view, step):
                summed.numbers.append(step.index)
            else:
                summed.held.add(step.index)
    summed.looked_at = max(summed.looked_at, newest)
    for address in standing.changed[summed.noticed :]:
        number = history.paired[address].step
        if number in summed.held and _may_go(view, history.steps[number]):
            summed.held.remove(number)
            insort(summed.numbers, number)
    summed.noticed = len(standing.changed)
    if len(view.overlay.dropped) != summed.dropped:
        summed.dropped = len(view.overlay.dropped)
        summed.numbers = [number for number in summed.numbers if not view.overlay.is_dropped(number)]
        summed.gone, summed.left_tokens = _gone(view)


def _may_go(view: View, step: Step) -> bool:
    results = [address for address in step.results if address is not None and address.position < step.stop]
    if len(results) != len(step.calls) or ends_open_step(view.history, step):
        return False
    paired = [view.history.paired[address] for address in results]
    return all(view.standing.allows("summarize", each, view.moment.newest_step) for each in paired)


def _gone(view: View) -> tuple[int, int]:
    """Return how many messages are left out, and the tokens of what users said in messages with results."""
    gone = tokens = 0
    for number in view.overlay.dropped:
        step = view.history.steps[number]
        for position in range(step.start, step.stop):
            parts = view.history.messages[position].parts if position >= step.acted else ()
            left = [part for part in parts if not isinstance(part, ToolResult)]
            gone += not left
            tokens += sum(count_part(part, view.model) for part in left)
    return gone, tokens


def size_of(view: View) -> RunSize | None:
    """Return how many tokens there are; ``None`` where nobody weighs."""
    scheduler = view.memory.scheduler
    return scheduler.size(view.moment.stop, view.model) if scheduler is not None else None


def measure_of(view: View, size: RunSize) -> Measure:
    """Return how long the view is."""
    summed = view.memory.summed
    ours = [each for inserts in view.overlay.insertions().values() for each in inserts if _stands(view, each)]
    return Measure(
        messages_tokens=size.messages + summed.left_tokens + sum(count_text(each.text, view.model) for each in ours),
        beside_tokens=size.beside,
        window_tokens=size.window_tokens,
        messages=view.moment.stop - summed.gone + len(ours),
        steps=len(summed.numbers) + (view.moment.steps > 0),
    )


def _stands(view: View, insert: Insert) -> bool:
    messages = view.history.messages
    return insert.position >= view.moment.stop or not says(messages[insert.position], insert)


def between(view: View, size: RunSize, keep_first: int, keep_last: int, keep_last_tokens: int | None) -> range:
    """Return which of the steps that may go stand between the first and the newest ones, as places among them."""
    numbers, newest = view.memory.summed.numbers, view.moment.newest_step
    last = newest - keep_last
    if keep_last_tokens is not None:
        last = min(last, _last_before_tail(view.history, size, newest, keep_last_tokens))
    first = _first_after_head(view.history, keep_first)
    return range(bisect_left(numbers, first), bisect_right(numbers, last))


def _first_after_head(history: History, keep_first: int) -> int:
    found = -1
    for step in history.steps:
        if keep_first <= 0:
            break
        found, keep_first = step.index, keep_first - (not step.demo)
    return found + 1


def _last_before_tail(history: History, size: RunSize, newest: int, tokens: int) -> int:
    """Return the newest step before those that have so many tokens together."""
    low, high = 0, newest
    while low < high:
        middle = (low + high) // 2
        if size.messages - size.weights.upto(history.steps[middle].start) <= tokens:
            high = middle
        else:
            low = middle + 1
    return low - 1


def tokens_of(view: View, size: RunSize, number: int) -> int:
    """Return the tokens of a step as it stands."""
    step = view.history.steps[number]
    return size.weights.upto(step.stop) - size.weights.upto(step.start)


def position_of(view: View, number: int) -> int:
    """Return where a step begins."""
    return view.history.steps[number].start


def user_texts(view: View) -> list[tuple[int, str]]:
    """Return what the user has said so far, with the positions; what is ours is not the user's."""
    from elision.message import Text
    from elision.summaries.learning import source

    found = []
    for position in range(view.moment.stop):
        message = view.history.messages[position]
        if message.role == "user" and message.kind != "demo":
            for index, part in enumerate(message.parts):
                if isinstance(part, Text) and not is_ours(view, part.text):
                    found.append((position, source(view, Address(position, index))))
    return found


def is_ours(view: View, text: str) -> bool:
    """Whether Elision has written a message: it begins as ours do, and the archive knows its hash."""
    if not text.startswith("["):
        return False
    originals = view.originals
    return text in originals.texts or (not originals.trouble and originals.archive.is_ours(text))
