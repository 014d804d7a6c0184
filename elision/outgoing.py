"""What goes out with one request: the history as it can be sent, then what the ``request`` processors make of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from elision.breakpoints import excess_breakpoints
from elision.cache.cuts import Cut
from elision.cache.lifetimes import lifetimes
from elision.dialect import Dialect, Patch
from elision.history import History
from elision.mended import Mended
from elision.mending import Mending
from elision.message import Address
from elision.moment import Request
from elision.overlay import Overlay
from elision.question import Decisions
from elision.repair import Assembly, Repair, assemble
from elision.report import Refusal
from elision.strict_calls import StrictCalls, Unfit


@dataclass(frozen=True, slots=True)
class Outgoing:
    """A history that is fit for the wire, an overlay for this request, and its messages with lasting edits applied."""

    dialect: Dialect
    history: History
    overlay: Overlay
    rendered: Sequence[Any]
    repairs: Sequence[Repair]
    calls: StrictCalls
    mended: Mended | None = None
    """What stands in place of a history that is poisoned."""
    unmended: Sequence[Any] | None = None
    """The messages as they stood before they were mended, where they were."""

    def placed(self, cut: Cut) -> Cut:
        """Return a cut of the history as one of the messages that go out: where mended ones stand elsewhere."""
        if self.unmended is None or self.mended is None:
            return cut
        return Cut(*(None if at is None else _nearest(self.unmended, at, self.mended) for at in cut))


def outgoing(
    dialect: Dialect, mending: Mending, rendered: Sequence[Any], *, refs: Mapping[Address, str] | None = None
) -> Outgoing:
    """Return the history itself, or where it is poisoned, a mended one in its place.

    ``refs`` say what results that answer no call are called in the archive.
    """
    history = mending.history
    if not (dialect.wire.checked and history.poisoned):
        return Outgoing(dialect, history, Overlay(parent=mending.lasting), rendered, (), mending.calls)
    found = mending.advance(dialect, rendered, refs or {})
    overlay, repairs = Overlay(parent=found.overlay), mending.repairs
    return Outgoing(dialect, found.history, overlay, found.messages, repairs, found.calls, found, rendered)


def _nearest(rendered: Sequence[Any], at: int, mended: Mended) -> int | None:
    """Return where the newest message up to ``at`` stands that is sent as it is."""
    places = (mended.place_of(rendered[position]) for position in range(at, -1, -1))
    return next((place for place in places if place is not None), None)


def finished(sent: Outgoing, decisions: Decisions, request: Request) -> tuple[list[Any], list[Refusal], list[Repair]]:
    """Return the messages with this request's edits, the breakpoints that were refused, and all that was mended."""
    refused, repairs = _within_limit(sent, decisions, request)
    overlay = sent.overlay
    overlay.ttls |= lifetimes(sent.history, overlay, request)
    messages = list(sent.rendered)
    unfit = _unfit(sent, request)
    for position in decisions.touched | overlay.marks.keys() | unfit.keys():
        messages[position] = patched(sent.dialect, sent.history, overlay, position, unfit.get(position, _AS_IT_IS))
    repairs += [Repair(told.fault, position, told.detail) for position, told in unfit.items()]
    if overlay.restructures():
        messages = assemble(Assembly(sent.history, sent.dialect, messages, overlay))
    return messages, refused, [*sent.repairs, *repairs]


_AS_IT_IS = Unfit()


def _unfit(sent: Outgoing, request: Request) -> dict[int, Unfit]:
    """Return what the wire, or the model, would refuse of calls, results and messages that say nothing, by message."""
    from elision.profiles.resolving import profile_for

    wire = sent.dialect.wire
    if not wire.checked:
        return {}
    own = wire.strict_calls or profile_for(request.model).order.unique_call_ids
    unfit = sent.calls.unfit(own_ids=own, objects=wire.strict_calls) if wire.pairs_by_id else {}
    for position, contents in sent.calls.unsaid.found(sent.dialect, strict=own).items():
        unfit[position] = unfit.get(position, _AS_IT_IS)._replace(contents=contents)
    return unfit


def patched(dialect: Dialect, history: History, overlay: Overlay, position: int, unfit: Unfit = _AS_IT_IS) -> Any:
    """Return the host message at ``position`` with everything that the overlay says of it."""
    message = history.messages[position]
    tags = message.tags
    for index in range(len(message.parts)):
        tags |= overlay.tags_of(Address(position, index), message)
    mark = overlay.marks.get(position)
    changed = tags if tags != message.tags else None
    ttl = overlay.ttls.get(position)
    patch = Patch.of(message, overlay.changes(position), mark=mark, tags=changed, ttl=ttl)
    if unfit is not _AS_IT_IS:
        contents = {**unfit.contents, **patch.contents}
        patch = replace(patch, contents=contents, ids=unfit.ids, arguments={**unfit.arguments, **patch.arguments})
    return dialect.patch(message, patch)


def _within_limit(sent: Outgoing, decisions: Decisions, request: Request) -> tuple[list[Refusal], list[Repair]]:
    """Keep cache breakpoints within the provider's number: a processor's are refused, a host's taken away."""
    refused: list[Refusal] = []
    repairs: list[Repair] = []
    marks = sent.overlay.marks
    for position, ours in excess_breakpoints(sent.history, sent.overlay, request):
        if ours:
            action = "set_cache_breakpoint"
            by = [edit for edit in decisions.edits if edit.action == action and edit.position == position]
            decisions.edits[:] = [edit for edit in decisions.edits if edit not in by]
            refused.append(Refusal(by[0].processor, action, position, None, "", "breakpoints", "over the limit"))
        else:
            repairs.append(Repair("marks", position, "more cache breakpoints than the provider takes"))
        if sent.history.messages[position].marks:
            marks[position] = False
        else:
            marks.pop(position)
    return refused, repairs
