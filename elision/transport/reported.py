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


def note_usage(session: Session, usage: Usage, counted: int | None) -> None:
    """Take in what an answered request used, and what we had counted of it, where a processor asks how long it is."""
    told = {"usage": asdict(usage), "counted": counted}
    _take_in(session, told)
    _record(session, told)


def note_overflow(session: Session, model: str, counted: int, sent: int, most: int) -> None:
    """Take in how long a refused request was, and how long one may be; 0 where the provider does not say."""
    told = {"model": model, "counted": counted, "sent": sent, "most": most}
    if sent or most:
        _take_in(session, told)
        _record(session, told)


def recall_reports(session: Session, fold: Fold) -> None:
    """Take in what was reported in this run before, once for a session."""
    if _recalled.get(session) or not session.ledger.archive.keeps:
        return
    _recalled[session] = True
    for told in _reports(session, fold, [*(step.start for step in fold.history.steps), len(fold.history)]):
        _take_in(session, told)


def _take_in(session: Session, told: dict[str, Any]) -> None:
    used, counted = told.get("usage"), told.get("counted")
    if used is not None:
        session.usage.append(Usage(**used))
    model, sent = (used["model"], used["input_tokens"]) if used is not None else (told["model"], told["sent"])
    if counted and sent:
        session.calibrations[model] = session.calibrations.get(model, Calibration()).observed(counted, sent)
    if told.get("most"):
        takes.setdefault(session, {})[model] = told["most"]


def _record(session: Session, told: dict[str, Any]) -> None:
    if session.fold is None or not session.ledger.archive.keeps:
        return
    free = next(key for key in _keys(session.fold, len(session.fold.history)) if not session.ledger.look_up([key]))
    session.ledger.record(free, Fact(kind="usage", text=json.dumps(told, sort_keys=True)))
    session.keep()


def _reports(session: Session, fold: Fold, stops: Iterable[int]) -> list[dict[str, Any]]:
    """Return what is recorded of requests that had so many messages, in order."""
    first = {next(_keys(fold, stop)): stop for stop in dict.fromkeys(stops)}
    found = []
    for key in session.ledger.look_up(list(first)):
        for another in _keys(fold, first[key]):
            fact = session.ledger.look_up([another]).get(another)
            if fact is None:
                break
            found.append(dict(json.loads(fact.text)))
    return found


def _keys(fold: Fold, stop: int) -> Iterator[bytes]:
    """Yield the keys of what is reported of requests with so many messages: the first, the second, and so on."""
    prefix = fold.circumstances.prefix(stop)
    while True:
        yield key_of("usage", prefix, None)
        prefix = hashlib.sha256(prefix).digest()
