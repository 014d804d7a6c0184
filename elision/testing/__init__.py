"""The testing kit: builders of histories, strategies, the contract of processors, and a model server for tests.

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
    from elision.testing.server import Asked, ModelServer, Reply, failure, reply
    from elision.testing.strategies import chains, histories, poisoned

_STRATEGIES = ("chains", "histories", "poisoned")
_SERVER = ("Asked", "ModelServer", "Reply", "failure", "reply")


def __getattr__(name: str) -> Any:
    if name in _STRATEGIES:
        from elision.testing import strategies

        return getattr(strategies, name)
    if name in _SERVER:
        from elision.testing import server

        return getattr(server, name)
    raise AttributeError(f"module 'elision.testing' has no attribute {name!r}")


__all__ = [
    "DIALECT_OF",
    "SHAPES",
    "Asked",
    "Conversation",
    "ModelServer",
    "Reply",
    "Shape",
    "call",
    "chains",
    "check_processor",
    "conversation",
    "failure",
    "histories",
    "image",
    "poisoned",
    "redacted_thinking",
    "reply",
    "result",
    "text",
    "thinking",
]
