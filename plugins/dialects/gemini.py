"""Gemini contents: parts under the roles ``user`` and ``model``; the results of one batch are parts of one content.

Shapes: a list of contents, or a request with ``contents``, ``systemInstruction`` and ``tools``; keys in camelCase or in
snake_case, mappings or the SDK's objects.  Each part is one part, at its own index, and thought signatures stay with
it.  The content of a ``functionResponse`` is a JSON object: where it holds one string that is the text, else its JSON.
Calls and results without ids are paired by their names, those of one name in order.
"""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar, Literal

from elision import (
    Content,
    Dialect,
    History,
    Image,
    Kind,
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
from elision.plugins.dialects.chat_calls import encode_arguments
from elision.plugins.dialects.host_objects import as_mapping, text_or_empty, with_fields
from elision.plugins.dialects.openai import EMPTY, kind_of

_ROLES: Mapping[str, Role] = {"user": "user", "model": "assistant", "function": "user", "system": "system"}
_PART_KEYS = ("text", "functionCall", "functionResponse", "inlineData", "fileData")
_FOREIGN_KEYS = ("type", "kind", "part_kind")
_SNAKE: Mapping[str, str] = {
    "functionCall": "function_call",
    "functionResponse": "function_response",
    "inlineData": "inline_data",
    "fileData": "file_data",
    "mimeType": "mime_type",
    "fileUri": "file_uri",
    "thoughtSignature": "thought_signature",
}


class Gemini(Dialect):
    """The ``generateContent`` API."""

    name: ClassVar[str] = "gemini"
    wire: ClassVar[Wire] = Wire(
        pairs_by_id=False,
        items_join_steps=True,
        cache_breakpoints=False,
        results_in_one_message=True,
        system_beside=True,
    )

    def recognises(self, messages: Sequence[Any], document: Any) -> int:  # noqa: ARG002 (no other dialect has parts)
        """Every content has parts (an empty answer none), which no other wire has; other makers' tell their type."""
        known = False
        for raw in messages:
            role, parts = _get(raw, "role"), _get(raw, "parts")
            if parts is None and role == "model":
                parts = ()
            if not (role is None or text_or_empty(role) in _ROLES) or not isinstance(parts, list | tuple):
                return 0
            if _get(raw, "content") is not None or any(_get(part, key) for part in parts for key in _FOREIGN_KEYS):
                return 0
            known = known or role == "model" or any(_get(part, key) is not None for part in parts for key in _PART_KEYS)
        return 3 if known else 0

    def parse(self, raw: Any, history: History) -> Message:
        """Read one content; its text may stand alone, as system instructions have it."""
        role = _ROLES.get(text_or_empty(_get(raw, "role")), "user")
        given = _get(raw, "parts") if _get(raw, "parts") is not None else _beside(_get(raw, "content"))
        parts = tuple(_parse_part(part, role) for part in (given if isinstance(given, list | tuple) else ()))
        kind: Kind = "observation" if any(isinstance(part, ToolResult) for part in parts) else kind_of(role, history)
        return Message(role, kind, parts, raw)

    def patch(self, message: Message, patch: Patch) -> Any:
        """Return a copy of the content with other parts."""
        before = _get(message.raw, "parts") or ()
        if not isinstance(before, list | tuple):
            return message.raw
        parts: list[Any] = []
        for index, (raw, part) in enumerate(zip(before, message.parts, strict=True)):
            if index in patch.contents and index not in patch.removed:
                parts.extend(_edited(raw, part, patch.contents[index]))
            elif index in patch.arguments:
                key = _spelt(raw, "functionCall")
                arguments = encode_arguments(patch.arguments[index], {})
                parts.append(with_fields(raw, {key: with_fields(_get(raw, "functionCall"), {"args": arguments})}))
            elif index not in patch.removed:
                parts.append(raw)
        parts.extend(map(_encode_piece, patch.contents.get(len(before), ())))
        same = len(parts) == len(before) and all(new is old for new, old in zip(parts, before, strict=True))
        return message.raw if same else with_fields(message.raw, {"parts": parts})

    def unsaid(self, message: Message, *, strict: bool) -> Mapping[int, str]:  # noqa: ARG002 (it always is)
        """Leave out parts with nothing in them, and say of a content without others that it is empty.

        What carries a signature goes back as it came.
        """
        if message.role == "system":
            return {}
        empty = [index for index, part in enumerate(message.parts) if _is_empty(part)]
        return {**dict.fromkeys(empty, ""), **({0: EMPTY} if len(empty) == len(message.parts) else {})}

    def build(self, message: Message) -> list[Any]:
        """Make one content, results first.

        Thinking that is no part of the provider's has no place on this wire, and is left out, as is an empty content.
        """
        results = [_result_part(part) for part in message.parts if isinstance(part, ToolResult)]
        parts = [*results, *_other_parts(message.parts)]
        return [{"role": "model" if message.role == "assistant" else "user", "parts": parts}] if parts else []

    def answer(self, call: ToolCall, result: ToolResult) -> ToolResult:
        """Write the name of the call into its result."""
        return replace(result, raw=_new_response(result, call.name), tool=call.name)


def _get(raw: Any, key: str) -> Any:
    """Return a field of a mapping, in either spelling, or of the SDK's object."""
    other = _SNAKE.get(key, key)
    if isinstance(raw, Mapping):
        return raw.get(key, raw.get(other))
    return getattr(raw, other, None)


def _spelt(raw: Any, key: str) -> str:
    """Return how ``raw`` spells one of its fields."""
    return key if isinstance(raw, Mapping) and key in raw else _SNAKE.get(key, key)


def _beside(instruction: Any) -> Any:
    """Return the parts of a system instruction: a string, parts, or a content."""
    inner = _get(instruction, "parts")
    found = instruction if inner is None else inner
    return [found] if isinstance(found, str | Mapping) else found


def _parse_part(raw: Any, role: Role) -> Part:
    call, response = _get(raw, "functionCall"), _get(raw, "functionResponse")
    if call is not None and role == "assistant":
        arguments = _get(call, "args")
        known = arguments if isinstance(arguments, Mapping) else text_or_empty(arguments)
        name = text_or_empty(_get(call, "name"))
        ident = text_or_empty(_get(call, "id"))
        return ToolCall(ident, name, {} if arguments is None else known, raw, _is_signed(raw))
    if response is not None and role == "user":
        held = _get(response, "response")
        content = _parse_response(held, _get(response, "parts"))
        ident, name = text_or_empty(_get(response, "id")), text_or_empty(_get(response, "name"))
        return ToolResult(ident, content, _status(held), raw, name)
    text = _get(raw, "text")
    thought = isinstance(text, str) and _get(raw, "thought")
    return Thinking(text, raw, _is_signed(raw)) if thought else _parse_piece(raw)


def _is_signed(raw: Any) -> bool:
    """Whether a part carries a thought signature: it goes back as it came."""
    return _get(raw, "thoughtSignature") is not None


def _is_empty(part: Part) -> bool:
    """Whether a part says nothing: a text without any, or no data at all."""
    nothing = not part.text if isinstance(part, Text) else isinstance(part, Opaque) and not part.type
    return nothing and not _is_signed(part.raw)


def _parse_piece(raw: Any) -> Content:
    if isinstance(raw, str):
        return Text(raw, raw)
    text = _get(raw, "text")
    if isinstance(text, str):
        return Text(text, raw)
    url = _url(raw)
    return Opaque(_kind(raw), raw) if url is None else Image(url, raw)


def _kind(raw: Any) -> str:
    """Return the field that a part has; nothing where it has none."""
    fields = as_mapping(raw)
    if fields is None:
        return type(raw).__name__
    return next((key for key, value in fields.items() if value is not None), "")


def _url(raw: Any) -> str | None:
    data, file = _get(raw, "inlineData"), _get(raw, "fileData")
    mime, uri = text_or_empty(_get(file if data is None else data, "mimeType")), _get(file, "fileUri")
    if not mime.startswith("image/"):
        return None
    if data is not None:
        given = _get(data, "data")
        encoded = b64encode(given).decode() if isinstance(given, bytes) else given
        return f"data:{mime};base64,{encoded}" if isinstance(encoded, str) else None
    return uri if isinstance(uri, str) else None


def _parse_response(response: Any, parts: Any) -> tuple[Content, ...]:
    pieces = tuple(map(_parse_piece, parts)) if isinstance(parts, list | tuple) else ()
    text = _text_of(response)
    return pieces if text is None else (Text(text), *pieces)


def _text_of(response: Any) -> str | None:
    if not isinstance(response, Mapping):
        return response if isinstance(response, str) else None
    if len(response) == 1 and isinstance(only := next(iter(response.values())), str):
        return only
    return json.dumps(response, ensure_ascii=False, default=str) if response else None


def _status(response: Any) -> Literal["error"] | None:
    return "error" if isinstance(response, Mapping) and response.get("error") else None


def _response(before: Any, content: tuple[Content, ...], status: str | None = None) -> Any:
    """Return a response with other text: under the key where the text stood, or read from the JSON that it was."""
    text = "\n".join(piece.text for piece in content if isinstance(piece, Text))
    if text == (_text_of(before) or ""):
        return before
    keys = list(before) if isinstance(before, Mapping) else []
    if keys and _text_of(before) not in before.values() and (read := _read(text)) is not None:
        return read
    key = keys[0] if len(keys) == 1 else "error" if status == "error" else "output"
    return {key: text}


def _read(text: str) -> dict[str, Any] | None:
    """Return the object that ``text`` is the JSON of, if it would be read as this text again."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) and _text_of(value) == text else None


def _edited(raw: Any, part: Part, new: tuple[Content, ...]) -> list[Any]:
    """Return a part with other content: a result stays one part, a text may become several."""
    if isinstance(part, ToolResult):
        return [raw if new == part.content else _with_response(raw, part, new)]
    if new == (part,):
        return [raw]
    if len(new) == 1 and isinstance(new[0], Text) and not isinstance(raw, str):
        return [with_fields(raw, {"text": new[0].text})]
    parts, signature = [_encode_piece(piece) for piece in new], _get(raw, "thoughtSignature")
    if signature is not None and parts:
        parts[-1] = with_fields(parts[-1], {_spelt(raw, "thoughtSignature"): signature})
    return parts


def _with_response(raw: Any, part: ToolResult, new: tuple[Content, ...]) -> Any:
    key = _spelt(raw, "functionResponse")
    given = _get(raw, "functionResponse")
    changes = {"response": _response(_get(given, "response"), new, part.status)}
    pieces = [_encode_piece(piece) for piece in new if not isinstance(piece, Text)]
    if pieces or _get(given, "parts") is not None:
        changes["parts"] = pieces
    return with_fields(raw, {key: with_fields(given, changes)})


def _encode_piece(piece: Content) -> Any:
    match piece:
        case Text(text=text, raw=raw):
            return raw if _get(raw, "text") == text and raw is not None else {"text": text}
        case Image(url=url, raw=raw):
            return raw if _url(raw) == url else _image_part(url)
        case Opaque(raw=raw):
            return raw


def _image_part(url: str) -> dict[str, Any]:
    head, comma, data = url.partition(";base64,")
    if comma and head.startswith("data:"):
        return {"inlineData": {"mimeType": head.removeprefix("data:"), "data": data}}
    return {"fileData": {"mimeType": "image/*", "fileUri": url}}


def _result_part(part: ToolResult) -> Any:
    given = _get(part.raw, "functionResponse")
    if given is not None:
        same = part.content == _parse_response(_get(given, "response"), _get(given, "parts"))
        return part.raw if same else _with_response(part.raw, part, part.content)
    return _new_response(part, part.tool)


def _new_response(part: ToolResult, name: str) -> dict[str, Any]:
    response = {"name": name, "response": _response({}, part.content, part.status)}
    pieces = [_encode_piece(piece) for piece in part.content if not isinstance(piece, Text)]
    ident = {"id": part.call_id} if part.call_id else {}
    return {"functionResponse": {**ident, **response, **({"parts": pieces} if pieces else {})}}


def _other_parts(parts: Sequence[Part]) -> Iterator[Any]:
    for part in parts:
        match part:
            case Thinking(raw=raw):
                if _get(raw, "thought"):
                    yield raw
            case ToolCall(raw=raw) if _get(raw, "functionCall") is not None:
                yield raw
            case ToolCall(id=ident, name=name, arguments=given):
                arguments = dict(given) if isinstance(given, Mapping) else {"arguments": given}
                yield {"functionCall": {**({"id": ident} if ident else {}), "name": name, "args": arguments}}
            case Text() | Image() | Opaque():
                yield _encode_piece(part)
