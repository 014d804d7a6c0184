"""What came of following a text through a run: the places where it stands, and what happened to each of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal, TypeAlias

from elision.message import Kind, Role
from elision.needle import Where
from elision.report import Failure

What: TypeAlias = Literal["seen", "changed", "gone", "back", "refused"]
Found: TypeAlias = Literal["system", "text", "thinking", "call", "result", "image", "opaque", "added"]


@dataclass(frozen=True, slots=True)
class TraceEvent:
    """One thing that happened to a text at one place.

    ``stage`` is a processor's name, or ``parse``, ``guard``, ``archive``, ``render``.
    """

    step: int
    """The step that the model makes with the request in which it happened."""
    stage: str
    what: What
    count: int = 0
    """How often the text stands there afterwards; in the archive for ``archive``."""
    processor: str = ""
    """Whose edit it was."""
    operation: str = ""
    rule: str = ""
    """The rule of the guard that refused the edit."""
    classes: tuple[str, ...] = ()
    ref: str = ""
    """The original's name in the archive."""
    reason: str = ""


@dataclass(frozen=True, slots=True)
class TracedPlace:
    """One part of the history in which a text stands, and what happened to the text there.

    ``position`` is the message, ``part`` the part in it; both are ``None`` in the system prompt beside the messages.
    ``where`` says in which thirds of the part the text stands.
    """

    position: int | None
    part: int | None
    step: int | None
    role: Role
    kind: Kind
    found_in: Found
    count: int
    """How often the text stands there in the history."""
    where: tuple[Where, ...]
    tool: str = ""
    call_id: str = ""
    events: tuple[TraceEvent, ...] = ()
    visible: bool = True
    """Whether the text stands there in the last request."""
    recallable: bool = False
    """Whether the ref of what was removed here brings the text back."""

    @property
    def gone_by(self) -> TraceEvent | None:
        """The event with which the text stopped being visible there for good."""
        return None if self.visible else _last_gone(self.events)

    @property
    def gone_at(self) -> int | None:
        """The first step that the model made without the text at this place."""
        event = self.gone_by
        return event.step if event else None

    @property
    def ref(self) -> str:
        """The ref of what was removed with the text; empty while it is visible."""
        event = self.gone_by
        return event.ref if event else ""


@dataclass(frozen=True, slots=True)
class Trace:
    """Where a text stands in a run, and what the requests of a chain made of it.

    ``steps`` counts the requests, ``sent`` how often the text stands in the last one, in whatever message.
    """

    find: str
    dialect: str
    steps: int
    sent: int
    places: Sequence[TracedPlace]
    failures: Sequence[Failure]
    """Processors that raised, listeners that raised, and the archive where it failed."""

    @property
    def visible(self) -> bool:
        """Whether the text still stands in the last request."""
        return self.sent > 0

    @property
    def recallable(self) -> bool:
        """Whether it can be brought back from one of the places where it is gone."""
        return any(place.recallable for place in self.places)

    @property
    def lost(self) -> bool:
        """Whether it is neither visible nor recallable."""
        return not (self.visible or self.recallable)

    @property
    def gone_by(self) -> TraceEvent | None:
        """The event with which it stopped being visible at the last of its places."""
        found = [event for place in self.places if (event := place.gone_by)]
        return None if self.visible else max(found, key=lambda event: event.step, default=None)

    @property
    def gone_at(self) -> int | None:
        """The first step that the model made without it."""
        event = self.gone_by
        return event.step if event else None

    @property
    def refusals(self) -> list[TraceEvent]:
        """Edits that wanted it out, or something else there, and were refused."""
        return [event for place in self.places for event in place.events if event.what == "refused"]

    def as_dict(self) -> dict[str, Any]:
        """Return everything as plain data."""
        return {
            "find": self.find,
            "dialect": self.dialect,
            "steps": self.steps,
            "sent": self.sent,
            "visible": self.visible,
            "recallable": self.recallable,
            "gone_at": self.gone_at,
            "places": [{**asdict(place), "gone_at": place.gone_at, "ref": place.ref} for place in self.places],
            "failures": [asdict(failure) for failure in self.failures],
        }


def _last_gone(events: Sequence[TraceEvent]) -> TraceEvent | None:
    return next((event for event in reversed(events) if event.what == "gone" and event.stage != "archive"), None)
