"""What is sent beside the messages: parameters of the request that processors, and bound thinking, ask for, joined."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

BETA = "anthropic-beta"
"""The header that names beta features, separated by commas."""

HEADERS = "extra_headers"

BINDING_BETA = "thinking-binding-controls-2026-08-01"
"""The beta feature by which a provider leaves out thinking that does not fit what stands before it now."""

FIRST_STANDS = "what the first one asks for is sent"
"""What comes of two that ask for different values."""

Path: TypeAlias = tuple[str, ...]


def drop_block(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return what has a provider leave out such thinking, with what the request says of thinking besides."""
    thinking = given.get("thinking")
    known = thinking if isinstance(thinking, Mapping) else {"type": "adaptive"}
    binding = known.get("block_binding")
    rest = binding if isinstance(binding, Mapping) else {}
    return {
        "thinking": {**known, "block_binding": {**rest, "prefix_mismatch_behavior": "drop_block"}},
        HEADERS: {BETA: BINDING_BETA},
    }


def with_headers(params: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """Return parameters with the headers that the request has, where they have some: its beta features, too."""
    if HEADERS not in params:
        return dict(params)
    headers, betas = _spelt_as_here(given.get(HEADERS)), given.get("betas")
    named = {BETA: ",".join(betas)} if isinstance(betas, list | tuple) and all(map(_is_text, betas)) and betas else {}
    return {**params, HEADERS: _both(_both(headers, named), params[HEADERS])}


def _spelt_as_here(headers: Any) -> dict[str, Any]:
    """Return headers, that of beta features spelt as here: names of headers are the same in small letters and large."""
    found: dict[str, Any] = {}
    for name, value in headers.items() if isinstance(headers, Mapping) else ():
        known = BETA if isinstance(name, str) and name.lower() == BETA else name
        found = _both(found, {known: value})
    return found


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def drops_block(request: Mapping[str, Any]) -> bool:
    """Whether a request has its provider leave out such thinking."""
    thinking = request.get("thinking") if request else None
    binding = thinking.get("block_binding") if isinstance(thinking, Mapping) else None
    return isinstance(binding, Mapping) and binding.get("prefix_mismatch_behavior") == "drop_block"


def joined(asked: Iterable[tuple[str, Mapping[str, Any]]]) -> tuple[dict[str, Any], list[str]]:
    """Join what each asks for, by name; say where one asks for another value than those before it: theirs stands.

    Mappings are joined key by key; lists, and names of betas, hold everything once.
    """
    result: dict[str, Any] = {}
    owners: dict[Path, str] = {}
    wrong = []
    for name, params in asked:
        clash = _clash(result, params, ())
        if clash:
            first = next(owners[clash[:end]] for end in range(len(clash), 0, -1) if clash[:end] in owners)
            wrong.append(f"{first} and {name} ask for different values of {'.'.join(clash)}")
        else:
            result = _both(result, params)
            owners = dict.fromkeys(_paths(params, ()), name) | owners
    return result, wrong


def _clash(first: Mapping[str, Any], second: Mapping[str, Any], above: Path) -> Path:
    for key, value in second.items():
        before, path = first.get(key, value), (*above, key)
        if isinstance(before, Mapping) and isinstance(value, Mapping):
            if clash := _clash(before, value, path):
                return clash
        elif before != value and key != BETA and not (isinstance(before, list) and isinstance(value, list)):
            return path
    return ()


def _both(first: Mapping[str, Any], second: Mapping[str, Any]) -> dict[str, Any]:
    result = dict(first)
    for key, value in second.items():
        before = result.get(key)
        if isinstance(before, Mapping) and isinstance(value, Mapping):
            result[key] = _both(before, value)
        elif isinstance(before, list) and isinstance(value, list):
            result[key] = [*before, *(each for each in value if each not in before)]
        elif key == BETA and isinstance(before, str):
            result[key] = ",".join(dict.fromkeys([*before.split(","), *str(value).split(",")]))
        else:
            result[key] = value
    return result


def _paths(params: Mapping[str, Any], above: Path) -> Iterable[Path]:
    for key, value in params.items():
        yield (*above, key)
        if isinstance(value, Mapping):
            yield from _paths(value, (*above, key))
