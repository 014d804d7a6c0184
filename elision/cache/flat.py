"""Plain data of any depth: what is nested too deeply to be walked by functions that call themselves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Any

MOST = 1_000_000
"""Values that are looked at; data that holds itself has no end."""


def flat_digest(value: Any) -> bytes:
    """Return a hash of what a value holds, cache breakpoints apart, whatever its depth."""
    found, waiting = sha256(), [value]
    for _ in range(MOST):
        if not waiting:
            break
        each = waiting.pop()
        if isinstance(each, Mapping):
            pairs = [(key, item) for key, item in each.items() if key != "cache_control"]
            told: Any = ("mapping", *(key for key, _ in pairs))
            waiting += [item for _, item in reversed(pairs)]
        elif isinstance(each, Sequence) and not isinstance(each, str | bytes | bytearray):
            told = ("list", len(each))
            waiting += reversed(each)
        else:
            dump = getattr(each, "model_dump", None)
            told = type(each).__name__ if callable(dump) else each
            waiting += [dump()] if callable(dump) else []
        found.update(repr(told).encode("utf-8", "surrogatepass"))
    return found.digest()
