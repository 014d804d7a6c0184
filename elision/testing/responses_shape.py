"""Writes entries as items of OpenAI's Responses API."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeAlias

from elision.testing.parts import (
    Acted,
    Body,
    Entry,
    ImagePart,
    ResultPart,
    Said,
    Stray,
    ThinkingPart,
    arguments,
    present,
    texts,
)

Raw: TypeAlias = dict[str, Any]


def responses(entry: Entry) -> Iterator[Raw]:
    """Write an entry: an item for each call, result and piece of reasoning."""
    match entry:
        case Said():
            yield {"role": entry.role, "content": _said_content(entry.content), **entry.extra}
        case Acted():
            yield from map(_reasoning_item, entry.thinking)
            if entry.content or not entry.calls:
                said = texts(entry.content or "")
                content = [{"type": "output_text", "text": part.text, "annotations": []} for part in said]
                yield {"type": "message", "role": "assistant", "content": content, **entry.extra}
            for call in entry.calls:
                item = {"type": "function_call", "call_id": call.id or "", "name": call.name}
                yield {**item, "arguments": arguments(call), **call.extra}
            yield from map(_output_item, present(entry.results))
            if entry.then is not None:
                yield {"role": "user", "content": entry.then}
        case Stray():
            yield from map(_output_item, entry.results)


def _reasoning_item(part: ThinkingPart) -> Raw:
    shown = [] if part.redacted else [{"type": "summary_text", "text": part.text}]
    secret = part.text if part.redacted else part.signature
    return {"type": "reasoning", "summary": shown, **({"encrypted_content": secret} if secret else {})}


def _output_item(result: ResultPart) -> Raw:
    output = _said_content(result.content) if result.content is not None else ""
    return {"type": "function_call_output", "call_id": result.id or "", "output": output, **result.extra}


def _said_content(body: Body) -> Any:
    if body is None or isinstance(body, str):
        return body or ""
    return [
        {"type": "input_image", "image_url": part.url}
        if isinstance(part, ImagePart)
        else {"type": "input_text", "text": part.text, **part.extra}
        for part in body
    ]
