"""What is asked of texts, keys and numbers in every shape."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping
from typing import Any


def names(text: str) -> frozenset[str]:
    """Return the words of a text."""
    return frozenset(text.split())


def has_lone_surrogate(value: Any) -> bool:
    """Whether a text in a value cannot be written as UTF-8."""
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return True
    return False


def unknown_keys(given: Mapping[str, Any], known: Collection[str]) -> Iterator[str]:
    """Yield the keys that are not known."""
    return (key for key in given if key not in known)


def mapping(value: Any) -> Mapping[str, Any]:
    """Return a value that is a mapping; nothing for another."""
    return value if isinstance(value, Mapping) else {}


def items(value: Any) -> list[Any]:
    """Return a value that is a list; nothing for another."""
    return value if isinstance(value, list) else []


def is_object(text: Any) -> bool:
    """Whether a text is a JSON object."""
    try:
        return isinstance(text, str) and isinstance(json.loads(text), dict)
    except ValueError:
        return False


def exactly(value: Any) -> str:
    """Return JSON that two values share only when the provider sees no difference; breakpoints are outside of it."""
    return json.dumps(without_marks(value), sort_keys=True)


def without_marks(value: Any) -> Any:
    """Return a value without cache breakpoints and empty keys."""
    if isinstance(value, Mapping):
        return {key: without_marks(item) for key, item in value.items() if key not in MARKS and item is not None}
    return [without_marks(item) for item in value] if isinstance(value, list) else value


def marks_in(value: Any) -> Iterator[Mapping[str, Any]]:
    """Yield the cache breakpoints of a block, those inside of a result included; never those of arguments."""
    if isinstance(value, list):
        for item in value:
            yield from marks_in(item)
    elif isinstance(value, Mapping):
        yield from (value[key] for key in MARKS if isinstance(value.get(key), Mapping))
        yield from marks_in(value.get("content"))


MARKS = ("cache_control", "prompt_cache_breakpoint")
"""Keys that hold a cache breakpoint."""


def cache_key(role: str, block: Mapping[str, Any]) -> str:
    """Return a block as the cache compares it: the order of keys in arguments counts, as it does to the model."""
    return f"{role}{json.dumps(dict(sorted(without_marks(block).items())))}"


def ttl_of(block: Any, default: int) -> int | None:
    """Return for how many seconds the breakpoint of a block holds; nothing where it has none."""
    found = [_SECONDS.get(str(mark.get("ttl")), default) for mark in marks_in(block)]
    return max(found, default=None)


def request_ttl(body: Mapping[str, Any], default: int) -> int:
    """Return for how many seconds breakpoints hold that do not say it themselves."""
    return _SECONDS.get(str(mapping(body.get("prompt_cache_options")).get("ttl")), default)


_SECONDS = {"5m": 300, "30m": 1800, "1h": 3600, "12h": 43200}


def words_of(content: Any) -> str:
    """Return the text of content: a text, or blocks with texts."""
    if isinstance(content, str):
        return content
    texts = (mapping(item).get("text") for item in items(content))
    return "\n".join(text for text in texts if isinstance(text, str))
