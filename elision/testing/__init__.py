"""The testing kit: builders of histories, hypothesis strategies, and the contract that every processor must keep.

Importing it loads no test library.  :func:`check_processor` and the strategies (``histories``, ``poisoned``,
``chains``) need the extra ``testing``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from elision.testing.builders import (
    Conversation,
    call,
    conversation,
    image,
    redacted_thinking,
    result,
    text,
    thinking,
)
from elision.testing.check import check_processor
from elision.testing.parts import DIALECT_OF, SHAPES, Shape

if TYPE_CHECKING:
    from elision.testing.strategies import chains, histories, poisoned

_STRATEGIES = ("chains", "histories", "poisoned")


def __getattr__(name: str) -> Any:
    if name in _STRATEGIES:
        from elision.testing import strategies

        return getattr(strategies, name)
    raise AttributeError(f"module 'elision.testing' has no attribute {name!r}")


__all__ = [
    "DIALECT_OF",
    "SHAPES",
    "Conversation",
    "Shape",
    "call",
    "chains",
    "check_processor",
    "conversation",
    "histories",
    "image",
    "poisoned",
    "redacted_thinking",
    "result",
    "text",
    "thinking",
]
