"""OpenAI's Responses API: a list of items, where one answer of the model is several items in a row.

Shapes: a list of items, or a request with ``input``, ``instructions`` and ``tools``.  Each item is one message;
reasoning, text and calls that follow one another are one step.  Reasoning and compaction items are replayed whole, and
what the provider runs by itself (web search, code, MCP) stays as it is.  Items may be mappings or the SDK's objects.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar, Literal

from elision import (
    Content,
    Dialect,
    History,
    Image,
    Message,
    Opaque,
    Part,
    Patch,
    Role,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    Wire,
)
from elision.plugins.dialects.chat_calls import encode_arguments, loads
from elision.plugins.dialects.host_objects import as_mapping, text_or_empty, with_fields
from elision.plugins.dialects.openai import encode_content, kind_of, types_in

_ROLES: Mapping[str, Role] = {"system": "system", "developer": "system", "user": "user", "assistant": "assistant"}
_FOREIGN_KEYS = ("tool_calls", "tool_call_id", "function_call", "reasoning_content", "message_type", "parts")
_OWN_TYPES = frozenset({"input_text", "output_text", "input_image", "input_file"})
_CONTENT_TYPES = _OWN_TYPES | {"input_audio", "input_video", "refusal"}
_COMPACTIONS = frozenset({"compaction", "compaction_summary", "context_compaction"})
_CALLS: Mapping[str, str] = {
    "function_call": "arguments",
    "custom_tool_call": "input",
    "local_shell_call": "action",
    "shell_call": "action",
    "apply_patch_call": "operation",
    "computer_call": "action",
}
"""Where the calls that the host answers have their arguments."""
_REFERENCES_TO_CALLS = ("fc_", "ctc_", "lsh_")
_PIXEL = (
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJ"
    "AAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)


class Responses(Dialect):
    """The Responses API."""

    name: ClassVar[str] = "responses"
    wire: ClassVar[Wire] = Wire(items_join_steps=True, cache_breakpoints=False, thinking_leads=True)

    def recognises(self, messages: Sequence[Any], document: Any) -> int:
        """Text alone fits; the request's own keys say more, and items of its own say most."""
        score, strangers = _hint(document), False
        for raw in messages:
            fields = as_mapping(raw)
            fit = None if fields is None else _fit(fields)
            if fit is None:
                return 0
            score, strangers = max(score, fit), strangers or fit == 0
        return 0 if strangers and score < 3 else score

    def parse(self, raw: Any, history: History) -> Message:
        """Read one item."""
        fields = as_mapping(raw) or {}
        kind = text_or_empty(fields.get("type"))
        if kind in {"", "message"}:
            role = _ROLES.get(text_or_empty(fields.get("role")), "user")
            return Message(role, kind_of(role, history), _parse_content(fields.get("content")), raw)
        if _is_result(kind, fields):
            return Message("tool", "observation", (_parse_result(kind, fields, raw),), raw)
        part = _parse_action(kind, fields, raw)
        if part is not None:
            return Message("assistant", "action", (part,), raw)
        return Message("user", "summary" if kind in _COMPACTIONS else "user", (Opaque(kind, raw),), raw)

    def patch(self, message: Message, patch: Patch) -> Any:
        """Return a copy of the item with other content."""
        fields = as_mapping(message.raw) or {}
        ids = {"call_id": patch.ids[0]} if patch.ids else {}
        if message.role == "tool":
            made = _with_output(message.raw, patch.contents[0]) if 0 in patch.contents else message.raw
            return with_fields(made, ids)
        kind = text_or_empty(fields.get("type"))
        if ids or 0 in patch.arguments:
            key = _CALLS.get(kind, "arguments")
            new = {key: encode_arguments(patch.arguments[0], fields.get(key))} if 0 in patch.arguments else {}
            return with_fields(message.raw, {**new, **ids})
        if kind not in {"", "message"}:
            return message.raw
        before = fields.get("content")
        content = _patched(message, patch, before)
        return message.raw if content is before else with_fields(message.raw, {"content": content})

    def build(self, message: Message) -> list[Any]:
        """Make items: one for each result and each call, and one for the content between them.

        Thinking that is no item of the provider's has no place on this wire, and is left out.
        """
        role = "user" if message.role == "tool" else message.role
        return [*_result_items(message.parts), *_other_items(message.parts, role)]

    def answer(self, call: ToolCall, result: ToolResult) -> ToolResult:
        """Make the item that the kind of call wants; a function's output is made from the result alone."""
        kind = text_or_empty((as_mapping(call.raw) or {}).get("type"))
        if kind in {"", "function_call", "item_reference"}:
            return result
        item: dict[str, Any] = {"type": _output_of(kind), "call_id": result.call_id}
        item |= {"status": "failed"} if kind == "apply_patch_call" else {}
        return replace(result, raw={**item, **_output_fields(item, result.content)})


def _hint(document: Any) -> int:
    """Return what a request says besides its items."""
    if not isinstance(document, Mapping):
        return 1
    tools = document.get("tools")
    flat = any(
        isinstance(tool, Mapping) and tool.get("type") in {"function", "custom"} and isinstance(tool.get("name"), str)
        for tool in (tools if isinstance(tools, list) else ())
    )
    return 3 if flat else 2 if isinstance(document.get("input"), list) or "instructions" in document else 1


def _fit(fields: Mapping[str, Any]) -> int | None:
    """Return how surely this is an item: 3 one of its own kinds, 1 plain text, 0 one that nobody knows."""
    kind = fields.get("type")
    if kind not in (None, "message"):
        known = isinstance(kind, str) and (
            kind in {"reasoning", "item_reference", *_COMPACTIONS, *_CALLS} or kind.endswith(("_call", "_call_output"))
        )
        return 3 if known else 0 if isinstance(kind, str) and "role" not in fields else None
    types = types_in(fields.get("content"))
    if text_or_empty(fields.get("role")) not in _ROLES or not isinstance(fields.get("content"), str | list):
        return None
    if not types <= _CONTENT_TYPES or any(fields.get(key) is not None for key in _FOREIGN_KEYS):
        return None
    return 1 if kind is None and types.isdisjoint(_OWN_TYPES) else 3


def _is_result(kind: str, fields: Mapping[str, Any]) -> bool:
    known = kind.removesuffix("_output") in _CALLS or isinstance(fields.get("call_id"), str)
    return kind == "mcp_approval_response" or (kind.endswith("_output") and known)


def _parse_result(kind: str, fields: Mapping[str, Any], raw: Any) -> ToolResult:
    ident = next((found for key in ("call_id", "approval_request_id", "id") if (found := fields.get(key))), "")
    failed: Literal["error"] | None = "error" if fields.get("status") == "failed" else None
    output = fields.get("output") if kind != "tool_search_output" else None
    return ToolResult(text_or_empty(ident), _parse_output(output), failed, raw)


def _parse_action(kind: str, fields: Mapping[str, Any], raw: Any) -> Part | None:
    """Read what the model said; ``None`` where an item is not of the model's answer, or nobody knows it."""
    ident = text_or_empty(fields.get("call_id"))
    if kind in _CALLS or (kind.endswith("_call") and ident):
        name = text_or_empty(fields.get("name")) or kind.removesuffix("_call")
        arguments = fields.get(_CALLS.get(kind, "arguments"))
        return ToolCall(ident, name, loads(arguments), raw, text=text_or_empty(arguments))
    if kind == "mcp_approval_request":
        name = text_or_empty(fields.get("name"))
        return ToolCall(text_or_empty(fields.get("id")), name, loads(fields.get("arguments")))
    if kind == "item_reference" and text_or_empty(fields.get("id")).startswith(_REFERENCES_TO_CALLS):
        return ToolCall("", "", "")
    if kind == "reasoning":
        # One that is left out takes the item after it with it: a request with only one of them is refused.
        return Thinking(_reasoning(fields), raw, fixed=True)
    ours = kind == "item_reference" or kind.startswith("mcp_") or kind.endswith(("_call", "_output"))
    return Opaque(kind, raw) if ours else None


def _reasoning(fields: Mapping[str, Any]) -> str:
    """Return the reasoning as far as the provider shows it: whole, or in summary."""
    blocks = fields.get("content") or fields.get("summary")
    found = map(as_mapping, blocks if isinstance(blocks, list) else ())
    return "\n".join(text_or_empty(block.get("text")) for block in found if block is not None)


def _parse_content(content: Any) -> tuple[Content, ...]:
    if isinstance(content, str):
        return (Text(content),)
    if isinstance(content, list):
        return tuple(map(_parse_piece, content))
    return () if content is None else (_parse_piece(content),)


def _parse_output(output: Any) -> tuple[Content, ...]:
    """Read an output: text, parts, what a shell printed, or a screenshot."""
    return _parse_content(output) if not isinstance(output, list) else tuple(map(_parse_chunk, output))


def _parse_chunk(chunk: Any) -> Content:
    fields = as_mapping(chunk) or {}
    if "stdout" not in fields:
        return _parse_piece(chunk)
    return Text(text_or_empty(fields["stdout"]) + text_or_empty(fields.get("stderr")), chunk)


def _parse_piece(piece: Any) -> Content:
    fields = as_mapping(piece)
    if fields is None:
        return Text(piece, piece) if isinstance(piece, str) else Opaque(type(piece).__name__, piece)
    kind = text_or_empty(fields.get("type"))
    if kind in {"input_text", "output_text", "text"} and isinstance(fields.get("text"), str):
        return Text(fields["text"], piece)
    url = fields.get("image_url") if kind in {"input_image", "computer_screenshot"} else None
    return Image(url, piece) if isinstance(url, str) else Opaque(kind, piece)


def _patched(message: Message, patch: Patch, before: Any) -> Any:
    if not patch.contents and not patch.removed:
        return before
    pieces: list[Content] = []
    for index, part in enumerate(message.parts):
        if index not in patch.removed and isinstance(part, Text | Image | Opaque):
            pieces.extend(_in_place(part, patch.contents.get(index, (part,))))
    if tuple(pieces) == message.parts:
        return before
    if isinstance(before, str) and len(pieces) == 1 and isinstance(pieces[0], Text):
        return pieces[0].text
    return [_encode_said(piece, message.role) for piece in pieces]


def _in_place(part: Content, new: tuple[Content, ...]) -> tuple[Content, ...]:
    """Return new content of a part; one text in place of another keeps its fields."""
    if isinstance(part, Text) and len(new) == 1 and isinstance(new[0], Text) and new[0].raw is None:
        return (replace(new[0], raw=part.raw),)
    return new


def _with_output(raw: Any, content: tuple[Content, ...]) -> Any:
    fields = as_mapping(raw) or {}
    kind = text_or_empty(fields.get("type"))
    if content == _parse_result(kind, fields, raw).content:
        return raw
    return with_fields(raw, _output_fields(fields, content))


def _output_fields(fields: Mapping[str, Any], content: tuple[Content, ...]) -> dict[str, Any]:
    """Return the fields that hold the content of a result; one that has no place for text gets an empty one."""
    match fields.get("type"):
        case "mcp_approval_response":
            return {}
        case "tool_search_output":
            return {"tools": []}
        case "computer_call_output":
            url = next((piece.url for piece in content if isinstance(piece, Image)), _PIXEL)
            return {"output": {"type": "computer_screenshot", "image_url": url}}
        case "shell_call_output":
            return {"output": [_encode_chunk(piece, fields.get("output")) for piece in content]}
        case _:
            return {"output": encode_content(content, fields.get("output"), _encode_piece) if content else ""}


def _encode_chunk(piece: Content, before: Any) -> Any:
    raw = piece.raw
    if raw is not None and piece == _parse_chunk(raw):
        return raw
    last = next((as_mapping(chunk) for chunk in reversed(before if isinstance(before, list) else [])), None)
    outcome = (as_mapping(raw) or last or {}).get("outcome", {"type": "exit", "exit_code": 1})
    return {"stdout": piece.text if isinstance(piece, Text) else "", "stderr": "", "outcome": outcome}


def _encode_piece(piece: Content) -> Any:
    fields = as_mapping(piece.raw) or {}
    match piece:
        case Text(text=text, raw=raw) if "text" in fields:
            # These tell places in the text.
            changes: dict[str, Any] = {key: [] for key in ("annotations", "logprobs") if fields.get(key)}
            return raw if fields["text"] == text else with_fields(raw, {"text": text, **changes})
        case Text(text=text):
            return {"type": "input_text", "text": text}
        case Image(url=url, raw=raw):
            return raw if "image_url" in fields else {"type": "input_image", "image_url": url}
        case Opaque(raw=raw):
            return raw


def _encode_said(piece: Content, role: str) -> Any:
    if isinstance(piece, Text) and role == "assistant" and "text" not in (as_mapping(piece.raw) or {}):
        return {"type": "output_text", "text": piece.text, "annotations": []}
    return _encode_piece(piece)


def _output_of(kind: str) -> str:
    return "tool_search_output" if kind == "tool_search_call" else f"{kind}_output"


def _result_items(parts: Sequence[Part]) -> Iterator[Any]:
    for part in parts:
        if not isinstance(part, ToolResult):
            continue
        fields = as_mapping(part.raw) or {}
        if _is_result(text_or_empty(fields.get("type")), fields):
            yield _with_output(part.raw, part.content)
        else:
            item = {"type": "function_call_output", "call_id": part.call_id}
            yield {**item, **_output_fields(item, part.content)}


def _other_items(parts: Sequence[Part], role: Role) -> Iterator[Any]:
    """Yield the items of a message in order; content that stands together is one."""
    said: list[Content] = []
    for part in parts:
        fields = as_mapping(part.raw) or {}
        if isinstance(part, Text | Image) or (isinstance(part, Opaque) and fields.get("type") in _CONTENT_TYPES):
            said.append(part)
            continue
        item = _item(part, fields)
        if item is not None:
            yield from _said(said, role)
            said = []
            yield item
    yield from _said(said, role)


def _item(part: Part, fields: Mapping[str, Any]) -> Any:
    match part:
        case Thinking(raw=raw):
            return raw if fields.get("type") == "reasoning" else None
        case Opaque(raw=raw):
            return raw
        case ToolCall(raw=raw) if text_or_empty(fields.get("type")).endswith("_call"):
            return raw
        case ToolCall(id=ident, name=name, arguments=given):
            arguments = given if isinstance(given, str) else json.dumps(dict(given))
            return {"type": "function_call", "call_id": ident, "name": name, "arguments": arguments}
    return None


def _said(said: list[Content], role: Role) -> Iterator[Any]:
    if len(said) == 1 and isinstance(said[0], Text):
        yield {"role": role, "content": said[0].text}
    elif said:
        yield {"role": role, "content": [_encode_said(piece, role) for piece in said]}
