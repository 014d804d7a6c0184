"""Writes entries as contents of Gemini."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias

from elision.testing.parts import (
    Acted,
    Body,
    Entry,
    ImagePart,
    ResultPart,
    Said,
    Stray,
    TextPart,
    present,
    words,
)

Raw: TypeAlias = dict[str, Any]


def contents(entry: Entry) -> Iterator[Raw]:
    """Write an entry: all results of a step are parts of one content, and what the user says then is the next."""
    match entry:
        case Said():
            yield {"role": "user", "parts": _parts(entry.content), **entry.extra}
        case Acted():
            yield {"role": "model", "parts": _action(entry), **entry.extra}
            if results := present(entry.results):
                yield {"role": "user", "parts": [_response_part(result) for result in results]}
            if entry.then is not None:
                yield {"role": "user", "parts": [{"text": entry.then}]}
        case Stray():
            yield {"role": "user", "parts": [_response_part(result) for result in entry.results]}


def _action(entry: Acted) -> list[Raw]:
    thoughts: list[Raw] = [{"text": part.text, "thought": True} for part in entry.thinking if not part.redacted]
    secrets = [part.text if part.redacted else part.signature for part in entry.thinking]
    calls: list[Raw] = [
        {
            "functionCall": {
                **({"id": call.id} if call.id else {}),
                "name": call.name,
                "args": dict(call.arguments) if isinstance(call.arguments, Mapping) else {"arguments": call.arguments},
                **call.extra,
            }
        }
        for call in entry.calls
    ]
    signed = calls or thoughts
    said: list[Raw] = [*thoughts, *(_parts(entry.content) if entry.content or not signed else []), *calls]
    for secret in filter(None, secrets):
        first = calls[0] if calls else said[-1]
        first["thoughtSignature"] = secret
    return said


def _response_part(result: ResultPart) -> Raw:
    body = result.content
    images = [part for part in body if isinstance(part, ImagePart)] if isinstance(body, tuple) else []
    response = {"error" if result.error else "output": words(body)}
    parts = {"parts": _parts(tuple(images))} if images else {}
    ident = {"id": result.id} if result.id else {}
    return {"functionResponse": {**ident, "name": result.tool, "response": response, **parts, **result.extra}}


def _parts(body: Body) -> list[Raw]:
    parts = (TextPart(body),) if isinstance(body, str) else body or (TextPart(""),)
    return [_image(part) if isinstance(part, ImagePart) else {"text": part.text, **part.extra} for part in parts]


def _image(part: ImagePart) -> Raw:
    head, comma, data = part.url.partition(";base64,")
    if not comma:
        return {"fileData": {"mimeType": "image/png", "fileUri": part.url}}
    return {"inlineData": {"mimeType": head.removeprefix("data:"), "data": data}}


def instruction(body: Body) -> Raw:
    """Write the system prompt that stands beside the contents."""
    return {"parts": _parts(body)}
