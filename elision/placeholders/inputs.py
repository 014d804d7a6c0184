"""Pointers in the arguments of calls: what stands where a long value was."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from elision.placeholders.cleaning import clean_name

LONGEST_POINTER = 200
"""Characters over which a text is no pointer of ours."""

_DEEPEST = 50
_NAME_CHARS = 64


def input_pointer(chars: int, ref: str, recall_tool: str) -> str:
    """Return the text that stands where a value of an argument was: its size, and how it comes back."""
    name, known = clean_name(recall_tool, _NAME_CHARS), clean_name(ref, _NAME_CHARS)
    return f"[{chars} chars removed; {name or 'ref'} {known}]"


def has_long_value(arguments: Any, threshold: int, depth: int = _DEEPEST) -> bool:
    """Whether one of the texts in a call's arguments, at any depth, has more characters than ``threshold``."""
    if isinstance(arguments, str):
        return len(arguments) > threshold
    if depth == 0 or not isinstance(arguments, Mapping | list | tuple):
        return False
    inside = arguments.values() if isinstance(arguments, Mapping) else arguments
    return any(has_long_value(value, threshold, depth - 1) for value in inside)


def without_long_values(value: Any, threshold: int, pointer: Callable[[str], str], depth: int = _DEEPEST) -> Any:
    """Return arguments of the same form in which a pointer stands for each text longer than ``threshold``.

    What needs no pointer is the very object that was given; so is a text that is no longer than its pointer.
    """
    if isinstance(value, str):
        found = pointer(value) if len(value) > threshold else value
        return found if len(found) < len(value) else value
    if depth == 0 or not isinstance(value, Mapping | list | tuple):
        return value
    if isinstance(value, Mapping):
        pairs = {key: without_long_values(item, threshold, pointer, depth - 1) for key, item in value.items()}
        return value if all(pairs[key] is item for key, item in value.items()) else pairs
    items = [without_long_values(item, threshold, pointer, depth - 1) for item in value]
    return value if all(new is old for new, old in zip(items, value, strict=True)) else items
