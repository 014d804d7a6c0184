"""How long a request is, in tokens: what of it was counted before is not counted again."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from elision.history import History
from elision.message import Piece
from elision.moment import Request
from elision.overlay import Overlay
from elision.tokens import count_beside, count_part, count_text, counting_of
from elision.weights import Weights, tokens_at

if TYPE_CHECKING:
    from elision.edits import Edit
    from elision.outgoing import Outgoing
    from elision.report import AppliedEdit
    from elision.wholes import MessageView


Judged: TypeAlias = "Mapping[int, tuple[Edit, AppliedEdit]]"


class Kept(NamedTuple):
    """What a processor keeps of one request for the next; it rests on the messages before ``stop``, too."""

    stop: int
    rests_on: tuple[Any, ...]
    value: Any
    judged: Judged = MappingProxyType({})
    """The edits that were made, by their ids, with what is reported of them."""


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
        self._kept: Kept | None = None
        self._judged: Judged = {}
        self._keeping = False

    def changed(self, positions: Iterable[int], model: str | None) -> None:
        """Weigh messages again that edits have changed."""
        if self._kept is not None and any(position < self._kept.stop for position in positions):
            self._kept = None
        if self._own:
            for position in positions:
                for weights in self._own.values():
                    weights.recount(position, model)

    def again(self) -> None:
        """Weigh everything anew: edits have been taken back."""
        self._kept = self._shared = None
        self._own.clear()

    def of(self, sent: Outgoing, request: Request) -> int:
        """Return the tokens of a request as it stands."""
        history, overlay, model = sent.history, sent.overlay, request.model
        inserted = (insert.text for inserts in overlay.insertions().values() for insert in inserts)
        total = self.beside(request) + sum(count_text(text, model) for text in inserted)
        weights, lasting = self._weights(sent, request), overlay.parent or overlay
        own = set(overlay.edited)
        for index in overlay.dropped:
            own.update(range(history.steps[index].start, history.steps[index].stop))
        total += weights.total
        for position in own:
            total += tokens_at(history, overlay, position, model)
            total -= tokens_at(history, lasting, position, model) if position < weights.stop else 0
        fresh = (position for position in range(weights.stop, len(history)) if position not in own)
        return total + sum(tokens_at(history, lasting, position, model) for position in fresh)

    def of_message(self, sent: Outgoing, request: Request, position: int) -> int:
        """Return the tokens of one message of a request as it stands."""
        history, overlay = sent.history, sent.overlay
        changed = position in overlay.edited or history.step_of[position] in overlay.dropped
        known = None if changed else self._weights(sent, request).of(position)
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

    def keep(self, sent: Outgoing, rests_on: tuple[Any, ...], value: Any) -> None:
        """Keep what was found for a request until something that it rests on changes."""
        if self._stands(sent):
            self._kept, self._keeping = Kept(len(sent.history), rests_on, value), True

    def take(self, sent: Outgoing, rests_on: tuple[Any, ...]) -> Any:
        """Return what was kept, and keep it no longer; ``None`` where what it rests on is not the same."""
        kept, self._judged = self._kept, {}
        if kept is None or not self._stands(sent):
            return None
        self._kept = None
        if kept.rests_on != rests_on:
            return None
        self._judged = kept.judged
        return kept.value

    def judged(self) -> Judged:
        """Return the edits that were made of what was taken, once."""
        found, self._judged = self._judged, {}
        return found

    def keep_judged(self, judged: Judged) -> None:
        """Keep the edits that were made of what has just been kept."""
        if self._kept is not None and self._keeping:
            self._kept = self._kept._replace(judged=judged)
        self._keeping = False

    def _stands(self, sent: Outgoing) -> bool:
        """Whether the history, with the edits that last, is what a request is made of so far."""
        overlay, history = sent.overlay, sent.history
        edited = overlay.versions or overlay.dropped or overlay.inserted
        return history is self._history and not edited and not history.poisoned

    def _weights(self, sent: Outgoing, request: Request) -> Weights:
        if sent.mended is not None:
            return sent.mended.weights(request.model)
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

    def keep(self, rests_on: object, value: object) -> None:
        """Keep what was found for this request, besides other facts, from its messages."""
        self.sizes.keep(self.sent, self._facts(rests_on), value)

    def take(self, rests_on: object) -> Any:
        """Return what was kept for the request before; ``None`` where its messages, or other facts, have changed."""
        return self.sizes.take(self.sent, self._facts(rests_on))

    def judged(self) -> Judged:
        """Return the edits that were made of what was taken, once."""
        return self.sizes.judged()

    def keep_judged(self, judged: Judged) -> None:
        """Keep the edits that were made of what has just been kept."""
        self.sizes.keep_judged(judged)

    def _facts(self, rests_on: object) -> tuple[Any, ...]:
        # Edits are judged by these; what the provider counts over what we count is part of a limit, if anything.
        return rests_on, bool(self.sent.history.thinking), replace(self.request, count_factor=1.0)

    def count(self, content: Iterable[Piece]) -> int:
        """Count the tokens of some content, as ``tokens`` does."""
        return sum(count_part(piece, self.request.model) for piece in content)
