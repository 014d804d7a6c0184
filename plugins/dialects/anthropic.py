"""Anthropic messages: content blocks, where the results of one batch lead the one user message that follows it.

Shapes: a list of messages, or a request with ``messages``, ``system`` and ``tools``.  Each block is one part, at its
own index.  Server tools and their results stay as they are in the assistant's message; they are never ours to pair.
Blocks may be mappings or the SDK's objects.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
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
    Ttl,
    Wire,
)
from elision.plugins.dialects.chat_calls import encode_arguments
from elision.plugins.dialects.host_objects import as_mapping, text_or_empty, with_fields
from elision.plugins.dialects.openai import EMPTY, empty_results, encode_content, kind_of, mark_for, types_in

_ROLES: Mapping[str, Role] = {"user": "user", "assistant": "assistant", "system": "system"}
_ROLES_READ: Mapping[str, Role] = {**_ROLES, "developer": "system"}
_FOREIGN_CALLS = ("tool_calls", "tool_call_id", "function_call", "tool_call_ids", "message_type")
_FOREIGN_KEYS = ("tool_calls", "reasoning_content")
_FOREIGN_TYPES = frozenset({"image_url", "input_audio", "refusal"})
_ITEM_TYPES = frozenset({"input_text", "input_image", "output_text"})
_THINKING = frozenset({"thinking", "redacted_thinking"})
_CALLS = frozenset({"tool_use", "tool_result"})
_OWN_TYPES = _THINKING | {"tool_use", "tool_result", "server_tool_use", "mcp_tool_use", "compaction", "search_result"}
_MARKABLE = frozenset({"image", "document", "search_result", "tool_use", "tool_result", "server_tool_use"})


class Anthropic(Dialect):
    """The Messages API."""

    name: ClassVar[str] = "anthropic"
    wire: ClassVar[Wire] = Wire(
        results_in_one_message=True, refuses_blank_text=True, system_beside=True, strict_calls=True, user_first=True
    )

    def recognises(self, messages: Sequence[Any], document: Any) -> int:
        """Text alone fits; the request's own keys say more, and blocks of its own say most.

        Where calls or results stand in blocks, and nowhere else, what another wire has beside them is carried.
        """
        score, calls, strangers = 2 if _is_request(document) else 1, False, False
        for raw in messages:
            fields = as_mapping(raw)
            if fields is None or text_or_empty(fields.get("role")) not in _ROLES_READ or "content" not in fields:
                return 0
            types = types_in(fields["content"])
            if any(fields.get(key) for key in _FOREIGN_CALLS) or not types.isdisjoint(_ITEM_TYPES):
                return 0
            strangers = strangers or _is_strange(fields, types)
            calls = calls or not types.isdisjoint(_CALLS)
            if any(kind in _OWN_TYPES or kind.endswith("_tool_result") for kind in types) or _has_sources(fields):
                score = 3
        return score if calls or not strangers else 0

    def parse(self, raw: Any, history: History) -> Message:
        """Read one message."""
        fields = as_mapping(raw) or {}
        role = _ROLES_READ.get(text_or_empty(fields.get("role")), "user")
        content = fields.get("content")
        parts = _parse_blocks(content, role)
        answers = any(isinstance(part, ToolResult) for part in parts)
        return Message(role, "observation" if answers else kind_of(role, history), parts, raw, _count_marks(content))

    def patch(self, message: Message, patch: Patch) -> Any:
        """Return a copy of the message with other blocks or another cache breakpoint."""
        before = (as_mapping(message.raw) or {}).get("content")
        content = _patched(message, patch, before)
        if patch.mark is not None:
            content = _marked(content, on=patch.mark, ttl=patch.ttl)
        return message.raw if content is before else with_fields(message.raw, {"content": content})

    def unsaid(self, message: Message, *, strict: bool) -> Mapping[int, str]:  # noqa: ARG002 (it always is)
        """Say for results and messages that they are empty; one may not end with thinking."""
        if not message.parts or (message.role == "assistant" and isinstance(message.parts[-1], Thinking)):
            return {len(message.parts): EMPTY}
        return empty_results(message)

    def build(self, message: Message) -> list[Any]:
        """Make one message, results first.

        Thinking without the provider's signature, blank text and messages with nothing in them have no place on this
        wire, and are left out.  A note to the system goes to the user: most models take no other system message.
        """
        results = [_result_block(part) for part in message.parts if isinstance(part, ToolResult)]
        blocks = [*results, *_other_blocks(message.parts)]
        if not blocks:
            return []
        role = message.role
        if role == "tool" or (role == "system" and message.kind != "system"):
            role = "user"
        plain = len(blocks) == 1 and blocks[0] == {"type": "text", "text": blocks[0].get("text")}
        return [{"role": role, "content": blocks[0]["text"] if plain else blocks}]


def _is_request(document: Any) -> bool:
    if not isinstance(document, Mapping):
        return False
    tools = document.get("tools")
    schemas = (
        any("input_schema" in tool for tool in tools if isinstance(tool, Mapping)) if isinstance(tools, list) else False
    )
    return schemas or "system" in document or "anthropic_version" in document


def _is_strange(fields: Mapping[str, Any], types: set[str]) -> bool:
    """Whether a message has something that this wire has not."""
    foreign = any(fields.get(key) is not None for key in _FOREIGN_KEYS) or not types.isdisjoint(_FOREIGN_TYPES)
    return foreign or text_or_empty(fields["role"]) not in _ROLES


def _has_sources(fields: Mapping[str, Any]) -> bool:
    content = fields["content"]
    blocks = map(as_mapping, content if isinstance(content, list) else ())
    return any(block is not None and isinstance(block.get("source"), Mapping) for block in blocks)


def _parse_blocks(content: Any, role: Role) -> tuple[Part, ...]:
    if isinstance(content, list):
        return tuple(_parse_block(block, role) for block in content)
    return _parse_content(content)


def _parse_block(block: Any, role: Role) -> Part:
    fields = as_mapping(block)
    if fields is None:
        return _parse_piece(block)
    kind = text_or_empty(fields.get("type"))
    if kind in _THINKING:
        return Thinking(text_or_empty(fields.get("thinking")), block)
    if kind == "tool_use" and role == "assistant":
        arguments = fields.get("input")
        known = arguments if isinstance(arguments, Mapping) else text_or_empty(arguments)
        return ToolCall(text_or_empty(fields.get("id")), text_or_empty(fields.get("name")), known, block)
    if kind == "tool_result" and role == "user":
        status: Literal["error"] | None = "error" if fields.get("is_error") is True else None
        return ToolResult(
            text_or_empty(fields.get("tool_use_id")), _parse_content(fields.get("content")), status, block
        )
    return _parse_piece(block)


def _parse_content(content: Any) -> tuple[Content, ...]:
    if isinstance(content, str):
        return (Text(content),)
    if isinstance(content, list):
        return tuple(map(_parse_piece, content))
    return () if content is None else (Opaque(type(content).__name__, content),)


def _parse_piece(block: Any) -> Content:
    fields = as_mapping(block)
    if fields is None:
        return Text(block, block) if isinstance(block, str) else Opaque(type(block).__name__, block)
    kind = fields.get("type")
    if kind == "text" and isinstance(fields.get("text"), str):
        return Text(fields["text"], block)
    url = _url(fields.get("source")) if kind == "image" else None
    return Image(url, block) if url is not None else Opaque(str(kind), block)


def _url(source: Any) -> str | None:
    fields = as_mapping(source) or {}
    if fields.get("type") == "base64" and isinstance(fields.get("data"), str):
        return f"data:{fields.get('media_type')};base64,{fields['data']}"
    url = fields.get("url")
    return url if isinstance(url, str) else None


def _patched(message: Message, patch: Patch, before: Any) -> Any:
    if not (patch.contents or patch.removed or patch.arguments or patch.ids):
        return before
    if not isinstance(before, list) or not before:
        new = patch.contents.get(0, ()) if 0 not in patch.removed else ()
        return encode_content(new, before, _encode_piece) if patch.contents or patch.removed else before
    blocks: list[Any] = []
    for index, (given, part) in enumerate(zip(before, message.parts, strict=True)):
        block = given if index not in patch.ids else with_fields(given, {_ID[type(part)]: patch.ids[index]})
        if index in patch.contents and index not in patch.removed:
            blocks.extend(_edited(block, part, patch.contents[index]))
        elif index in patch.arguments:
            blocks.append(with_fields(block, {"input": encode_arguments(patch.arguments[index], {})}))
        elif index not in patch.removed:
            blocks.append(block)
    added = (patch.contents[index] for index in patch.contents if index >= len(before))
    return [*blocks, *(_encode_piece(piece) for pieces in added for piece in pieces)]


_ID: Mapping[type[Part], str] = {ToolCall: "id", ToolResult: "tool_use_id"}


def _edited(block: Any, part: Part, new: tuple[Content, ...]) -> list[Any]:
    """Return a block with other content: a result stays one block, a text may become several."""
    fields = as_mapping(block) or {}
    if isinstance(part, ToolResult):
        before = fields.get("content")
        content = encode_content(new, before, _encode_piece) if new or before is not None else before
        return [block if content is before else with_fields(block, {"content": content})]
    if new == (part,):
        return [block]
    if len(new) == 1 and isinstance(new[0], Text) and fields.get("type") == "text":
        return [with_fields(block, {"text": new[0].text})]
    blocks = [_encode_piece(piece) for piece in new]
    mark = fields.get("cache_control")
    return blocks if mark is None or _count_marks(blocks) else _with_mark(blocks, mark)


def _encode_piece(part: Content) -> Any:
    fields = as_mapping(part.raw) or {}
    match part:
        case Text(text=text, raw=raw) if fields.get("type") == "text":
            return raw if fields.get("text") == text else with_fields(raw, {"text": text})
        case Text(text=text):
            return {"type": "text", "text": text}
        case Image(url=url, raw=raw):
            return raw if fields.get("type") == "image" else {"type": "image", "source": _source(url)}
        case Opaque(raw=raw):
            return raw


def _source(url: str) -> dict[str, str]:
    head, comma, data = url.partition(";base64,")
    if comma and head.startswith("data:"):
        return {"type": "base64", "media_type": head.removeprefix("data:"), "data": data}
    return {"type": "url", "url": url}


def _count_marks(content: Any) -> int:
    count = 0
    for block in content if isinstance(content, list) else ():
        fields = as_mapping(block)
        if fields is not None:
            count += (fields.get("cache_control") is not None) + _count_marks(fields.get("content"))
    return count


def _marked(content: Any, *, on: bool, ttl: Ttl | None = None) -> Any:
    """Set one breakpoint on the last block that can carry one, or take all away."""
    if isinstance(content, str) and on:
        return _with_mark([{"type": "text", "text": content}], mark_for(ttl)) if content.strip() else content
    if not isinstance(content, list):
        return content
    cleared = _unmarked(content)
    if not on:
        return cleared
    found = [mark for block in content if (mark := (as_mapping(block) or {}).get("cache_control")) is not None]
    marked = _with_mark(cleared, found[-1] if found and ttl is None else mark_for(ttl))
    return content if marked == content else marked


def _unmarked(content: Any) -> Any:
    if not _count_marks(content):
        return content
    return [_unmarked_block(block) for block in content]


def _unmarked_block(block: Any) -> Any:
    fields = as_mapping(block)
    if fields is None:
        return block
    changes: dict[str, Any] = {}
    if fields.get("cache_control") is not None:
        changes["cache_control"] = None
    if (inside := fields.get("content")) is not (cleared := _unmarked(inside)):
        changes["content"] = cleared
    return with_fields(block, changes)


def _with_mark(blocks: list[Any], mark: Any) -> list[Any]:
    for index in range(len(blocks) - 1, -1, -1):
        fields = as_mapping(blocks[index]) or {}
        if text_or_empty(fields.get("type")) in _MARKABLE or text_or_empty(fields.get("text")).strip():
            return [*blocks[:index], with_fields(blocks[index], {"cache_control": dict(mark)}), *blocks[index + 1 :]]
    return blocks


def _result_block(part: ToolResult) -> Any:
    fields = as_mapping(part.raw)
    if fields is not None and fields.get("type") == "tool_result":
        return _edited(part.raw, part, part.content)[0]
    content = [piece for piece in part.content if not isinstance(piece, Text) or piece.text.strip()]
    block = {"type": "tool_result", "tool_use_id": part.call_id}
    error = {"is_error": True} if part.status == "error" else {}
    return {**block, "content": encode_content(tuple(content), None, _encode_piece) if content else "", **error}


def _other_blocks(parts: Sequence[Part]) -> Iterator[Any]:
    for part in parts:
        fields = as_mapping(part.raw) or {}
        match part:
            case Thinking(raw=raw) if text_or_empty(fields.get("type")) in _THINKING:
                yield raw
            case ToolCall(raw=raw) if fields.get("type") == "tool_use":
                yield raw
            case ToolCall(id=id_, name=name, arguments=arguments):
                given = dict(arguments) if isinstance(arguments, Mapping) else {"arguments": arguments}
                yield {"type": "tool_use", "id": id_, "name": name, "input": given}
            case Text(text=text) if not text.strip():
                continue
            case Text() | Image() | Opaque():
                yield _encode_piece(part)
