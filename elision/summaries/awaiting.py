"""Summaries that are asked for in the background: where in a run one of them came is in the ledger.

So a fold that is made anew puts it in at the same step, and one of a run that has not come so far goes on without.
"""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING

from elision.ledger import Fact, key_of
from elision.summaries.asking import Asking, Query, at_once, known, meanwhile, only_known, take_in
from elision.summaries.seen import prefixes_of
from elision.summaries.summed import Awaited, Covered

if TYPE_CHECKING:
    from elision.view import View


def awaited_from(view: View, covered: Covered, query: Query) -> Awaited:
    """Return what is waited for from now on."""
    history = view.history
    ready = history.segments[history.ready() - 1].stop if history.ready() else view.moment.stop
    place, _ = _place(view, query, ready)
    return Awaited(covered, query, ready, place and max(place, view.moment.stop))


def asking_for(view: View, awaited: Awaited) -> Asking | None:
    """Return what answers the queries of a summary at this step; ``None`` where it has not come yet."""
    stop, place = view.moment.stop, awaited.place
    if stop > awaited.known_to:
        place, _ = _place(view, awaited.query, stop)
        if place and place < stop:
            # Another process has put it in before: everything is decided anew by what that has recorded.
            view.originals.ledger.overruled = True
            return None
    if place == stop:
        return only_known(view)
    return None if place or not _is_newest(view) else _asking_now(view, awaited.query)


def _asking_now(view: View, query: Query) -> Asking | None:
    background = view.originals.background
    if not background.lives or view.originals.archive.on_trial:
        return at_once(view)
    take_in(view)
    if known(view.originals.ledger, query.key):
        return meanwhile(view)
    query.ask_in(background)
    return None


def has_come(view: View, awaited: Awaited) -> None:
    """Take note that it is waited for no longer, and record where it came."""
    stop = view.moment.stop
    view.memory.summed.awaited = None
    place, key = _place(view, awaited.query, stop)
    if place is None:
        told = json.dumps([stop, prefixes_of(view).upto(stop).hex()])
        view.originals.ledger.record(key, Fact(kind="outcome", text=told))


def _place(view: View, query: Query, stop: int) -> tuple[int | None, bytes]:
    """Return where it came in this run, in messages, or has yet to come; ``None`` if nowhere; and the key of that.

    A run that has branched off before goes by a record of its own, which hangs on the one before.
    """
    key = key_of("came", query.key, query.asked.model)
    while fact := view.originals.ledger.look_up([key]).get(key):
        place, prefix = json.loads(fact.text)
        if place > stop or prefixes_of(view).upto(place).hex() == prefix:
            return int(place), key
        key = key_of("came", hashlib.sha256(query.key + bytes.fromhex(prefix)).digest(), query.asked.model)
    return None, key


def _is_newest(view: View) -> bool:
    """Whether no later step is in this request: about this one nobody can have decided before."""
    history, stop = view.history, view.moment.stop
    for segment in reversed(history.segments[: history.ready()]):
        if segment.stop <= stop:
            break
        if segment.step is not None:
            return False
    return True
