"""The requests of one session, one after the other: what each shares with those before it, noted as it is sent."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import compress, count
from operator import is_not
from typing import TYPE_CHECKING, Any, NamedTuple

from elision.breakpoints import automatic_breakpoint, breakpoints_beside, takes_breakpoints, why_no_breakpoints
from elision.cache.cuts import CUTTING
from elision.cache.entries import Entries
from elision.cache.path import Beside, Node, Path, Reader, Tally, same
from elision.cache.report import Break, Sent
from elision.cache.tools import in_another_order

if TYPE_CHECKING:
    from elision.fold import Fold
    from elision.moment import Request
    from elision.outgoing import Outgoing
    from elision.overlay import Overlay
    from elision.profiles import Profile
    from elision.question import Decisions
    from elision.report import AppliedEdit


class Outcome(NamedTuple):
    """What came of one request: what it was made of, and the messages that go out."""

    fold: Fold
    sent: Outgoing
    decisions: Decisions
    messages: list[Any]
    history: Sequence[Any]
    request: Request
    now: float | None = None

    @property
    def in_place(self) -> bool:
        """Whether each message stands where the history has it."""
        return self.sent.unmended is None and not self.sent.overlay.restructures()


class Requests:
    """What has been sent so far; a request costs time in proportion to what has changed since the one before."""

    def __init__(self) -> None:
        self._before: Outcome | None = None
        self._touched: set[int] = set()
        self._edits = 0
        self._profile: Profile | None = None
        self._sent: Path | None = None
        self._full: Tally | None = None
        self._entries = Entries()
        self._ended: list[int] = []
        self._lives = 0
        self._own_texts: set[str] = set()

    def touch(self, positions: Iterable[int]) -> None:
        """Note messages that lasting edits have changed since the request before."""
        self._touched.update(positions)

    def note(self, outcome: Outcome) -> Sent:
        """Take in a request, and return what is to be known of it when somebody asks for its report."""
        from elision.profiles.resolving import profile_for

        request, before = outcome.request, self._before
        profile = profile_for(request.model)
        reason = self._all_is_new(before, outcome)
        if before is None or self._sent is None or self._full is None or reason:
            beside = Beside(request.system, request.tools, request.model)
            reader = Reader(outcome.sent.dialect, request.model, self._own_texts)
            self._sent, self._full = Path(Node(-1, beside, None, reader), reader), Tally(beside, reader)
            self._entries, self._ended = Entries(), []
        if self._sent.reader.dialect is not outcome.sent.dialect:
            self._sent.reader = Reader(outcome.sent.dialect, request.model, self._own_texts)
        first, breaks = self._first(before, outcome, reason)
        sent = self._followed(outcome, profile, first, breaks, new=before is None or bool(reason))
        self._before, self._touched, self._edits = outcome, set(), len(outcome.fold.decisions.edits)
        if outcome.sent.mended:
            outcome.sent.mended.stays = len(outcome.messages)
        return sent

    def _first(self, before: Outcome | None, outcome: Outcome, reason: str) -> tuple[int, tuple[Break, ...]]:
        """Return where the request departs from the one before, and the break if it does not extend that."""
        if before is None:
            return 0, ()
        if reason:
            return 0, (Break(0, reason),)
        first = first_change(before.messages, outcome.messages, self._candidates(before, outcome))
        if first >= len(before.messages):
            return first, ()
        return first, (self._why(before, outcome, first),)

    def _followed(
        self, outcome: Outcome, profile: Profile, first: int, breaks: tuple[Break, ...], *, new: bool
    ) -> Sent:
        path, full = self._sent, self._full
        assert path is not None and full is not None  # noqa: S101, PT018 (note)
        self._entries.cut(first)
        while self._ended and self._ended[-1] >= first:
            self._ended.pop()
        self._own_texts.update(_inserted(outcome.sent.overlay))
        shared = path.renew(first, outcome.messages)
        known = None if self._before is None or new else len(self._before.history)
        if known is not None and self._before is not None and self._rewrote(outcome):
            known = first_change(self._before.history, outcome.history, None)
            self._full = full = Tally(path.root.raw, path.reader)
        marks, cache, ended = _marks(outcome), profile.cache, self._ended[-1:]
        recent = self._entries.recent(cache.lookback_breakpoints) if cache.lookback_blocks is None else None
        sent = Sent(
            profile=profile,
            beside=path.root.raw,
            last=path.last,
            shared=None if new else shared,
            ended=path.at(ended[0]) if ended else None,
            recent=None if recent is None else path.at(recent),
            reaches=tuple((path.at(mark), self._entry(path, mark)) for mark in marks),
            full=full,
            history=outcome.history,
            known=known,
            ttl_seconds=_ttl_seconds(outcome),
            breaks=breaks,
            notes=(*_notes(outcome), *([] if marks else _uncached(profile, outcome))),
        )
        for mark in [*marks, *([path.last.index] if cache.marks in {"automatic", "both"} else [])]:
            self._entries.write(mark)
        if path.last.index not in ended:
            self._ended.append(path.last.index)
        self._lives = max(sent.ttl_seconds or 0, cache.ttl[0].seconds)
        return sent

    def _entry(self, path: Path, mark: int) -> Node | None:
        place = self._entries.upto(mark)
        return None if place is None else path.at(place)

    def _rewrote(self, outcome: Outcome) -> bool:
        return self._before is not None and self._before.fold is not outcome.fold

    def _all_is_new(self, before: Outcome | None, outcome: Outcome) -> str:
        """Say why nothing of earlier requests can be found again; nothing where something can."""
        if before is None:
            return ""
        was, now = before.request, outcome.request
        if was.model != now.model:
            return f"the model changed from {was.model or 'none'} to {now.model or 'none'}"
        if changed := _changed_beside(was, now):
            return changed
        if before.now is not None and outcome.now is not None and outcome.now - before.now > self._lives:
            return f"the cache is cold: {outcome.now - before.now:.0f} seconds since the request before"
        return ""

    def _candidates(self, before: Outcome, outcome: Outcome) -> Iterable[int] | None:
        """Return the messages that can be others than before; nothing where all can."""
        sent, was = outcome.sent, before.sent
        moved = sent.overlay.restructures() or was.overlay.restructures()
        if sent.mended and sent.mended is was.mended and not moved:
            fresh = range(sent.mended.stays, len(before.messages))
            return sorted({*was.overlay.edited, *sent.overlay.edited, *fresh})
        if self._rewrote(outcome) or not (before.in_place and outcome.in_place):
            return None
        return sorted(self._touched | before.sent.overlay.edited.keys() | outcome.sent.overlay.edited.keys())

    def _why(self, before: Outcome, outcome: Outcome, first: int) -> Break:
        if self._rewrote(outcome):
            return Break(first, "the host rewrote its history")
        edits = [*outcome.fold.decisions.edits[self._edits :], *before.decisions.edits, *outcome.decisions.edits]
        names = tuple(dict.fromkeys(_cutting(edits)))
        if names:
            return Break(first, f"edits of {', '.join(names)}", names)
        mended = before.sent.unmended is not None or outcome.sent.unmended is not None
        return Break(first, "the messages were mended" if mended else "placeholders were made anew")


def _changed_beside(was: Request, now: Request) -> str:
    if was.tools is not now.tools and was.tools != now.tools:
        another = in_another_order(was.tools, now.tools)
        return "the tools came in another order; send view.tools" if another else "the tools changed"
    if was.system is not now.system and was.system != now.system:
        return "the system prompt changed"
    return ""


def first_change(before: Sequence[Any], now: Sequence[Any], candidates: Iterable[int] | None) -> int:
    """Return the index of the first message that is another than before, or how many the two have in common."""
    common = min(len(before), len(now))
    if candidates is None:
        candidates = compress(count(), map(is_not, before, now))
    return next((at for at in candidates if at < common and not same(before[at], now[at])), common)


def _cutting(edits: Iterable[AppliedEdit]) -> Iterator[str]:
    return (edit.processor for edit in edits if edit.action in CUTTING)


def _marks(outcome: Outcome) -> list[int]:
    """Return the messages of a request that have cache breakpoints; -1 where something beside them has."""
    sent = outcome.sent
    beside = [-1] if any(breakpoints_beside(outcome.request)) else []
    marks = sent.overlay.marks
    if not sent.overlay.restructures():
        on = {position for position, on in marks.items() if on}
        found: Collection[int] = on | {at for at in sent.history.marked if marks.get(at, True)}
    else:
        found = [place for place, raw in enumerate(outcome.messages) if is_marked(raw)]
    automatic = {len(outcome.messages) - 1} if outcome.messages and automatic_breakpoint(outcome.request) else set()
    return [*beside, *sorted(automatic.union(found))]


def is_marked(raw: Any) -> bool:
    """Whether a message has a cache breakpoint, on itself or on a part."""
    content = _read(raw, "content")
    parts = content if isinstance(content, list) else ()
    return any(_read(each, "cache_control") is not None for each in (raw, *parts))


def _read(holder: Any, key: str) -> Any:
    return holder.get(key) if isinstance(holder, Mapping) else getattr(holder, key, None)


def _inserted(overlay: Overlay) -> Iterator[str]:
    for inserts in overlay.insertions().values() if overlay.restructures() else ():
        yield from (insert.text for insert in inserts)


def _ttl_seconds(outcome: Outcome) -> int | None:
    return 3600 if "1h" in outcome.sent.overlay.ttls.values() else None


def _notes(outcome: Outcome) -> Iterator[str]:
    """Say what became of the breakpoints that the chain was to set."""
    wire, overlay = outcome.sent.history.wire, outcome.sent.overlay
    if overlay.marks or takes_breakpoints(wire, outcome.request):
        return
    if any(each.type_name == "cache_control" for each in outcome.fold.processors):
        dialect = f"messages of the dialect {outcome.sent.dialect.name} have none"
        why = why_no_breakpoints(outcome.request.model) if wire.cache_breakpoints else dialect
        yield f"no breakpoints are set: {why}"


def _uncached(profile: Profile, outcome: Outcome) -> Iterator[str]:
    """Say that nothing is cached where only breakpoints would make it so, and the request has none."""
    if profile.cache.marks == "explicit" and outcome.sent.history.wire.cache_breakpoints and outcome.messages:
        yield (
            f"{profile.name} caches up to breakpoints only, and this request has none: everything is paid as input; "
            "add cache_control with plan: auto to the chain, unless what sends the request sets them"
        )
