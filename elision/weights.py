"""The tokens of a history's messages, as they stand in the view."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain

from elision.history import History, Step
from elision.message import Address, Message, Part, ToolResult
from elision.overlay import Overlay, content_at
from elision.tokens import count_parts


class Weights:
    """Tokens by message: each is counted once, and again only when an edit changes it.

    Sums up to a position, and changes, take logarithmic time (a Fenwick tree).
    """

    def __init__(self, history: History, overlay: Overlay) -> None:
        self.total = 0
        self._history = history
        self._overlay = overlay
        self._own: list[int] = []
        self._tree: list[int] = [0]

    @property
    def stop(self) -> int:
        """Up to where messages have been taken in."""
        return len(self._own)

    def advance(self, stop: int, model: str | None) -> None:
        """Take in the messages up to ``stop``."""
        for position in range(len(self._own), stop):
            self._append(tokens_at(self._history, self._overlay, position, model))

    def cut(self, position: int) -> None:
        """Forget the messages from ``position`` on."""
        if position < len(self._own):
            self.total = self.upto(position)
            del self._own[position:], self._tree[position + 1 :]

    def of(self, position: int) -> int | None:
        """Return the tokens of one message, if it has been taken in."""
        return self._own[position] if position < len(self._own) else None

    def upto(self, position: int) -> int:
        """Return the tokens of the messages before ``position``."""
        total, node = 0, min(position, len(self._own))
        while node > 0:
            total += self._tree[node]
            node -= node & -node
        return total

    def recount(self, position: int, model: str | None) -> None:
        """Count a message again that an edit has changed."""
        if position < len(self._own):
            tokens = tokens_at(self._history, self._overlay, position, model)
            change, self._own[position] = tokens - self._own[position], tokens
            self.total += change
            node = position + 1
            while node < len(self._tree):
                self._tree[node] += change
                node += node & -node

    def _append(self, tokens: int) -> None:
        self._own.append(tokens)
        self.total += tokens
        node = len(self._own)
        below, length = node - 1, node - (node & -node)
        inner = 0
        while below > length:
            inner += self._tree[below]
            below -= below & -below
        self._tree.append(tokens + inner)


def tokens_at(history: History, overlay: Overlay, position: int, model: str | None) -> int:
    """Return the tokens of one message as it stands in the view; of a dropped step what the user says stays."""
    number, message = history.step_of[position], history.messages[position]
    dropped = number is not None and overlay.is_dropped(number)
    if dropped and message.role == "assistant":
        return 0
    changed = overlay.changes(position)
    if not changed and not dropped:
        return count_parts(message.parts, model)
    return count_parts(chain.from_iterable(_standing(message, changed, dropped=dropped)), model)


def _standing(message: Message, changed: Mapping[int, Sequence[Part]], *, dropped: bool) -> Iterator[Sequence[Part]]:
    """Yield what stands of each part of a message; of a dropped step no results."""
    for index, part in enumerate(message.parts):
        if not (dropped and isinstance(part, ToolResult)):
            yield changed.get(index, (part,))


def step_tokens(history: History, overlay: Overlay, step: Step, model: str | None) -> int:
    """Return the tokens of one step as it stands in the view, without what the user says beside its results."""
    total = 0
    for position in range(step.start, step.stop):
        parts = enumerate(history.messages[position].parts)
        stays = () if position < step.acted else (index for index, part in parts if not isinstance(part, ToolResult))
        kept = (content_at(history, overlay, Address(position, index)) for index in stays)
        total += tokens_at(history, overlay, position, model)
        total -= count_parts(chain.from_iterable(kept), model)
    return total
