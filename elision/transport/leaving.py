"""Messages as they leave: chat completions of our own making, with keys that the model's provider knows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from elision.convert import convert, parsed
from elision.dialect import by_name
from elision.mending import Mending
from elision.outgoing import outgoing
from elision.overlay import Overlay
from elision.profiles import Profile
from elision.registry import plugins
from elision.transport.fit_calls import with_fit_calls
from elision.transport.fit_content import with_fit_content

_CHAT = frozenset({"openai", "miniswe"})
"""Dialects whose messages are chat completions, apart from keys beside them."""
_KEYS: Mapping[str, frozenset[str]] = {
    "system": frozenset({"role", "content", "name"}),
    "developer": frozenset({"role", "content", "name"}),
    "user": frozenset({"role", "content", "name"}),
    "assistant": frozenset({"role", "content", "name", "refusal", "audio", "tool_calls", "function_call"}),
    "tool": frozenset({"role", "content", "name", "tool_call_id"}),
    "function": frozenset({"role", "content", "name"}),
}
_CLAUDES = frozenset({"reasoning_content", "thinking_blocks", "provider_specific_fields", "reasoning_details"})
_OWN_KEYS: Mapping[str, frozenset[str]] = {
    "openai": frozenset(),
    "anthropic": _CLAUDES,
    "bedrock": _CLAUDES,
    "gemini": frozenset({"reasoning_content", "thinking_blocks", "provider_specific_fields"}),
    "deepseek": frozenset({"reasoning_content", "prefix"}),
    "kimi": frozenset({"reasoning_content", "partial"}),
    "qwen": frozenset({"reasoning_content", "partial"}),
    "minimax": frozenset({"reasoning_content", "reasoning_details"}),
}
"""What the assistant's messages may have besides, by profile."""
_OTHERS_OWN = frozenset({"reasoning_content"})
_CALL = frozenset({"id", "type", "function", "custom", "extra_content"})
_FUNCTION = frozenset({"name", "arguments", "input"})
_SIGNED = frozenset({"gemini"})
"""Profiles whose calls carry what their provider has signed."""
_PARTS: Mapping[str, frozenset[str]] = {
    "text": frozenset({"type", "text", "cache_control"}),
    "image_url": frozenset({"type", "image_url", "cache_control"}),
}
_WANT_REASONING = frozenset({"deepseek", "kimi"})
"""Profiles that refuse calls without the key ``reasoning_content``, even where the model gave none."""


def leaving(messages: Iterable[Any], dialect: str, profile: Profile) -> list[dict[str, Any]]:
    """Return the messages of a view as they are sent: new objects, which litellm may change."""
    if dialect == "sweagent":
        messages = _mended([_of_item(item) for item in messages])
    elif dialect not in _CHAT:
        known = plugins().dialects()
        made = convert(list(messages), by_name(known, dialect), by_name(known, "openai"))
        messages = made.messages
    known_only = with_fit_content(_known_only(messages, profile), first_user=_begins_with_user(profile))
    return list(with_fit_calls(known_only, keeps_ids=profile.name in _SIGNED))


def _begins_with_user(profile: Profile) -> bool:
    """Whether the provider is known to refuse a conversation that the assistant begins."""
    return profile.order.first_user and profile.name != "default"


def copied(value: Any) -> Any:
    """Return a copy of plain data; what is no list or mapping is the very object."""
    if isinstance(value, Mapping):
        return {key: copied(item) for key, item in value.items()}
    return [copied(item) for item in value] if isinstance(value, list | tuple) else value


def _known_only(messages: Iterable[Any], profile: Profile) -> Iterator[dict[str, Any]]:
    marks = profile.cache.marks == "explicit"
    beside = _OWN_KEYS.get(profile.name, _OTHERS_OWN) if profile.thinking.rule != "none" else frozenset[str]()
    for given in messages:
        fields = _fields(given)
        role = str(fields.get("role"))
        if role not in _KEYS:
            continue
        known = _KEYS[role] | (beside if role == "assistant" else frozenset())
        message = {key: copied(fields[key]) for key in fields if key in known and _says(key, fields[key])}
        if marks and fields.get("cache_control") is not None:
            message["cache_control"] = copied(fields["cache_control"])
        if isinstance(message.get("content"), list):
            message["content"] = [_part(part, marks=marks) for part in message["content"]]
        if message.get("tool_calls"):
            message["tool_calls"] = [_call(call, profile) for call in message["tool_calls"]]
            if profile.name in _WANT_REASONING and "reasoning_content" in beside:
                message.setdefault("reasoning_content", "")
        yield message


def _says(key: str, value: Any) -> bool:
    return value is not None or key == "content"


def _fields(given: Any) -> Mapping[str, Any]:
    if isinstance(given, Mapping):
        return given
    dumped = given.model_dump() if callable(getattr(given, "model_dump", None)) else {}
    return dumped if isinstance(dumped, Mapping) else {}


def _part(part: Any, *, marks: bool) -> Any:
    if not isinstance(part, Mapping):
        return part
    known = _PARTS.get(str(part.get("type")), frozenset(part))
    return {key: value for key, value in part.items() if key in known and (marks or key != "cache_control")}


def _call(call: Any, profile: Profile) -> dict[str, Any]:
    fields = _fields(call)
    signed = {"provider_specific_fields"} if profile.name in _SIGNED else set[str]()
    made = {key: copied(value) for key, value in fields.items() if key in _CALL | signed and value is not None}
    if "function" in made:
        function = _fields(fields["function"])
        made["function"] = {
            key: copied(value) for key, value in function.items() if key in _FUNCTION | signed and value is not None
        }
    return made


def _of_item(item: Any) -> dict[str, Any]:
    """Return SWE-agent's item as SWE-agent sends it: without its own keys, a result under the id of its call."""
    fields = _fields(item)
    ids = fields.get("tool_call_ids")
    answers = {"tool_call_id": ids[0]} if fields.get("role") == "tool" and isinstance(ids, list) and ids else {}
    return {**fields, **answers}


def _mended(messages: list[dict[str, Any]]) -> Iterable[Any]:
    """Return chat completions with what the wire refuses mended: SWE-agent's own history is only reported."""
    reader = by_name(plugins().dialects(), "openai")
    history = parsed(messages, reader)
    return outgoing(reader, Mending(history, Overlay()), messages).rendered
