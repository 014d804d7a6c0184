"""A history that cannot go on the wire as it stands, mended for the requests of a run: each message is mended once."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, NamedTuple

from elision.dialect import Dialect
from elision.edits import Insert
from elision.history import History, Segment, Step
from elision.mended import Mended
from elision.message import Address, Message, Text
from elision.overlay import Overlay, Version, content_at
from elision.repair import OPENING, Assembled, Assembly, Repair, assembled, built
from elision.strict_calls import StrictCalls


class _Begin(NamedTuple):
    """Where a segment of the host's history begins: there, among what is mended, and in what is told of it."""

    start: int
    place: int
    steps: int
    repairs: int


class Mending:
    """What goes out in place of one growing history that is poisoned; a request mends what is new, or has changed.

    What changes is made anew together with all that stands behind it.  A last step that waits for results is mended
    for one request only.
    """

    def __init__(self, history: History, lasting: Overlay) -> None:
        self.history = history
        self.lasting = lasting
        self.calls = StrictCalls(history)
        self._touched: set[int] = set()
        self._begin()

    def _begin(self) -> None:
        self._mended = Mended(self.history.wire)
        self._begins: list[_Begin] = []
        self._stop = self._complete = self._end = 0
        self._kept: list[Step] = []
        self._carried = 0
        self._repairs: list[Repair] = []
        self._opened: int | None = None
        self._opening: list[Repair] = []
        self._altered = self._refs = 0
        self._dropped: set[int] = set()
        self._inserted: dict[int, list[Insert]] = {}

    @property
    def repairs(self) -> list[Repair]:
        """All that was mended."""
        return [*self._repairs, *self._opening]

    def touch(self, positions: Iterable[int]) -> None:
        """Note messages that lasting edits have changed since the request before."""
        self._touched.update(position for position in positions if position < self._stop)

    def renew(self, before: Sequence[Any], now: Sequence[Any]) -> None:
        """Send the host's present objects in place of equal ones that it had before."""
        self._mended.renew(before, now)

    def advance(self, dialect: Dialect, rendered: Sequence[Any], refs: Mapping[Address, str]) -> Mended:
        """Return the mended history with what is new in it; ``refs`` say what orphans are called in the archive."""
        self.calls.advance()
        inserted = self.lasting.insertions()
        self._cut(self._unchanged(inserted, refs))
        self._complete = 0
        work = Assembly(self.history, dialect, rendered, self.lasting, refs)
        for segment in self.history.segments[len(self._begins) :]:
            self._take(dialect, segment, assembled(work, segment, inserted.get(segment.start, ())))
        self._end = len(self._mended.messages)
        self._stop = len(self.history)
        self._mended.extend(dialect, built(work, inserted.get(self._stop, ())))
        self._carry_over()
        self._altered, self._refs = len(self.history.altered), len(refs)
        self._dropped, self._inserted = set(self.lasting.dropped), inserted
        self._touched.clear()
        self._complete = self.history.ready() if self._is_whole() else 0
        return self._mended

    def _unchanged(self, inserted: Mapping[int, list[Insert]], refs: Mapping[Address, str]) -> int:
        """Return how many segments stay as they have been mended."""
        first = min(self._changes(inserted, refs), default=self._stop)
        if first >= self._stop:
            return self._complete
        return min(self._complete, bisect_right(self._begins, first, key=lambda begin: begin.start) - 1)

    def _changes(self, inserted: Mapping[int, list[Insert]], refs: Mapping[Address, str]) -> Iterator[int]:
        """Yield positions of what goes out in another way than the request before had it."""
        steps, late = self.history.steps, self.history.faults.late
        yield from self._touched
        for position in self._touched if late else ():
            addresses = (Address(position, part) for part in range(len(self.history.messages[position].parts)))
            yield from (steps[late[address]].start for address in addresses if address in late)
        yield from self.history.altered[self._altered :]
        yield from (steps[index].start for index in self._dropped ^ self.lasting.dropped)
        both = inserted.keys() | self._inserted.keys()
        yield from (position for position in both if inserted.get(position) != self._inserted.get(position))
        yield from (address.position for address in islice(refs, self._refs, None))

    def _cut(self, segments: int) -> None:
        """Take away all but what so many segments have been mended to."""
        if not segments:
            self._begin()
        elif segments == len(self._begins):
            self._mended.cut(self._end)
        else:
            begin = self._begins[segments]
            self._mended.cut(begin.place)
            del self._begins[segments:], self._kept[begin.steps :], self._repairs[begin.repairs :]
            self._carried = min(self._carried, begin.steps)
            if self._opened is not None and self._opened >= segments:
                self._opened, self._opening = None, []

    def _take(self, dialect: Dialect, segment: Segment, found: Assembled) -> None:
        begin = _Begin(segment.start, len(self._mended.messages), len(self._kept), len(self._repairs))
        if self._opened is None:
            found = self._with_opening(dialect, found)
        self._begins.append(begin)
        if segment.step is not None and not self.lasting.is_dropped(segment.step):
            step = self.history.steps[segment.step]
            if self.history.goes_out(step):
                self._kept.append(step)
        self._repairs += found.repairs
        self._mended.extend(dialect, found.messages[: found.own])
        self._mended.extend(dialect, found.messages[found.own :], begins=True)

    def _with_opening(self, dialect: Dialect, found: Assembled) -> Assembled:
        """Put a message of the user in front where the assistant would begin, unless the host has it so."""
        messages, place = found.messages, len(self._mended.messages)
        roles = [dialect.parse(raw, History(dialect.wire)).role for raw in messages]
        at = next((index for index, role in enumerate(roles) if role != "system"), None)
        if at is None:
            return found
        self._opened = len(self._begins)
        if roles[at] != "assistant" or not dialect.wire.user_first or self._begins_with_assistant():
            return found
        opening = dialect.build(Message("user", "note", (Text(OPENING),), None))
        told = "a message of the user stands in front of the assistant's"
        self._opening = [Repair("no_user_first", place + at, told)]
        own = found.own + (len(opening) if found.own >= at else 0)
        return found._replace(messages=[*messages[:at], *opening, *messages[at:]], own=own)

    def _begins_with_assistant(self) -> bool:
        first = next((message.role for message in self.history.messages if message.role != "system"), None)
        return first == "assistant"

    def _carry_over(self) -> None:
        """Let what was known of steps be known of them as they are mended: tags, placeholders, open calls, names."""
        steps = self._mended.history.steps
        for old, new in zip(self._kept[self._carried :], steps[self._carried :], strict=False):
            self._carry_step(old, new)
        self._carried = min(len(self._kept), len(steps))

    def _carry_step(self, old: Step, new: Step) -> None:
        known, lasting = self._mended.overlay, self.lasting
        new.unfinished = old.open or old.unfinished
        # Where calls stand in the text, an edit of the text can take them away: then nothing is known of their results.
        for source, target in zip(old.results, new.results, strict=False):
            if source is None or target is None:
                continue
            if tags := lasting.tags_of(source, self.history.messages[source.position]):
                known.tags[target] = tags
            if lasting.elided(source):
                known.versions[target] = [Version(0, content_at(self.history, lasting, source), elided=True)]
        for (source, _), (target, call) in zip(old.calls, new.calls, strict=False):
            if lasting.elided(source):
                known.versions[target] = [Version(0, (call,), elided=True)]
        self._mended.calls.name_as(new, self.calls.names(old))

    def _is_whole(self) -> bool:
        """Whether each step has been mended to a step, by itself: only then can what stands behind it be taken away."""
        history = self._mended.history
        return len(self._kept) == len(history.steps) and not history.altered
