"""SWE-agent's history items, as its processors see them and as ``.traj`` files of every age hold them.

An item has ``role``, ``content`` and mostly ``message_type``, ``agent`` and more.  Where tools are called in text, the
action is read as a call without an id, and the user's item that follows as its result.  Items go no further than
SWE-agent, which writes the wire's messages itself: a poisoned history is reported here, and not mended.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from elision import (
    Dialect,
    History,
    Kind,
    Message,
    Part,
    Patch,
    Role,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    Wire,
)
from elision.plugins.dialects.chat_calls import calls_of, encode_call, patched_calls, patched_thinking, thinking_of
from elision.plugins.dialects.host_objects import as_mapping, text_or_empty, with_fields
from elision.plugins.dialects.openai import (
    ROLES,
    OpenAI,
    awaits_text_result,
    count_marks,
    encode_content,
    encode_part,
    marked,
    parse_content,
    patched_content,
    result_message,
)

_OWN_KEYS = frozenset({"message_type", "tool_call_ids", "is_demo", "agent"})
_AGENT = "main"


class SWEAgent(Dialect):
    """History items."""

    name: ClassVar[str] = "sweagent"
    wire: ClassVar[Wire] = Wire(checked=False)

    def recognises(self, messages: Sequence[Any], document: Any) -> int:
        """Items have keys that no wire knows; without them they are chat completions."""
        own = False
        for raw in messages:
            fields = as_mapping(raw)
            if fields is None or text_or_empty(fields.get("role")) not in ROLES:
                return 0
            own = own or any(fields.get(key) is not None for key in _OWN_KEYS)
        return 4 if own else min(1, OpenAI().recognises(messages, document))

    def parse(self, raw: Any, history: History) -> Message:
        """Read one item."""
        fields = as_mapping(raw) or {}
        role = ROLES.get(text_or_empty(fields.get("role")), "user")
        kind = _kind(fields, role, history)
        content = parse_content(fields.get("content"))
        parts: tuple[Part, ...]
        if role == "tool":
            parts = (ToolResult(_call_id(fields), content, raw=raw),)
        elif role == "user" and (kind == "observation" or (kind == "demo" and _answers(fields, history))):
            parts = (ToolResult("", content, raw=raw),)
        else:
            parts = (*thinking_of(fields), *content, *_calls(fields, role))
        return Message(role, kind, parts, raw, count_marks(fields), _tags(fields))

    def patch(self, message: Message, patch: Patch) -> Any:
        """Return a copy of the item with other content, tags or another cache breakpoint."""
        fields = as_mapping(message.raw) or {}
        before = fields.get("content")
        content = patched_content(message, patch, before)
        changes: dict[str, Any] = {} if content is before else {"content": content}
        if patch.mark is not None:
            on_item = message.role == "tool"
            if patch.mark and on_item and isinstance(content, str):
                content = [{"type": "text", "text": content}]
            changes |= marked(content, fields, on=patch.mark, on_item=on_item, ttl=patch.ttl)
        changes |= patched_calls(message, patch) | patched_thinking(message, patch)
        if patch.tags is not None:
            changes["tags"] = sorted(patch.tags)
        return with_fields(message.raw, changes)

    def build(self, message: Message) -> list[Any]:
        """Make items: one for each result, and one for the rest."""
        built = [_result_item(part, message) for part in message.parts if isinstance(part, ToolResult)]
        rest = [part for part in message.parts if not isinstance(part, ToolResult)]
        return [*built, _item(message, rest)] if rest or not built else built


def _kind(fields: Mapping[str, Any], role: Role, history: History) -> Kind:
    """Say what an item is; what its ``message_type`` leaves open, or where it has none, its place says."""
    message_type = fields.get("message_type")
    if fields.get("is_demo") or message_type == "demonstration":
        return "demo"
    if role != "user":
        kinds: Mapping[Role, Kind] = {"system": "system", "assistant": "action", "tool": "observation"}
        return kinds[role]
    if message_type not in ("observation", None):
        return "user"
    if history.task is None:
        return "task"
    return "observation" if message_type or _answers(fields, history) else "user"


def _answers(fields: Mapping[str, Any], history: History) -> bool:
    return fields.get("message_type") in ("observation", None) and awaits_text_result(history)


def _calls(fields: Mapping[str, Any], role: Role) -> list[ToolCall]:
    """Return an item's calls; an action in text is one call, named after its first word."""
    calls = list(calls_of(fields))
    if calls or role != "assistant" or fields.get("message_type") not in ("action", "demonstration", None):
        return calls
    action = text_or_empty(fields.get("action"))
    return [ToolCall("", next(iter(action.split(maxsplit=1)), ""), {"command": action})]


def _call_id(fields: Mapping[str, Any]) -> str:
    ids = fields.get("tool_call_ids")
    return text_or_empty(ids[0]) if isinstance(ids, list) and ids else ""


def _tags(fields: Mapping[str, Any]) -> frozenset[str]:
    tags = fields.get("tags")
    if isinstance(tags, str):
        return frozenset({tags})
    return frozenset(map(str, tags)) if isinstance(tags, list | tuple | set | frozenset) else frozenset()


def _result_item(part: ToolResult, message: Message) -> Any:
    if part.raw is not None:
        return result_message(part)
    item = {"role": "tool" if part.call_id else "user", "content": encode_content(part.content, None)}
    ids = {"tool_call_ids": [part.call_id]} if part.call_id else {}
    return {**item, "agent": _AGENT, "message_type": "observation", **ids, **_demo(message)}


def _item(message: Message, parts: Sequence[Part]) -> dict[str, Any]:
    content = tuple(part for part in parts if not isinstance(part, Thinking | ToolCall | ToolResult))
    single = len(content) == 1 and isinstance(content[0], Text)
    role = "user" if message.role == "tool" else message.role
    item: dict[str, Any] = {
        "role": role,
        "content": encode_content(content, None) if single else [encode_part(part) for part in content] or "",
        "agent": _AGENT,
        "message_type": _message_type(message),
        **_demo(message),
    }
    return item | _action(parts) if role == "assistant" else item


def _message_type(message: Message) -> str:
    if message.role == "assistant":
        return "action"
    if message.role == "system":
        return "system_prompt"
    types = {"task": "observation", "observation": "observation", "demo": "demonstration"}
    return types.get(message.kind, "user")


def _action(parts: Sequence[Part]) -> dict[str, Any]:
    calls = [part for part in parts if isinstance(part, ToolCall)]
    thought = "\n".join(part.text for part in parts if isinstance(part, Text))
    thinking = [part.raw or {"type": "thinking", "thinking": part.text} for part in parts if isinstance(part, Thinking)]
    blocks = {"thinking_blocks": thinking} if thinking else {}
    if len(calls) == 1 and _in_text(calls[0]):
        arguments = calls[0].arguments
        command = arguments["command"] if isinstance(arguments, Mapping) else arguments
        return {"thought": thought, "action": command, "tool_calls": None, **blocks}
    action = " ".join(call.name for call in calls)
    return {"thought": thought, "action": action, "tool_calls": [encode_call(call) for call in calls], **blocks}


def _in_text(call: ToolCall) -> bool:
    given = call.arguments
    return (
        not call.id and isinstance(given, Mapping) and given.keys() == {"command"} and isinstance(given["command"], str)
    )


def _demo(message: Message) -> dict[str, bool]:
    return {"is_demo": True} if message.kind == "demo" else {}
