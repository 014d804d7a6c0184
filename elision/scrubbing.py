"""Plain data without lone surrogates, for which no wire has bytes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar, cast

from elision.message import has_surrogates

T = TypeVar("T")

_DEEPEST = 60
"""Levels of nesting that are looked into."""


def scrubbed(text: str) -> str:
    """Return a text with each lone surrogate replaced; two halves that stand together become their character."""
    if text.isascii() or not has_surrogates(text):
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def without_surrogates(value: T, above: int = 0) -> T:
    """Return plain data with every text scrubbed; the very object where nothing was to be done."""
    if isinstance(value, str):
        return cast("T", scrubbed(value))
    if above >= _DEEPEST:
        return value
    if isinstance(value, Mapping):
        pairs = [(without_surrogates(key), without_surrogates(each, above + 1)) for key, each in value.items()]
        same = all(key is old and each is value[old] for old, (key, each) in zip(value, pairs, strict=True))
        return value if same else cast("T", dict(pairs))
    if isinstance(value, list):
        items = [without_surrogates(each, above + 1) for each in value]
        return value if all(new is old for new, old in zip(items, value, strict=True)) else cast("T", items)
    return value
