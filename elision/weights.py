"""The tokens of a history's messages, as they stand in the view."""

from __future__ import annotations

from elision.history import Address, History, Text, ToolResult
from elision.overlay import Overlay, content_at
from elision.tokens import count_part


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

    def advance(self, stop: int, model: str | None) -> None:
        """Take in the messages up to ``stop``."""
        for position in range(len(self._own), stop):
            self._append(self._count(position, model))

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
            tokens = self._count(position, model)
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

    def _count(self, position: int, model: str | None) -> int:
        if self._overlay.is_dropped(self._history.step_of[position]):
            return 0
        total = 0
        for index, part in enumerate(self._history.messages[position].parts):
            if isinstance(part, Text | ToolResult):
                content = content_at(self._history, self._overlay, Address(position, index))
                total += sum(count_part(piece, model) for piece in content)
            else:
                total += count_part(part, model)
        return total
