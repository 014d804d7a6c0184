"""What the requests of a run made of a text, place by place."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from elision.edits import Insert
from elision.errors import ArchiveError
from elision.guard import ARCHIVED_FIRST
from elision.history import History
from elision.message import Address
from elision.needle import Needle, Where
from elision.redaction import redact_content
from elision.report import AppliedEdit, Failure, Refusal, SentView
from elision.sent_request import SentRequest, differing
from elision.traced import TracedPlace, TraceEvent, What

if TYPE_CHECKING:
    from elision.archive import Archive
    from elision.chain import Chain
    from elision.fold import Fold
    from elision.session import Session


class Turn(NamedTuple):
    """What one stage makes of the text at one place: ``order`` is the stage's place, ``left`` what it leaves."""

    order: tuple[int, int]
    stage: str
    what: What
    left: int
    drops: bool = False


_PARSE, _LASTING, _REQUEST, _RENDER = range(4)


@dataclass(slots=True)
class Spot:
    """A place that is followed.

    ``leaves_with`` is the step whose drop takes it away, ``count`` how often the text was there in the request before,
    ``turns`` what the stages made of it then.
    """

    place: TracedPlace
    leaves_with: int | None
    count: int = 0
    lasts: bool = True
    """Whether it is a message of the history, or one that was added for good."""
    added_by: str = ""
    recallable: bool = False
    events: list[TraceEvent] = field(default_factory=list)
    turns: list[Turn] = field(default_factory=list)
    edits: dict[tuple[str, bool], AppliedEdit] = field(default_factory=dict)
    refused: set[tuple[Any, ...]] = field(default_factory=set)
    new: list[tuple[tuple[int, int], TraceEvent]] = field(default_factory=list)

    @property
    def address(self) -> Address | None:
        """Where it stands in the history, if it does."""
        position, part = self.place.position, self.place.part
        return None if position is None or part is None else Address(position, part)


class Following:
    """All places of one text, and what the requests so far made of them."""

    def __init__(self, chain: Chain, needle: Needle, history: History, spots: Iterable[Spot]) -> None:
        self.spots = list(spots)
        self.failures: dict[Failure, None] = {}
        self._archive: Archive = chain.opened_archive
        self._names = [processor.type_name for processor in chain.processors]
        self._operations = {processor.type_name: processor.operation for processor in chain.processors}
        self._needle = needle
        self._history = history
        self._at = {spot.address: spot for spot in self.spots}
        self._of_step: dict[int, list[Spot]] = defaultdict(list)
        for spot in self.spots:
            if spot.leaves_with is not None:
                self._of_step[spot.leaves_with].append(spot)
        self._arrived = 0
        self._view: SentView | None = None
        self._fold: Fold | None = None
        self._was_mended = False
        self._added: dict[tuple[int, str, int], Spot] = {}
        self._read: set[tuple[int, str, int]] = set()

    @property
    def sent(self) -> Sequence[Any]:
        """The messages of the last request."""
        return self._view.messages if self._view else ()

    def places(self) -> Iterator[TracedPlace]:
        """Yield the places with what happened to them."""
        for spot in [*self.spots, *self._added.values()]:
            yield replace(spot.place, events=tuple(spot.events), visible=spot.count > 0, recallable=spot.recallable)

    def take(self, step: int, view: SentView, session: Session) -> None:
        """Look at what one request has changed."""
        fold, outgoing = session.fold, session.outgoing
        if fold is None or outgoing is None:
            return
        now = SentRequest(view, fold, outgoing, self._needle)
        self.failures |= dict.fromkeys(view.failures)
        touched = {id(spot): spot for spot in self._arrivals(step, view)}
        self._note_edits(now, touched)
        self._note_refusals(now, step, touched)
        if now.mended or self._was_mended or (self._fold is not None and self._fold is not fold):
            touched = {id(spot): spot for spot in self.spots[: self._arrived]}
        for spot in touched.values():
            self._examine(spot, now, step)
        self._look_at_added(now, step)
        self._view, self._fold, self._was_mended = view, fold, now.mended

    def _arrivals(self, step: int, view: SentView) -> Iterator[Spot]:
        while self._arrived < len(self.spots):
            spot = self.spots[self._arrived]
            if spot.place.position is not None and spot.place.position >= len(view.history):
                return
            self._arrived += 1
            spot.new.append(((_PARSE, 0), TraceEvent(step, "parse", "seen", spot.place.count)))
            yield spot

    def _note_edits(self, now: SentRequest, touched: dict[int, Spot]) -> None:
        before = self._view.edits if self._view else ()
        for index, edit in differing(now.view.edits, before):
            lasting = index < now.lasting_edits
            for spot in self._spots_at(edit, now, lasting=lasting):
                spot.edits[edit.processor, edit.action == "drop"] = edit
                touched[id(spot)] = spot
        for _, edit in differing(before, now.view.edits):
            touched.update((id(spot), spot) for spot in self._spots_at(edit, now, lasting=True))

    def _note_refusals(self, now: SentRequest, step: int, touched: dict[int, Spot]) -> None:
        before = self._view.refusals if self._view else ()
        for index, refusal in differing(now.view.refusals, before):
            lasting = index < now.lasting_refusals
            if refusal.action not in {"replace", "elide", "drop", "remove"}:
                continue
            for spot in self._spots_at(refusal, now, lasting=lasting):
                told = (refusal.processor, refusal.action, refusal.rule, refusal.classes)
                if told not in spot.refused:
                    spot.refused.add(told)
                    order = (_LASTING if lasting else _REQUEST, self._index(refusal.processor))
                    spot.new.append((order, self._refusal(step, refusal, spot)))
                    touched[id(spot)] = spot

    def _spots_at(self, edit: AppliedEdit | Refusal, now: SentRequest, *, lasting: bool) -> list[Spot]:
        address = Address(edit.position, -1 if edit.part is None else edit.part)
        if not lasting and now.mended:
            address = now.came_from(address)
        if not 0 <= address.position < len(self._history):
            return []
        if edit.action == "drop":
            step = self._history.step_of[address.position]
            found = self._of_step.get(-1 if step is None else step, [])
        elif edit.action == "remove":
            found = [spot for spot in self.spots if spot.place.position == address.position]
        else:
            found = [self._at[address]] if address in self._at else []
        return [spot for spot in found if (spot.place.position or 0) < len(now.view.history)]

    def _refusal(self, step: int, refusal: Refusal, spot: Spot) -> TraceEvent:
        by_archive = refusal.rule == ARCHIVED_FIRST.name
        return TraceEvent(
            step,
            "archive" if by_archive else "guard",
            "refused",
            spot.count if spot.events else spot.place.count,
            processor=refusal.processor,
            operation=self._operations.get(refusal.processor, ""),
            rule=refusal.rule,
            classes=refusal.classes,
            reason=refusal.reason,
        )

    def _index(self, processor: str) -> int:
        return self._names.index(processor) if processor in self._names else -1

    def _examine(self, spot: Spot, now: SentRequest, step: int) -> None:
        turns = list(self._turns(spot, now))
        left = turns[-1].left if turns else spot.place.count
        wire, why = now.count(spot.address, left) if spot.address else (left, "")
        if wire != left:
            turns.append(Turn((_RENDER, 0), "render", _what(left, wire), wire))
        # What a later stage has already made of the text, and makes of it still, hides what is new before it.
        known = max((place for place, turn in enumerate(turns) if turn in spot.turns), default=-1)
        fresh = turns[known + 1 :]
        if spot.count > 0 == wire and not any(turn.what == "gone" for turn in fresh):
            fresh += [turn for turn in turns if turn.what == "gone"][-1:]
        for turn in fresh:
            spot.new += [(turn.order, event) for event in self._events(spot, turn, step, why)]
        if spot.count == 0 < wire and spot.events and not any(turn.what == "back" for turn in fresh):
            reason = f"{spot.turns[-1].stage} leaves it in this request" if spot.turns else ""
            spot.new.append(((_RENDER, 1), TraceEvent(step, "render", "back", wire, reason=reason)))
        spot.events += [event for _, event in sorted(spot.new, key=lambda each: each[0])]
        spot.new.clear()
        spot.turns, spot.count = turns, wire
        spot.recallable = spot.recallable and not wire

    def _turns(self, spot: Spot, now: SentRequest) -> Iterator[Turn]:
        """Yield what each stage makes of the text, where it makes a difference to it."""
        address = spot.address
        if address is None:
            return
        found: Any = now.original_content(address)
        count = spot.place.count
        for lasting, index, content in now.contents(address, spot.leaves_with):
            if content == found:
                continue
            found, before, drops = content, count, content is None
            count = self._needle.count(content)
            if before or count:
                stage = self._dropper(spot) if drops else self._names[index]
                order = (_LASTING if lasting else _REQUEST, self._index(stage) if drops else index)
                yield Turn(order, stage, _what(before, count), count, drops)

    def _dropper(self, spot: Spot) -> str:
        return next((name for name, drops in reversed(spot.edits) if drops), "")

    def _events(self, spot: Spot, turn: Turn, step: int, why: str) -> Iterator[TraceEvent]:
        edit = spot.edits.get((turn.stage, turn.drops))
        if edit is None:
            yield TraceEvent(step, turn.stage, turn.what, turn.left, reason=why)
            return
        yield TraceEvent(
            step,
            turn.stage,
            turn.what,
            turn.left,
            processor=edit.processor,
            operation=edit.operation,
            classes=edit.classes,
            ref=edit.ref,
            reason=edit.reason,
        )
        if turn.what == "gone" and edit.ref:
            count, told = _recalled(self._archive, edit.ref, self._needle)
            spot.recallable = count > 0
            what: What = "seen" if count else "gone"
            yield TraceEvent(step, "archive", what, count, ref=edit.ref, reason=told)

    def _look_at_added(self, now: SentRequest, step: int) -> None:
        """Follow messages that processors add: a summary can carry the text on."""
        standing = now.added()
        fresh = [key for key in standing if key not in self._read or key in self._added]
        adders = now.adders(self._view.edits if self._view else ())
        self._read.update(fresh)
        for key in fresh:
            insert, lasting = standing[key]
            if key not in self._added:
                places = self._needle.places(insert.text)
                if not places:
                    continue
                self._added[key] = _added_spot(insert, places, adders.get((insert.position, len(insert.text)), ""))
            spot = self._added[key]
            if spot.count == 0:
                what: What = "back" if spot.events else "seen"
                spot.events.append(TraceEvent(step, spot.added_by, what, spot.place.count, spot.added_by))
            spot.count, spot.lasts = spot.place.count, lasting
        for key, spot in self._added.items():
            if spot.count and key not in standing:
                spot.count = 0
                stage = spot.added_by if spot.lasts else "render"
                why = "another message stands in its place" if spot.lasts else "it is not added to this request"
                spot.events.append(TraceEvent(step, stage, "gone", reason=why))


def _added_spot(insert: Insert, places: Sequence[Where], by: str) -> Spot:
    where = tuple(dict.fromkeys(places))
    place = TracedPlace(insert.position, None, None, insert.role, insert.kind, "added", len(places), where)
    return Spot(place, None, added_by=by)


def _what(before: int, after: int) -> What:
    if after == 0:
        return "gone"
    return "changed" if before else "back"


def _recalled(archive: Archive, ref: str, needle: Needle) -> tuple[int, str]:
    """Return how often the text is in what a ref brings back, and why it is not there if it is not."""
    try:
        original = archive.get(ref)
    except ArchiveError as error:
        return 0, str(error)
    count, policy = needle.count(redact_content(original.content, original.view_policy)), original.view_policy
    if count:
        return count, ""
    if policy != "none":
        return 0, f"what it brings back is redacted ({policy})"
    return 0, f"it is not in what is kept (stored_policy: {archive.stored})"
