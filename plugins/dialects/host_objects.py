"""Reading and copying a host's objects: mappings, or those of litellm and of the SDKs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

GONE: Any = object()
"""In changes: the field is taken away."""


def as_mapping(raw: Any) -> Mapping[str, Any] | None:
    """Return a message as a mapping: itself, or the dump of a litellm or pydantic object."""
    if isinstance(raw, dict | Mapping):
        return raw
    dump = getattr(raw, "model_dump", None)
    dumped = dump() if callable(dump) else None
    return dumped if isinstance(dumped, Mapping) else None


def with_fields(raw: Any, changes: Mapping[str, Any]) -> Any:
    """Return a shallow copy of ``raw`` with other fields; ``GONE``, or ``None`` for a mark, takes the key away."""
    if not changes:
        return raw
    if not isinstance(raw, dict | Mapping):
        return raw.model_copy(update={key: None if value is GONE else value for key, value in changes.items()})
    copy = {key: value for key, value in {**raw, **changes}.items() if value is not GONE}
    if "cache_control" in copy and copy["cache_control"] is None:
        del copy["cache_control"]
    return copy


def text_or_empty(value: Any) -> str:
    """Return ``value`` as a plain string if it is one, such as a member of an enumeration; else the empty string."""
    if type(value) is str:
        return value
    return str.__str__(value) if isinstance(value, str) else ""


def field_of(raw: Any, key: str) -> Any:
    """Return a field of an object as the host has it."""
    return raw.get(key) if isinstance(raw, Mapping) else getattr(raw, key, None)
