"""Keys of calls: for what two calls share, and for remembering what was found out about one."""

from __future__ import annotations

import json
from collections.abc import Hashable, Mapping
from hashlib import sha256
from posixpath import normpath
from typing import Any

from elision.message import ToolCall

MAX_DEPTH = 50

HOLDERS = (Mapping, list, tuple)
"""What can hold further values."""


def same_call(call: ToolCall) -> str:
    """Return the key of a call: the same for the same tool and arguments, in whatever order they stand."""
    text = call.arguments if isinstance(call.arguments, str) else canonical(call.arguments)
    return f"{call.name}:{sha256(text.encode('utf-8', 'surrogatepass')).hexdigest()}"


def canonical(value: Any) -> str:
    """Write plain data in one fixed way; what is not plain data, as its type."""
    try:
        return _ENCODER.encode(value)
    except (TypeError, ValueError, RecursionError):
        return repr(frozen(value))


def normalised(resource: str) -> str:
    """Write a path in one fixed way; an address, which has ``://``, stays as it is."""
    return resource if "://" in resource or not resource else normpath(resource)


def frozen(value: Any, depth: int = 0) -> Hashable:
    """Return plain data as something that can be looked up; ``1``, ``1.0`` and ``true`` are not the same."""
    if isinstance(value, str) or value is None:
        return value
    if depth > MAX_DEPTH:
        return "…"
    if isinstance(value, Mapping):
        return ("mapping", *((frozen(key, depth + 1), frozen(item, depth + 1)) for key, item in value.items()))
    if isinstance(value, list | tuple):
        return ("list", *(frozen(item, depth + 1) for item in value))
    return (type(value).__name__, value if isinstance(value, bool | int | float) else "")


def _foreign(value: Any) -> Any:
    return dict(value) if isinstance(value, Mapping) else type(value).__name__


_ENCODER = json.JSONEncoder(sort_keys=True, ensure_ascii=False, separators=(",", ":"), default=_foreign)
