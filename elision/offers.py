"""What is offered to processors as it changes: each place once, so that a run costs time linear in its length."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from typing import TYPE_CHECKING

from elision.history import Paired
from elision.message import Address, Image, Text, Thinking, ToolResult
from elision.parts import Observation, PartView
from elision.said import ThinkingView
from elision.wholes import StepView

if TYPE_CHECKING:
    from elision.history import History, Step
    from elision.moment import StepsOffered, ThinkingOffered
    from elision.view import View


def older_results(
    view: View, keep_last: int, keep_steps: int, only: Callable[[Observation], bool] | None
) -> Iterator[Paired]:
    """Yield the results that have become old, each once, and those that were put off or have changed."""
    memory, history, moment = view.memory, view.history, view.moment
    again = view.settled(memory.deferred) if memory.deferred else []
    for address in [*again, *_changed_results(view, "observations")]:
        paired = history.paired[address]
        if paired.ordinal < memory.offered_observations:
            memory.deferred.pop(address, None)
            yield paired
    fresh = history.observations[memory.looked_at : moment.observations]
    memory.looked_at = moment.observations
    memory.fitting += fresh if only is None else [each for each in fresh if only(Observation(view, each))]
    stop, oldest_kept = len(memory.fitting) - max(keep_last, 0), moment.newest_step - max(keep_steps, 1) + 1
    while memory.offered_fitting < stop:
        paired = memory.fitting[memory.offered_fitting]
        if 0 <= paired.step >= oldest_kept:
            break
        memory.offered_fitting += 1
        memory.offered_observations = paired.ordinal + 1
        yield paired


def older_thinking(view: View, keep_turns: int) -> Iterator[ThinkingView]:
    """Yield the thinking of old turns, each piece once, and that which was put off."""
    memory, seen = view.memory, _thinking_seen(view)
    found = view.settled(memory.deferred)
    for address in found:
        del memory.deferred[address]
    start = seen.offered
    seen.offered = max(start, len(seen.turns) - max(keep_turns, 1))
    found += [address for turn in seen.turns[start : seen.offered] for address in turn]
    for address in sorted(found):
        thinking = ThinkingView(view, address)
        if thinking.stands:
            yield thinking


def _thinking_seen(view: View) -> ThinkingOffered:
    """Take in the thinking of new messages, by turns."""
    seen, history = view.memory.thinking, view.history
    for position in range(seen.looked_at, view.moment.stop):
        message = history.messages[position]
        if message.role == "user" and message.kind in {"task", "user"}:
            seen.begins = True
        if history.step_of[position] is None or message.role != "assistant" or message.kind == "demo":
            continue
        parts = enumerate(message.parts)
        found = [Address(position, i) for i, part in parts if isinstance(part, Thinking) and not part.fixed]
        if found:
            if seen.begins or not seen.turns:
                seen.turns.append([])
            seen.begins = False
            seen.turns[-1] += found
    seen.looked_at = view.moment.stop
    return seen


def superseded(view: View) -> Iterator[Observation]:
    """Yield the observations that have just become superseded, and those that were put off."""
    memory, standing = view.memory, view.standing
    again = view.settled(memory.deferred) if memory.deferred else []
    found = dict.fromkeys([*again, *standing.stale[memory.noticed :]])
    memory.noticed = len(standing.stale)
    for address in found:
        paired = view.history.paired[address]
        if standing.superseded(paired):
            memory.deferred.pop(address, None)
            yield from view.offer(paired)


def repeated(view: View, key: Callable[[Observation], Hashable | None]) -> Iterator[Observation]:
    """Yield the observations of which a newer one with an equal key stands in the view, each once."""
    memory, index = view.memory, view.index(lambda part: _key(part, key))
    for address in view.settled(memory.deferred):
        memory.deferred.pop(address)
        if not index.keys_of.get(address):
            index.put(address, _key(view.part(address), key))
            index.entered += (address,)
    keys = dict.fromkeys(found for address in index.entered for found in index.keys_of.get(address, ()))
    for each in keys:
        *older, newest = sorted(index.by_key[each])
        while older and not view.stands(view.history.paired[newest]):
            index.put(newest, ())
            newest = older.pop()
        for address in older:
            index.put(address, ())
            yield from view.offer(view.history.paired[address])


def _key(part: PartView, key: Callable[[Observation], Hashable | None]) -> tuple[Hashable, ...]:
    if not isinstance(part, Observation) or part.demo or part.elided:
        return ()
    found = key(part)
    return () if found is None else (found,)


def older_steps(view: View, keep_last: int, keep_first: int) -> Iterator[StepView]:
    """Yield the steps between the first ``keep_first`` and the newest ``keep_last``, each once, and those put off."""
    seen, steps = _steps_seen(view), view.history.steps
    settled = view.settled(view.memory.deferred)
    for address in settled:
        del view.memory.deferred[address]
    again = [view.history.paired[address].step for address in settled]
    again += [number for number in seen.deferred if not steps[number].open_at(view.moment.stop)]
    start = max(seen.offered, keep_first)
    seen.offered = max(start, len(seen.numbers) - max(keep_last - 1, 0))
    for number in dict.fromkeys([*again, *seen.numbers[start : seen.offered]]):
        seen.deferred.pop(number, None)
        if not view.overlay.is_dropped(number):
            yield StepView(view, steps[number])


def droppable_steps(view: View) -> int:
    """Return how many steps stand in the view that could be dropped by now, and the newest."""
    seen = _steps_seen(view)
    return len(seen.numbers) - len(seen.held) - len(view.overlay.dropped) + (view.moment.steps > 0)


def _steps_seen(view: View) -> StepsOffered:
    """Take in the steps before the newest, whose results can still change; look again at those that had to stay."""
    seen, history, standing = view.memory.steps, view.history, view.standing
    newest = max(view.moment.newest_step, 0)
    for step in history.steps[seen.looked_at : newest]:
        if not step.demo:
            seen.numbers.append(step.index)
            if not _may_go(view, step):
                seen.held.add(step.index)
    seen.looked_at = newest
    for address in standing.changed[seen.noticed :]:
        number = history.paired[address].step
        if number in seen.held and _may_go(view, history.steps[number]):
            seen.held.remove(number)
    seen.noticed = len(standing.changed)
    return seen


def _may_go(view: View, step: Step) -> bool:
    results = [address for address in step.results if address is not None and address.position < step.stop]
    return (
        len(results) == len(step.calls)
        and not ends_open_step(view.history, step)
        and all(view.standing.allows("drop", view.history.paired[each], view.moment.newest_step) for each in results)
    )


def ends_open_step(history: History, step: Step) -> bool:
    """Whether results that come later could be taken for those that the step before lacks, if this step were gone.

    Where a missing result is made up on the way out, they could not.
    """
    before = history.steps[step.index - 1] if step.index > 0 else None
    return before is not None and any(
        (found is None or found.position >= before.stop) and not (history.wire.checked and call.raw is not None)
        for (_, call), found in zip(before.calls, before.results, strict=True)
    )


def older_images(
    view: View, keep: int | None, most: int | None, most_chars: int | None
) -> Iterator[tuple[Observation, int]]:
    """Yield the results with images that should go, the oldest first, and how many of the newest of each stay."""
    memory, images = view.memory, view.memory.images
    _count_images(view)
    found: dict[Address, None] = {}
    for address in [*view.settled(memory.deferred), *_changed_results(view, "images")]:
        memory.deferred.pop(address, None)
        if address in images.left:
            _look_again(view, view.history.paired[address])
            found[address] = None
    while images.first < len(images.order):
        over = (keep is not None and images.count > keep) or _over(view, most, most_chars)
        address = images.order[images.first]
        paired = view.history.paired[address]
        if not over or paired.step == view.moment.newest_step:
            break
        _take_oldest(view, paired)
        found[address] = None
    for address in found:
        yield from ((each, len(images.left[address])) for each in view.offer(view.history.paired[address]))


def _count_images(view: View) -> None:
    """Take in the images of new messages."""
    images, history = view.memory.images, view.history
    for position in range(images.messages, view.moment.stop):
        message = view.message(position)
        for index, part in enumerate(message.message.parts):
            address = Address(position, index)
            if isinstance(part, ToolResult) and address not in history.demos:
                images.put(address, _sizes(view, address))
            elif isinstance(part, ToolResult | Text):
                images.add_beside(_sizes(view, address))
            elif isinstance(part, Image):
                images.add_beside([len(part.url)])
    images.messages = view.moment.stop


def _take_oldest(view: View, paired: Paired) -> None:
    """Count the oldest image as gone, or beside the others where the table does not let it go as yet."""
    images = view.memory.images
    left = images.left[paired.address]
    if left:
        images.put(paired.address, left[1:])
        if not view.standing.allows("clear", paired, view.moment.newest_step):
            images.hold(paired.address, [*images.held.get(paired.address, ()), left[0]])
    if len(left) <= 1:
        images.first += 1


def _look_again(view: View, paired: Paired) -> None:
    """Count the images of a result anew: those that stay are the newest of them, as many as stayed before."""
    images, sizes = view.memory.images, _sizes(view, paired.address)
    gone = max(0, len(sizes) - len(images.left[paired.address]))
    images.put(paired.address, sizes[gone:])
    free = view.standing.allows("clear", paired, view.moment.newest_step)
    images.hold(paired.address, [] if free else sizes[:gone])


def _over(view: View, most: int | None, most_chars: int | None) -> bool:
    images = view.memory.images
    return (most is not None and images.count + images.beside > most) or (
        most_chars is not None and images.chars + images.beside_chars > most_chars
    )


def _sizes(view: View, address: Address) -> list[int]:
    return [len(piece.url) for piece in view.part(address).content if isinstance(piece, Image)]


def _changed_results(view: View, reader: str) -> list[Address]:
    """Return the results in the messages that earlier stages changed since ``reader`` last asked."""
    changed = view.memory.changed_since(reader)
    if not changed:
        return []
    return [
        Address(position, index)
        for position in changed
        for index, part in enumerate(view.history.messages[position].parts)
        if isinstance(part, ToolResult) and Address(position, index) not in view.history.demos
    ]
