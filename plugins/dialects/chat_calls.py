"""Calls and thinking in chat completions: read, written, and patched."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from elision import Message, Opaque, Part, Patch, Thinking, ToolCall
from elision.plugins.dialects.host_objects import GONE, as_mapping, field_of, text_or_empty, with_fields

_BLOCKS = ("thinking_blocks", "reasoning_details")
"""Where hosts keep signed thinking: litellm, and OpenRouter."""

_TEXTS = ("reasoning_content", "reasoning")
"""Where they keep its text alone: DeepSeek and litellm, OpenRouter and vLLM."""

_HOLDERS = frozenset({*_BLOCKS, *_TEXTS, "reasoning_items", "provider_specific_fields"})

_SIGNED = frozenset({"provider_specific_fields", "extra_content", "thought_signature"})

_IN_CONTENT = frozenset({"thinking", "redacted_thinking", "reasoning"})


def calls_of(fields: Mapping[str, Any]) -> Iterable[ToolCall]:
    """Yield the calls of an assistant message, the legacy ``function_call`` included."""
    calls = fields.get("tool_calls")
    for call in calls if isinstance(calls, list) else ():
        entry = as_mapping(call)
        if entry is None:
            continue
        function = as_mapping(entry.get("function")) or as_mapping(entry.get("custom")) or {}
        arguments = function.get("arguments", function.get("input"))
        ident, name = text_or_empty(entry.get("id")), text_or_empty(function.get("name"))
        signed, text = _is_signed(ident, entry, function), text_or_empty(arguments)
        yield ToolCall(ident, name, loads(arguments), call, signed, text)
    legacy = as_mapping(fields["function_call"]) if "function_call" in fields else None
    if legacy:
        text = text_or_empty(legacy.get("arguments"))
        yield ToolCall("", text_or_empty(legacy.get("name")), loads(legacy.get("arguments")), legacy, text=text)


def _is_signed(ident: str, *holders: Mapping[str, Any]) -> bool:
    """Whether a call carries a thought signature of Gemini's, wherever hosts put it."""
    for holder in holders:
        if _SIGNED.isdisjoint(holder):
            continue
        beside, extra = holder.get("provider_specific_fields"), holder.get("extra_content")
        google = extra.get("google") if isinstance(extra, Mapping) else None
        if any(isinstance(found, Mapping) and found.get("thought_signature") for found in (holder, beside, google)):
            return True
    return "__thought__" in ident


def loads(arguments: Any) -> Mapping[str, Any] | str:
    """Return a call's arguments as a mapping, or as text where they are none."""
    if isinstance(arguments, dict | Mapping):
        return arguments
    if not isinstance(arguments, str):
        return ""
    try:
        value = json.loads(arguments)
    except (ValueError, RecursionError):
        return arguments
    return value if isinstance(value, dict) else arguments


def thinking_of(fields: Mapping[str, Any]) -> Iterable[Thinking]:
    """Yield the reasoning that the message carries, beside its content: the most exact form of it."""
    if _HOLDERS.isdisjoint(fields):
        return
    for key in _BLOCKS:
        if blocks := _blocks_in(fields, key):
            yield from (Thinking(_thought(block), block) for block in blocks)
            return
    beside = fields.get("provider_specific_fields")
    for key in (*_BLOCKS, "reasoning_items"):
        held = _blocks_in(fields, key) or _blocks_in(beside if isinstance(beside, Mapping) else {}, key)
        if held:
            yield from (Thinking(_thought(block), block, fixed=True) for block in held)
            return
    for key in _TEXTS:
        if text := text_or_empty(fields.get(key)):
            yield Thinking(text)
            return


def in_content(part: Part) -> Part:
    """Return a part of list content, which may be thinking: it goes back as it came."""
    if isinstance(part, Opaque) and part.type in _IN_CONTENT:
        return Thinking(_thought(part.raw), part.raw, fixed=True)
    return part


def _blocks_in(holder: Any, key: str) -> list[Any]:
    found = field_of(holder, key)
    return found if isinstance(found, list) and all(as_mapping(block) is not None for block in found) else []


def _thought(block: Any) -> str:
    """Return the text of a block of thinking; some have it in pieces (Mistral, reasoning items)."""
    fields = as_mapping(block) or {}
    found = next((fields[key] for key in ("thinking", "text", "summary") if fields.get(key)), "")
    pieces = found if isinstance(found, list) else []
    return text_or_empty(found) or "\n".join(text_or_empty((as_mapping(each) or {}).get("text")) for each in pieces)


def encode_call(part: ToolCall) -> Mapping[str, Any]:
    """Write a call as chat completions have it."""
    if isinstance(part.raw, Mapping) and not part.raw.keys().isdisjoint({"function", "custom"}):
        return part.raw
    arguments = part.arguments if isinstance(part.arguments, str) else json.dumps(dict(part.arguments))
    return {"id": part.id, "type": "function", "function": {"name": part.name, "arguments": arguments}}


def encode_arguments(arguments: Mapping[str, Any] | str, before: Any) -> Any:
    """Write arguments as they were written before: as an object, or as its JSON."""
    if isinstance(arguments, str):
        return arguments
    return dict(arguments) if isinstance(before, Mapping) else json.dumps(dict(arguments), ensure_ascii=False)


def patched_calls(message: Message, patch: Patch) -> dict[str, Any]:
    """Return the fields that hold the calls to which the patch gives other arguments, or other ids."""
    if not patch.arguments and not patch.ids:
        return {}
    changes: dict[str, Any] = {}
    calls = field_of(message.raw, "tool_calls")
    new = list(calls) if isinstance(calls, list) else []
    places = [place for place, call in enumerate(new) if as_mapping(call) is not None]
    own = [index for index, part in enumerate(message.parts) if isinstance(part, ToolCall) and part.raw is not None]
    for number, index in enumerate(own):
        if number < len(places):
            place = places[number]
            if index in patch.arguments:
                new[place] = _with_arguments(new[place], patch.arguments[index])
            if index in patch.ids:
                new[place] = with_fields(new[place], {"id": patch.ids[index]})
            changes["tool_calls"] = new
        elif index in patch.arguments:
            legacy = field_of(message.raw, "function_call")
            changes["function_call"] = _with_input(legacy, patch.arguments[index])
    return changes


def _with_arguments(call: Any, arguments: Mapping[str, Any] | str) -> Any:
    key = "function" if as_mapping(field_of(call, "function")) else "custom"
    return with_fields(call, {key: _with_input(field_of(call, key), arguments)})


def _with_input(function: Any, arguments: Mapping[str, Any] | str) -> Any:
    name = "arguments" if field_of(function, "arguments") is not None else "input"
    return with_fields(function, {name: encode_arguments(arguments, field_of(function, name))})


def patched_thinking(message: Message, patch: Patch) -> dict[str, Any]:
    """Return the fields that hold the thinking that is left.

    A message with calls keeps the key ``reasoning_content``: some providers refuse one without it (DeepSeek).
    """
    own = [index for index, part in enumerate(message.parts) if isinstance(part, Thinking) and not part.fixed]
    left = [number for number, index in enumerate(own) if index not in patch.removed]
    if len(left) == len(own):
        return {}
    held = {key: blocks for key in _BLOCKS if (blocks := _blocks_in(message.raw, key))}
    if left:
        key = next(iter(held))
        return {key: [held[key][number] for number in left]}
    changes: dict[str, Any] = dict.fromkeys(held, GONE)
    if field_of(message.raw, "reasoning") is not None:
        changes["reasoning"] = GONE
    if field_of(message.raw, "reasoning_content") is not None:
        has_calls = any(isinstance(part, ToolCall) and part.raw is not None for part in message.parts)
        changes["reasoning_content"] = "" if has_calls else GONE
    return changes
