"""How long a result may be before it is reduced."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from elision.tokens import count_text

_SLICE = 65_536
"""Characters that are counted at once: of a text of any length no more is counted than is needed."""

_TOKENS_A_CHAR = 4
"""Most tokens that one character can be: the bytes of UTF-8."""


@dataclass(frozen=True, slots=True)
class Limit:
    """A number of tokens of a model, a number of characters, or both: the one that is passed first counts."""

    tokens: int | None = None
    chars: int | None = None
    model: str | None = None

    def passed(self, texts: Sequence[str]) -> bool:
        """Whether texts are longer than this."""
        if self.chars is not None and sum(map(len, texts)) > self.chars:
            return True
        return self.tokens is not None and exceeds(texts, self.tokens, self.model)


def exceeds(texts: Sequence[str], tokens: int, model: str | None) -> bool:
    """Whether texts have more than so many tokens; counting stops as soon as that is known."""
    if sum(map(len, texts)) * _TOKENS_A_CHAR <= tokens:
        return False
    for text in texts:
        for start in range(0, len(text), _SLICE):
            tokens -= count_text(text[start : start + _SLICE], model)
            if tokens < 0:
                return True
    return False


def is_shorter(new: Sequence[str], old: Sequence[str], model: str | None) -> bool:
    """Whether new texts have fewer characters than the old, and no more tokens."""
    if sum(map(len, new)) >= sum(map(len, old)):
        return False
    tokens = sum(count_text(text, model) for text in new)
    return exceeds(old, tokens - 1, model)
