"""Where and when steps were seen first: as the ledger has it, never by the clock."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from elision.ledger import Prefixes, key_of
from elision.summaries.wording import line_of

if TYPE_CHECKING:
    from elision.view import View

_SESSION_CHARS = 80


@dataclass(frozen=True, slots=True)
class Seen:
    """The session that summed steps up first, and when each of them came in, where its host has given the time."""

    session: str = ""
    times: Mapping[int, str] = field(default_factory=dict)


def first_seen(view: View, steps: Sequence[int]) -> Seen:
    """Return what is recorded of some steps; what is known now is recorded if nothing is.

    So whoever makes the same summary later says the same in it.
    """
    history, prefixes = view.history.steps, prefixes_of(view)
    content = ",".join(prefixes.of(history[number].start, history[number].stop).hex() for number in steps)
    now = json.dumps([line_of(view.originals.session, _SESSION_CHARS), _times(view, steps)])
    session, times = json.loads(view.originals.ledger.first(f"seen:{content}", now))
    return Seen(session, {number: time for number, time in zip(steps, times, strict=True) if time})


def _times(view: View, steps: Sequence[int]) -> list[str]:
    """Return the times of the requests with which steps came in; empty where the host has given none."""
    stops = [view.history.steps[number].stop for number in steps]
    keys = [key_of("held", prefixes_of(view).upto(stop), view.request.model) for stop in stops]
    facts = view.originals.ledger.look_up(keys)
    return [_as_text(facts[key].at) if key in facts else "" for key in keys]


def _as_text(seconds: float | None) -> str:
    if seconds is None:
        return ""
    try:
        return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    except (OverflowError, OSError, ValueError):
        return ""


def prefixes_of(view: View) -> Prefixes:
    """Return the content hashes of the history; each message is hashed once for each processor that asks."""
    summed = view.memory.summed
    if not isinstance(summed.prefixes, Prefixes):
        summed.prefixes = Prefixes(view.history)
    return summed.prefixes
