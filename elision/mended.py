"""A mended history: the messages that go out, and what is known of them from one request to the next."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from elision.dialect import Dialect
from elision.history import History
from elision.message import Address
from elision.moment import Request
from elision.overlay import Overlay
from elision.strict_calls import StrictCalls
from elision.tokens import counting_of
from elision.weights import Weights
from elision.wire import Wire

if TYPE_CHECKING:
    from elision.standing import Standing


class Mended:
    """The messages, their history, and what lasts of it.

    It grows, and can be cut where a segment begins, as long as no step of it was altered by what stands behind it.
    """

    def __init__(self, wire: Wire) -> None:
        self.messages: list[Any] = []
        self.history = History(wire)
        self.overlay = Overlay()
        self.calls = StrictCalls(self.history)
        self.stays = 0
        """How many messages stand as they stood when this was last set, by what looks at each request."""
        self._places: dict[int, list[int]] = {}
        self._standing: tuple[Standing, Request] | None = None
        self._weights: dict[str, Weights] = {}

    def extend(self, dialect: Dialect, messages: Sequence[Any], *, begins: bool = False) -> None:
        """Add messages; with ``begins`` the first one joins no step before it."""
        for index, raw in enumerate(messages):
            self._places.setdefault(id(raw), []).append(len(self.messages))
            self.messages.append(raw)
            self.history.append(dialect.parse(raw, self.history), joins=bool(index) or not begins)

    def cut(self, place: int) -> None:
        """Take the messages from ``place`` on away."""
        if place == len(self.messages):
            return
        for raw in reversed(self.messages[place:]):
            self._places[id(raw)].pop()
            if not self._places[id(raw)]:
                del self._places[id(raw)]
        del self.messages[place:]
        self.stays = min(self.stays, place)
        self.history.cut(place)
        self.calls.cut(place)
        known: tuple[dict[Address, Any], ...] = (self.overlay.tags, self.overlay.versions)
        for by_address in known:
            while by_address and next(reversed(by_address)).position >= place:
                by_address.popitem()
        for weights in self._weights.values():
            weights.cut(place)
        self._standing = None

    def renew(self, before: Sequence[Any], now: Sequence[Any]) -> None:
        """Put present objects in the place of equal ones: they say the same."""
        for old, new in zip(before, now, strict=True):
            if new is not old and (places := self._places.pop(id(old), None)):
                for place in places:
                    self.messages[place] = new
                self._places[id(new)] = sorted([*self._places.get(id(new), ()), *places])

    def place_of(self, raw: Any) -> int | None:
        """Return where a message stands that goes out as it is."""
        places = self._places.get(id(raw))
        return places[-1] if places else None

    def standing(self, known: Standing, request: Request) -> Standing:
        """Return what the table says of its results: as far as it has been asked by requests with the same facts."""
        standing, asked = self._standing or (None, None)
        if standing is None or asked is None or (asked.model, asked.tools) != (request.model, request.tools):
            standing = known.beginning(self.history)
        self._standing = standing, request
        return standing

    def weights(self, model: str | None) -> Weights:
        """Return the tokens of its messages."""
        found = self._weights.setdefault(counting_of(model), Weights(self.history, self.overlay))
        found.advance(len(self.history), model)
        return found
