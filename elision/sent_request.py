"""One request of a session, looked at part by part: what each stage left of it, and what is on the wire."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import chain
from operator import is_
from typing import TypeVar

from elision.edits import Insert
from elision.fold import Fold
from elision.history import History, Step
from elision.message import Address, Piece, ToolResult, has_surrogates
from elision.needle import Needle, parts_of
from elision.outgoing import Outgoing
from elision.overlay import Overlay, original
from elision.report import AppliedEdit, SentView

T = TypeVar("T")


class SentRequest:
    """A request that has gone out: its view, the decisions that last, and what it was made of.

    Where the history is poisoned, what goes out is a mended one, in which parts stand elsewhere.
    """

    def __init__(self, view: SentView, fold: Fold, outgoing: Outgoing, needle: Needle) -> None:
        self.view = view
        self.fold = fold
        self._outgoing = outgoing
        self._needle = needle
        self.mended = outgoing.history is not fold.history
        self.lasting_edits = len(fold.decisions.edits)
        self.lasting_refusals = len(fold.decisions.refusals)

    def original_content(self, address: Address) -> tuple[Piece, ...]:
        """Return what the host gave at an address; nothing where no processor can edit."""
        return original(self.fold.history, address)

    def contents(
        self, address: Address, leaves_with: int | None
    ) -> Iterator[tuple[bool, int, tuple[Piece, ...] | None]]:
        """Yield what each stage left at an address: whether it lasts, the stage, and the content.

        The content is ``None`` where the step ``leaves_with`` has been dropped.
        """
        lasting, own = self.fold.overlay, self._outgoing.overlay
        for version in lasting.versions.get(address, ()):
            yield True, version.stage, version.content
        if leaves_with in lasting.dropped:
            yield True, -1, None
        moved = self.moved(address)
        for version in own.versions.get(moved, ()) if moved else ():
            yield False, version.stage, version.content
        if moved and leaves_with is not None and self._outgoing.history.step_of[moved.position] in own.dropped:
            yield False, -1, None

    def added(self) -> dict[tuple[int, str, int], tuple[Insert, bool]]:
        """Return the messages that processors have added and that stand in this request, and whether they last.

        They are known by position and text, equal ones by their number, too.
        """
        found: dict[tuple[int, str, int], tuple[Insert, bool]] = {}
        equal: Counter[tuple[int, str]] = Counter()
        for lasting, overlay in ((True, self.fold.overlay), (False, self._outgoing.overlay)):
            for insert in chain.from_iterable(overlay.inserted.values()):
                place = (insert.position, insert.text)
                found[(*place, equal[place])] = insert, lasting
                equal[place] += 1
        return found

    def adders(self, before: Sequence[AppliedEdit]) -> dict[tuple[int, int], str]:
        """Return who has added messages since the request before, by their position and their length."""
        edits = (edit for _, edit in differing(self.view.edits, before))
        return {(edit.position, edit.chars_after): edit.processor for edit in edits if edit.action == "insert"}

    def moved(self, address: Address) -> Address | None:
        """Return where a part of the history stands in what goes out; ``None`` where it is left out or not found."""
        if not self.mended:
            return address
        if address in self._results or address in self.fold.history.paired:
            return self._results.get(address)
        position = self._positions.get(address.position)
        return None if position is None else Address(position, address.part)

    def came_from(self, address: Address) -> Address:
        """Return where a part of what goes out stands in the history; position -1 where it does not."""
        if not self.mended:
            return address
        for source, target in self._results.items():
            if target == address:
                return source
        found = (source for source, target in self._positions.items() if target == address.position)
        return Address(next(found, -1), address.part)

    def count(self, address: Address, expected: int) -> tuple[int, str]:
        """Count how often the text is on the wire for a part, and say why it differs from what is expected."""
        history = self.fold.history
        moved = self.moved(address)
        if moved is None:
            if address in history.paired and not self.fold.overlay.is_dropped(history.paired[address].step):
                return 0, self._repaired(address)
            return (0 if self._scrubbed(address) else expected), self._repaired(address)
        index = _index(self._outgoing.history, self._outgoing.overlay, moved.position)
        if index is None:
            return 0, ""
        raw = self.view.messages[index]
        given = history.messages[address.position]
        if raw is given.raw:
            return self._needle.count(given.parts[address.part]), ""
        reader = self._outgoing.dialect
        parts = reader.parse(raw, History(reader.wire)).parts
        sent = self._outgoing.history.messages[moved.position].parts
        if len(parts) == len(sent) and (address in self._results or len(sent) == len(given.parts)):
            return self._needle.count(parts[moved.part]), self._repaired(address)
        return min(expected, self._needle.count(parts_of(parts))), self._repaired(address)

    def _scrubbed(self, address: Address) -> bool:
        return address.position in self.fold.history.faults.surrogates and has_surrogates(self._needle.text)

    def _repaired(self, address: Address) -> str:
        return "; ".join(
            f"{repair.fault}: {repair.detail}" for repair in self.view.repairs if repair.position == address.position
        )

    @cached_property
    def _steps(self) -> list[tuple[Step, Step]]:
        kept = [step for step in self.fold.history.steps if not self.fold.overlay.is_dropped(step.index)]
        return list(zip(kept, self._outgoing.history.steps, strict=False))

    @cached_property
    def _results(self) -> dict[Address, Address]:
        pairs = (zip(old.results, new.results, strict=False) for old, new in self._steps)
        return {source: target for pair in pairs for source, target in pair if source and target}

    @cached_property
    def _positions(self) -> dict[int, int]:
        """Where messages of the history stand in the mended one: by steps, and in order where both have as many."""
        history, mended = self.fold.history, self._outgoing.history
        acts = (zip(_acts(old), _acts(new), strict=False) for old, new in self._steps)
        found = {source: target for pairs in acts for source, target in pairs}
        loose = list(self._loose())
        sent = [segment.start for segment in mended.segments if segment.step is None]
        if len(loose) != len(sent):
            return found | _identical(history, mended)
        return found | {source: target for source, target in zip(loose, sent, strict=True) if source is not None}

    def _loose(self) -> Iterator[int | None]:
        """Yield the messages outside steps that go out, in order; ``None`` for one that was added."""
        history, overlay = self.fold.history, self.fold.overlay
        added = overlay.insertions()
        for segment in history.segments:
            yield from [None] * len(added.get(segment.start, ()))
            step = None if segment.step is None else history.steps[segment.step]
            if step is None or overlay.is_dropped(step.index):
                begin = step.acted if step else segment.start
                yield from (position for position in range(begin, segment.stop) if _says_more(history, position))
        yield from [None] * len(added.get(len(history), ()))


def _acts(step: Step) -> range:
    return range(step.start, step.acted)


def _identical(history: History, mended: History) -> dict[int, int]:
    objects = {id(message.raw): position for position, message in enumerate(mended.messages)}
    messages = enumerate(history.messages)
    return {position: objects[id(message.raw)] for position, message in messages if id(message.raw) in objects}


def _says_more(history: History, position: int) -> bool:
    """Whether a message has anything beside results."""
    return not all(isinstance(part, ToolResult) for part in history.messages[position].parts)


def differing(new: Sequence[T], old: Sequence[T]) -> Iterator[tuple[int, T]]:
    """Yield what does not stand at the same place in ``old``, with its place in ``new``."""
    same = list(map(is_, new, old))
    start = same.index(False) if False in same else len(same)
    for index in range(start, len(new)):
        if index >= len(same) or not same[index]:
            yield index, new[index]


def _index(history: History, overlay: Overlay, position: int) -> int | None:
    """Return where a message stands among those that are sent; ``None`` if its step has been dropped."""
    if not overlay.restructures():
        return position
    index = position + sum(len(added) for before, added in overlay.insertions().items() if before <= position)
    for step in overlay.dropped | (overlay.parent.dropped if overlay.parent else set()):
        left_out = _left_out(history, history.steps[step])
        if position in left_out:
            return None
        index -= sum(each < position for each in left_out)
    return index


def _left_out(history: History, step: Step) -> list[int]:
    """Return the messages that go with a step: not those in which the user says something, too."""
    return [
        position
        for position in range(step.start, step.stop)
        if position == step.start or all(isinstance(part, ToolResult) for part in history.messages[position].parts)
    ]
