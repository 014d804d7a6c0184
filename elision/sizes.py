"""How long a request is, in tokens: what of it was counted before is not counted again."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from elision.history import History
from elision.message import Piece
from elision.moment import Request
from elision.overlay import Overlay
from elision.tokens import count_beside, count_part, count_text, counting_of
from elision.weights import Weights, tokens_at

if TYPE_CHECKING:
    from elision.outgoing import Outgoing
    from elision.wholes import MessageView


class Sizes:
    """The sizes of the requests of one growing history.

    ``shared`` are the weights that schedules go by; they serve as long as all is counted alike.
    """

    def __init__(self, history: History, overlay: Overlay, shared: Weights) -> None:
        self._history = history
        self._overlay = overlay
        self._shared: Weights | None = shared
        self._first = ""
        self._own: dict[str, Weights] = {}
        self._beside: tuple[str, Any, Any, int] = ("", None, None, 0)

    def changed(self, positions: Iterable[int], model: str | None) -> None:
        """Weigh messages again that edits have changed."""
        if self._own:
            for position in positions:
                for weights in self._own.values():
                    weights.recount(position, model)

    def again(self) -> None:
        """Weigh everything anew: edits have been taken back."""
        self._shared = None
        self._own.clear()

    def of(self, sent: Outgoing, request: Request) -> int:
        """Return the tokens of a request as it stands."""
        history, overlay, model = sent.history, sent.overlay, request.model
        inserted = (insert.text for inserts in overlay.insertions().values() for insert in inserts)
        total = self.beside(request) + sum(count_text(text, model) for text in inserted)
        if history is not self._history:
            return total + sum(tokens_at(history, overlay, position, model) for position in range(len(history)))
        weights = self._weights(request)
        own = set(overlay.edited)
        for index in overlay.dropped:
            own.update(range(history.steps[index].start, history.steps[index].stop))
        total += weights.total
        for position in own:
            total += tokens_at(history, overlay, position, model)
            total -= tokens_at(history, self._overlay, position, model) if position < weights.stop else 0
        fresh = (position for position in range(weights.stop, len(history)) if position not in own)
        return total + sum(tokens_at(history, self._overlay, position, model) for position in fresh)

    def of_message(self, sent: Outgoing, request: Request, position: int) -> int:
        """Return the tokens of one message of a request as it stands."""
        history, overlay = sent.history, sent.overlay
        changed = position in overlay.edited or history.step_of[position] in overlay.dropped
        known = self._weights(request).of(position) if history is self._history and not changed else None
        return tokens_at(history, overlay, position, request.model) if known is None else known

    def beside(self, request: Request) -> int:
        """Return the tokens of the system prompt and the tools."""
        counting = counting_of(request.model)
        known, system, tools, tokens = self._beside
        same = (system is request.system or system == request.system) and (
            tools is request.tools or tools == request.tools
        )
        if known != counting or not same:
            tokens = count_beside(request.system, request.tools, request.model)
            self._beside = (counting, request.system, request.tools, tokens)
        return tokens

    def _weights(self, request: Request) -> Weights:
        counting = counting_of(request.model)
        self._first = self._first or counting
        if self._shared is not None and self._first == counting:
            return self._shared
        self._shared = None
        found = self._own.setdefault(counting, Weights(self._history, self._overlay))
        ready = self._history.ready()
        found.advance(self._history.segments[ready - 1].stop if ready else 0, request.model)
        return found


@dataclass(frozen=True, slots=True)
class RequestSize:
    """How long one request is."""

    sizes: Sizes
    sent: Outgoing
    request: Request

    @property
    def tokens(self) -> int:
        """Tokens of the whole request as it stands: messages, system prompt and tools."""
        return self.sizes.of(self.sent, self.request)

    def of(self, message: MessageView) -> int:
        """Return the tokens of one of its messages."""
        return self.sizes.of_message(self.sent, self.request, message.position)

    @property
    def beside(self) -> int:
        """Those of the system prompt, where it stands beside the messages, and of the tools."""
        return self.sizes.beside(self.request)

    @property
    def factor(self) -> float:
        """What the provider counts over what we count, as far as it has reported its usage."""
        return self.request.count_factor

    def count(self, content: Iterable[Piece]) -> int:
        """Count the tokens of some content, as ``tokens`` does."""
        return sum(count_part(piece, self.request.model) for piece in content)
