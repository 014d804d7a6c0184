"""Shadow mode: everything is decided and reported, and the original is sent; a share of the sessions is switched on."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, Literal, TypeAlias

from elision.history import History
from elision.message import Message, texts_of

Mode: TypeAlias = Literal["live", "shadow"]

_LONGEST_HEAD = 32
"""Messages, at most, that are looked at for the first ones of a user."""


@dataclass(frozen=True, slots=True)
class Shadow:
    """What a request in shadow mode would have sent: its messages, and what stands beside them."""

    messages: list[Any]
    params: Mapping[str, Any] = field(default_factory=dict)
    tools: Any = None


def live_share(mode: Mode, share: float | None) -> float:
    """Return the share of sessions that send what is decided."""
    return float(mode == "live") if share is None else share


def is_switched_on(share: float, session: str, history: History) -> bool:
    """Whether a session is of the share: by its id, or where it has none, by what its user said first.

    One that is of a share is also of each larger one.
    """
    if share in (0, 1):
        return share == 1
    name = f"id {session}" if session else f"user {_first_said(history)}"
    found = hashlib.sha256(f"elision share {name}".encode("utf-8", "surrogatepass")).digest()
    return int.from_bytes(found[:8], "big") < share * 2**64


def _first_said(history: History) -> str:
    head = list(_head(history))
    said = [message for message in head if message.role == "user"] or head
    return "\0".join(text for message in said for text in texts_of(message.parts))


def _head(history: History) -> Iterator[Message]:
    """Yield the messages before the first answer of the model; demonstrations are none."""
    for message in islice(history.messages, _LONGEST_HEAD):
        if message.kind == "demo":
            continue
        if message.role == "assistant":
            return
        yield message
