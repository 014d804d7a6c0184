"""Reasoning that a host does not store: kept in the ledger, and put back into the step that it came with."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any
from weakref import WeakKeyDictionary

from elision.ledger import Fact, key_of
from elision.profiles import Profile, profile_for
from elision.session import Session

_KEPT = ("reasoning_content", "thinking_blocks")
_SIGNING = frozenset({"anthropic", "bedrock"})
"""Profiles that take thinking with its signature only: without its blocks, the text of it is nothing to them."""


def note_reasoning(session: Session, messages: Sequence[Any], message: Any, model: str) -> None:
    """Record the reasoning of an answer to some messages."""
    fields = _fields(message)
    found = {name: fields[name] for name in _KEPT if fields.get(name)}
    if found:
        text = json.dumps(found, default=str)
        key = _key(messages, fields, profile_for(model))
        session.ledger.record(key, Fact(model=model, kind="reasoning", text=text))
        session.keep()


def with_reasoning(session: Session, messages: Sequence[Any], profile: Profile) -> list[Any]:
    """Return the messages; copies, with what is known of it, of those of the model that lack their reasoning."""
    if profile.thinking.rule == "none":
        return list(messages)
    wanted = ("thinking_blocks",) if profile.name in _SIGNING else _KEPT
    lacking = [index for index, message in enumerate(messages) if _lacks(message, wanted)]
    present = {id(messages[index]) for index in lacking}
    known = {key: made for key, made in _seen.get(session, {}).items() if key[0] in present}
    _seen[session] = known
    fresh = [index for index in lacking if (id(messages[index]), profile.name) not in known]
    keys = {index: _key(messages[max(index - 1, 0) : index], messages[index], profile) for index in fresh}
    facts = session.ledger.look_up(list(keys.values())) if keys else {}
    for index, key in keys.items():
        message, fact = messages[index], facts.get(key)
        made = {**message, **json.loads(fact.text)} if fact is not None else message
        known[id(message), profile.name] = (message, made)
    given = list(messages)
    for index in lacking:
        given[index] = known[id(messages[index]), profile.name][1]
    return given


_seen: WeakKeyDictionary[Session, dict[tuple[int, str], tuple[Any, Any]]] = WeakKeyDictionary()
"""What was made of each message of a session; the message is held, so that no other gets its identity."""


def _lacks(message: Any, wanted: Sequence[str]) -> bool:
    return isinstance(message, Mapping) and message.get("role") == "assistant" and not any(map(message.get, wanted))


def _key(before: Sequence[Any], message: Mapping[str, Any], profile: Profile) -> bytes:
    """Return the key of an answer: what it says and calls, what it answers, and whose model gave it."""
    told = [_words(before[-1]) if before else None, _words(message)]
    digest = hashlib.sha256(json.dumps(told, default=str).encode("utf-8", "surrogatepass")).digest()
    return key_of("reasoning", digest, profile.name)


def _words(message: Any) -> list[Any]:
    """Return what a message says, however its host stores it."""
    fields = _fields(message)
    content = fields.get("content")
    texts = [part.get("text", "") for part in content if isinstance(part, Mapping)] if isinstance(content, list) else []
    text = content if isinstance(content, str) else "\n".join(map(str, texts))
    calls = [_fields(call) for call in fields.get("tool_calls") or ()]
    functions = [_fields(call.get("function")) for call in calls]
    called = [
        [call.get("id"), function.get("name"), function.get("arguments")]
        for call, function in zip(calls, functions, strict=True)
    ]
    return [fields.get("role"), text.strip(), called]


def _fields(value: Any) -> Mapping[str, Any]:
    if isinstance(value, Mapping):
        return value
    dumped = value.model_dump() if callable(getattr(value, "model_dump", None)) else {}
    return dumped if isinstance(dumped, Mapping) else {}
