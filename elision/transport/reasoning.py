"""Reasoning that a host does not store: kept in the ledger, and put back into the step that it came with.

So are the signatures of Gemini, which litellm has beside a text, beside each call, and at the end of a call's id.
"""

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
_SIGNATURES = "signatures"
_SIGNING = frozenset({"anthropic", "bedrock"})
"""Profiles that take thinking with its signature only: without its blocks, the text of it is nothing to them."""
_SIGNING_PARTS = frozenset({"gemini"})
"""Profiles whose provider signs texts and calls."""
_IN_ID = "__thought__"
"""What stands between a call's id and its signature."""


def note_reasoning(session: Session, messages: Sequence[Any], message: Any, model: str) -> None:
    """Record the reasoning of an answer to some messages."""
    fields = _fields(message)
    found = {name: fields[name] for name in _KEPT if fields.get(name)}
    profile = profile_for(model)
    if profile.name in _SIGNING_PARTS and (signed := _signed(fields)):
        found[_SIGNATURES] = signed
    if found:
        text = json.dumps(found, default=str)
        key = _key(messages, fields, profile)
        session.ledger.record(key, Fact(model=model, kind="reasoning", text=text))
        session.keep()


def with_reasoning(session: Session, messages: Sequence[Any], profile: Profile) -> list[Any]:
    """Return the messages; copies, with what is known of it, of those of the model that lack their reasoning."""
    if profile.thinking.rule == "none":
        return list(messages)
    wanted = ("thinking_blocks",) if profile.name in _SIGNING else _KEPT
    signs = profile.name in _SIGNING_PARTS
    lacking = [
        index
        for index, message in enumerate(messages)
        if _is_said(message) and (not any(map(message.get, wanted)) or (signs and not _signed(message)))
    ]
    present = {id(messages[index]) for index in lacking}
    known = {key: made for key, made in _seen.get(session, {}).items() if key[0] in present}
    _seen[session] = known
    fresh = [index for index in lacking if (id(messages[index]), profile.name) not in known]
    keys = {index: _key(messages[max(index - 1, 0) : index], messages[index], profile) for index in fresh}
    facts = session.ledger.look_up(list(keys.values())) if keys else {}
    for index, key in keys.items():
        message, fact = messages[index], facts.get(key)
        made = _with(message, json.loads(fact.text), signs=signs) if fact is not None else message
        known[id(message), profile.name] = (message, made)
    given = list(messages)
    for index in lacking:
        given[index] = known[id(messages[index]), profile.name][1]
    return given


_seen: WeakKeyDictionary[Session, dict[tuple[int, str], tuple[Any, Any]]] = WeakKeyDictionary()
"""What was made of each message of a session; the message is held, so that no other gets its identity."""


def _is_said(message: Any) -> bool:
    return isinstance(message, Mapping) and message.get("role") == "assistant"


def _with(message: Mapping[str, Any], found: dict[str, Any], *, signs: bool) -> dict[str, Any]:
    """Return a copy of a message with what it lacks of what is known of it."""
    signed = found.pop(_SIGNATURES, None)
    made = {**message, **{name: value for name, value in found.items() if not message.get(name)}}
    if not signs or signed is None or _signed(message):
        return made
    if signed["text"]:
        made["provider_specific_fields"] = {**_beside(message), "thought_signatures": signed["text"]}
    calls = message.get("tool_calls") or ()
    if len(calls) == len(signed["calls"]):
        made["tool_calls"] = [
            {**call, "provider_specific_fields": {**_beside(call), "thought_signature": signature}}
            if signature and isinstance(call, Mapping)
            else call
            for call, signature in zip(calls, signed["calls"], strict=True)
        ]
    return made


def _signed(message: Any) -> dict[str, Any]:
    """Return the signatures in a message: of its text, and of each of its calls; empty where there are none."""
    fields = _fields(message)
    text = _beside(fields).get("thought_signatures") or []
    calls = [_signature(_fields(call)) for call in fields.get("tool_calls") or ()]
    return {"text": text, "calls": calls} if text or any(calls) else {}


def _signature(call: Mapping[str, Any]) -> str:
    beside = _beside(call).get("thought_signature") or _beside(_fields(call.get("function"))).get("thought_signature")
    return str(beside or str(call.get("id") or "").partition(_IN_ID)[2])


def _beside(fields: Mapping[str, Any]) -> Mapping[str, Any]:
    return _fields(fields.get("provider_specific_fields"))


def _key(before: Sequence[Any], message: Mapping[str, Any], profile: Profile) -> bytes:
    """Return the key of an answer: what it says and calls, what it answers, and whose model gave it."""
    told = [_words(before[-1]) if before else None, _words(message)]
    digest = hashlib.sha256(json.dumps(told, default=str).encode("utf-8", "surrogatepass")).digest()
    return key_of("reasoning", digest, profile.name)


def _words(message: Any) -> list[Any]:
    """Return what a message says, however its host stores it, also without the signatures in ids."""
    fields = _fields(message)
    content = fields.get("content")
    texts = [part.get("text", "") for part in content if isinstance(part, Mapping)] if isinstance(content, list) else []
    text = content if isinstance(content, str) else "\n".join(map(str, texts))
    calls = [_fields(call) for call in fields.get("tool_calls") or ()]
    functions = [_fields(call.get("function")) for call in calls]
    called = [
        [str(call.get("id") or "").partition(_IN_ID)[0], function.get("name"), function.get("arguments")]
        for call, function in zip(calls, functions, strict=True)
    ]
    return [fields.get("role"), text.strip(), called]


def _fields(value: Any) -> Mapping[str, Any]:
    if isinstance(value, Mapping):
        return value
    dumped = value.model_dump() if callable(getattr(value, "model_dump", None)) else {}
    return dumped if isinstance(dumped, Mapping) else {}
