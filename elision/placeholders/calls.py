"""What was called, in short: clean, on one line, with the values that tell most first."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from itertools import islice
from typing import Any, TypeAlias

from elision.placeholders.cleaning import MORE, clean, clean_name

Value: TypeAlias = str | int | float | bool | None

_NAME_CHARS = 64
_KEY_CHARS = 32
_VALUE_CHARS = 56
_SHORT_CHARS = 32
_CALL_CHARS = 72
_KEYS = 12
_ITEMS = 4
_DEPTH = 3


def tool_name(name: str) -> str:
    """Return the name of a tool."""
    return clean_name(name, _NAME_CHARS)


def arguments(given: Mapping[str, Any] | str | None) -> dict[str, Value] | str:
    """Return the first few arguments: short values before long ones, then by name.

    The order in which a host gives them does not count, since some hosts do not keep it.
    """
    if not isinstance(given, Mapping):
        return clean(given or "", _VALUE_CHARS)
    pairs = [(_key(key), _value(value)) for key, value in islice(given.items(), _KEYS)]
    return dict(sorted(pairs, key=lambda pair: (len(_literal(pair[1])) > _SHORT_CHARS, pair[0], _literal(pair[1]))))


def call_text(tool: str, given: Mapping[str, Any] | str | None) -> str:
    """Return a call as ``name(key="value", …)``; ``output`` where there was none."""
    name = tool_name(tool)
    if not name:
        return "output"
    shown = arguments(given)
    if isinstance(shown, str):
        return f"{name}({_literal(shown)})" if shown else f"{name}()"
    left_out = isinstance(given, Mapping) and len(given) > _KEYS
    return f"{name}({_joined((f'{key}={_literal(value)}' for key, value in shown.items()), left_out)})"


def _joined(pieces: Iterable[str], left_out: bool) -> str:
    """Join what fits; at least the first."""
    kept: list[str] = []
    room = _CALL_CHARS
    for piece in pieces:
        room -= len(piece) + 2
        if room < 0 and kept:
            left_out = True
            break
        kept.append(piece)
    return ", ".join([*kept, MORE] if left_out else kept)


def _key(key: Any) -> str:
    return clean_name(key if isinstance(key, str) else _text(key, 0), _KEY_CHARS) or "_"


def _literal(value: Value) -> str:
    return f'"{value}"' if isinstance(value, str) else json.dumps(value)


def _value(value: Any) -> Value:
    """Return a plain value, short and clean."""
    plain = _scalar(value)
    return clean(plain, _VALUE_CHARS) if isinstance(plain, str) else plain


def _scalar(value: Any) -> Value:
    """Return what JSON can hold: numbers as they are, anything nested as text."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int):
        return int(value) if value.bit_length() <= 64 else "a big number"
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else repr(float(value))
    return _text(value, _DEPTH)


def _text(value: Any, depth: int) -> str:
    """Return a nested value as text; of an object only the name of its type, for its ``repr`` may hold an address."""
    if value is None or isinstance(value, int | float):
        plain = _scalar(value)
        return plain if isinstance(plain, str) else json.dumps(plain)
    if isinstance(value, str):
        return value[: 8 * _VALUE_CHARS]
    if isinstance(value, Mapping):
        pairs = (f"{_text(key, 0)}: {_text(item, depth - 1)}" for key, item in islice(value.items(), _KEYS))
        return f"{{{_listed(sorted(pairs) if depth > 0 else (), len(value), depth)}}}"
    if isinstance(value, list | tuple):
        return f"({_listed((_text(item, depth - 1) for item in value), len(value), depth)})"
    return type(value).__name__


def _listed(items: Iterable[str], count: int, depth: int) -> str:
    if depth <= 0:
        return MORE if count else ""
    return ", ".join([*islice(items, _ITEMS), MORE] if count > _ITEMS else items)
