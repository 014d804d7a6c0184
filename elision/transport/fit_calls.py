"""Calls as every provider takes them: with ids that are short and each once in its step, and objects as arguments."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NoReturn, TypeGuard

from elision.scrubbing import scrubbed, without_surrogates

_LONGEST_ID = 40
"""Characters of an id that OpenAI takes; others take more."""


def with_fit_calls(messages: Iterable[Mapping[str, Any]], *, keeps_ids: bool) -> Iterator[dict[str, Any]]:
    """Yield the messages with their calls as every provider takes them; results follow the ids of their calls.

    ``keeps_ids`` is for a provider that signs what it says in its ids, and takes them as they are.
    """
    waiting: list[tuple[Any, str]] = []
    for message in messages:
        if message.get("role") == "tool":
            given = message.get("tool_call_id")
            found = next((index for index, (old, _) in enumerate(waiting) if old == given), None)
            new = given if found is None else waiting.pop(found)[1]
            yield {**message, "tool_call_id": new}
            continue
        calls = message.get("tool_calls")
        if not isinstance(calls, Sequence) or not calls:
            yield dict(message)
            continue
        ids = [call.get("id") for call in calls]
        waiting = [(each, each) for each in ids] if keeps_ids and all(map(_is_id, ids)) else list(_named(ids))
        fit = [_fit(call, new) for call, (_, new) in zip(calls, waiting, strict=True)]
        yield {**message, "tool_calls": fit}


def _named(ids: Sequence[Any]) -> Iterator[tuple[Any, str]]:
    """Yield the ids of one step, and what they are called."""
    taken: set[str] = set()
    for index, old in enumerate(ids):
        new = _short(old, index)
        if new in taken:
            new = _hashed(f"{index} {old}")
        taken.add(new)
        yield old, new


def _is_id(given: Any) -> TypeGuard[str]:
    return isinstance(given, str) and bool(given)


def _short(given: Any, index: int) -> str:
    if not _is_id(given):
        return f"call_{index}"
    return given if len(given) <= _LONGEST_ID else _hashed(given)


def _hashed(text: str) -> str:
    return f"call_{hashlib.sha256(text.encode('utf-8', 'surrogatepass')).hexdigest()[:24]}"


def _fit(call: Mapping[str, Any], name: str) -> dict[str, Any]:
    function = call.get("function")
    if not isinstance(function, Mapping):
        return {**call, "id": name}
    return {**call, "id": name, "function": {**function, "arguments": _object(function.get("arguments"))}}


def _object(given: Any) -> str:
    """Return arguments as an object in JSON; what is none, such as one that was cut off, is quoted in one."""
    if isinstance(given, Mapping):
        return json.dumps(without_surrogates(given), default=str)
    try:
        value = _DECODER.decode(given or "null")
    except (TypeError, ValueError, RecursionError):
        value = given
    if value is None:
        return "{}"
    clean = without_surrogates(value)
    if isinstance(clean, dict):
        return str(given) if clean is value else json.dumps(clean)
    return json.dumps({"arguments": scrubbed(given) if isinstance(given, str) else given}, default=str)


def _no_number(text: str) -> NoReturn:
    raise ValueError(text)


_DECODER = json.JSONDecoder(parse_constant=_no_number)
