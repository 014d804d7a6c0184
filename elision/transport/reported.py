"""What providers report of requests: kept in the ledger, so that a run that is resumed knows it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from elision.ledger import Fact, key_of
from elision.session import Session
from elision.tokens import Calibration
from elision.transport.usage import Usage

if TYPE_CHECKING:
    from elision.fold import Fold

takes: WeakKeyDictionary[Session, dict[str, int]] = WeakKeyDictionary()
"""Most tokens, as we count them, of a request to each model that has told a session how long one may be."""

_recalled: WeakKeyDictionary[Session, bool] = WeakKeyDictionary()

_recorded: WeakKeyDictionary[Session, int] = WeakKeyDictionary()
"""How much of a session's usage is recorded."""


def note_usage(session: Session, usage: Usage, counted: int | None) -> None:
    """Take in what an answered request used, and what we had counted of it, where a processor asks how long it is."""
    _correct(session, usage, counted)
    session.usage.append(usage)
    _record(session, {"usage": asdict(usage), "counted": counted})
    _note_asked(session)
    session.keep()


def note_overflow(session: Session, model: str, counted: int, sent: int, most: int) -> None:
    """Take in how long a refused request was, and how long one may be; 0 where the provider does not say."""
    told = {"model": model, "counted": counted, "sent": sent, "most": most}
    if sent or most:
        _limit(session, told)
        _record(session, told)
        session.keep()


def note_reports(session: Session, fold: Fold) -> None:
    """Take in what was reported in this run before, once for a session, and record what has been asked beside it."""
    if not session.ledger.archive.keeps:
        return
    if not _recalled.get(session):
        _recalled[session] = True
        _recall(session, fold)
    _note_asked(session)


def _recall(session: Session, fold: Fold) -> None:
    """Take in the reports of the run up to here.

    A session without a name shares its prefixes with whoever began alike: its own requests are those that its history
    goes on from, the newest of each.
    """
    stops = [*(step.start for step in fold.history.steps), len(fold.history)]
    before = list[Usage]()
    for stop, reports in _reports(session, fold, stops):
        for told in reports:
            if "usage" not in told:
                _limit(session, told)
        used = [(Usage(**told["usage"]), told["counted"]) for told in reports if "usage" in told]
        if not session.id:
            used = [] if stop == len(fold.history) else _of_one_run(used)
        for usage, counted in used:
            _correct(session, usage, counted)
            before.append(usage)
    session.usage[:0] = before
    _recorded[session] = len(before)


def _of_one_run(used: list[tuple[Usage, int | None]]) -> list[tuple[Usage, int | None]]:
    """Return the newest request, and what was asked beside it: who comes later finds that answered."""
    newest = max((place for place, (usage, _) in enumerate(used) if usage.purpose == "request"), default=-1)
    return [each for place, each in enumerate(used) if each[0].purpose != "request" or place == newest]


def _note_asked(session: Session) -> None:
    """Record what models have been asked beside the requests."""
    start = _recorded.get(session, 0)
    fresh = session.usage[start:]
    _recorded[session] = start + len(fresh)
    for usage in fresh:
        if usage.purpose != "request":
            _record(session, {"usage": asdict(usage), "counted": None})


def _correct(session: Session, usage: Usage, counted: int | None) -> None:
    if counted and usage.input_tokens:
        known = session.calibrations.get(usage.model, Calibration())
        session.calibrations[usage.model] = known.observed(counted, usage.input_tokens)


def _limit(session: Session, told: dict[str, Any]) -> None:
    model, counted, sent = told["model"], told["counted"], told["sent"]
    if counted and sent:
        session.calibrations[model] = session.calibrations.get(model, Calibration()).observed(counted, sent)
    if told["most"]:
        takes.setdefault(session, {})[model] = told["most"]


def _record(session: Session, told: dict[str, Any]) -> None:
    if session.fold is None or not session.ledger.archive.keeps:
        return
    keys = _keys(session, session.fold, len(session.fold.history))
    free = next(key for key in keys if not session.ledger.look_up([key]))
    session.ledger.record(free, Fact(kind="usage", text=json.dumps(told, sort_keys=True)))


def _reports(session: Session, fold: Fold, stops: Iterable[int]) -> Iterator[tuple[int, list[dict[str, Any]]]]:
    """Yield what is recorded of requests that had so many messages, in order."""
    first = {next(_keys(session, fold, stop)): stop for stop in dict.fromkeys(stops)}
    for key in session.ledger.look_up(list(first)):
        found = []
        for another in _keys(session, fold, first[key]):
            fact = session.ledger.look_up([another]).get(another)
            if fact is None:
                break
            found.append(dict(json.loads(fact.text)))
        yield first[key], found


def _keys(session: Session, fold: Fold, stop: int) -> Iterator[bytes]:
    """Yield the keys of what is reported of requests with so many messages: the first, the second, and so on."""
    prefix = fold.circumstances.prefix(stop)
    while True:
        yield key_of("usage", prefix, session.id or None)
        prefix = hashlib.sha256(prefix).digest()
