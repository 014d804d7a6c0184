"""What a part of a shape that we do not know weighs: its text, and the files in it by what they cost."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from elision.tokens.media import PAGE_TOKENS, Blob, data_url, decoded_text, medium_of

SEALED_PER_TOKEN = 10
"""Characters of sealed thinking for one token of it (OpenAI, three recorded items: 9 to 22)."""

DEEPEST = 60
"""Levels of nesting that are looked into; what lies deeper counts nothing."""

SMALLEST = 64
"""Characters below which a text is counted as it stands, whatever it is."""

_SEALED = frozenset({"encrypted_content", "signature", "thought_signature", "thoughtSignature", "redactedContent"})
_SEALED_TYPES = ("redacted_thinking", "reasoning.encrypted")
_DATA = frozenset(
    {"data", "file_data", "fileData", "bytes", "b64_json", "blob", "base64", "image", "image_base64", "screenshot"}
)
_TYPES = ("media_type", "mediaType", "mime_type", "mimeType", "format")
_ELSEWHERE = ("file_id", "file_url", "fileUri", "file_uri")
_PICTURES = frozenset({"image", "input_image"})
_MAKES_PICTURES = "image_generation_call"
_UNCOUNTED = frozenset({"cache_control", "cachePoint"})
_BYTES = (bytes, bytearray, memoryview)
_BASE64 = re.compile(rf"[A-Za-z0-9+/_=\s-]{{{SMALLEST}}}")


@dataclass(slots=True)
class Weighing:
    """One walk through plain data: ``texts`` of files, and ``fixed`` tokens; ``image`` says what an image costs."""

    image: Callable[[tuple[int, int] | None], int]
    texts: list[str] = field(default_factory=list)
    fixed: int = 0

    def rest(self, value: Any, above: tuple[int, ...] = ()) -> Any:
        """Return what is left as plain data when the files in it have been weighed."""
        if isinstance(value, str):
            return self._rest_of_text(value)
        if isinstance(value, _BYTES):
            return self._weigh(value, "")
        if value is None or isinstance(value, bool | int | float) or id(value) in above or len(above) >= DEEPEST:
            return value if isinstance(value, bool | int | float) else None
        inside = (*above, id(value))
        if isinstance(value, Mapping):
            return self._rest_of_mapping(value, inside)
        if isinstance(value, Sequence):
            return [self.rest(each, inside) for each in value]
        return self._rest_of_object(value, inside)

    def _rest_of_object(self, value: Any, inside: tuple[int, ...]) -> Any:
        dump = getattr(value, "model_dump", None)
        return self.rest(dump(), inside) if callable(dump) and not isinstance(value, type) else str(value)

    def _rest_of_text(self, text: str) -> Any:
        found = data_url(text)
        if found is None:
            return text
        return self._weigh(found[1], found[0])

    def _rest_of_mapping(self, value: Mapping[Any, Any], inside: tuple[int, ...]) -> dict[str, Any]:
        kind = value.get("type") if isinstance(value.get("type"), str) else None
        if kind in _PICTURES and (_is_elsewhere(value) or _is_elsewhere(value.get("source"))):
            self.fixed += self.image(None)
            return {}
        media_type = next((str(value[key]) for key in _TYPES if isinstance(value.get(key), str)), "")
        rest: dict[str, Any] = {}
        for key, each in value.items():
            if key in _UNCOUNTED:
                continue
            if isinstance(each, _BYTES):
                self._weigh(each, media_type)
            elif not isinstance(each, str) or len(each) < SMALLEST:
                rest[str(key)] = self.rest(each, inside)
            elif key in _SEALED or (key == "data" and kind in _SEALED_TYPES):
                self.fixed += len(each) // SEALED_PER_TOKEN
            elif _is_file(key, kind) and _BASE64.match(each):
                self._weigh(each, media_type)
            else:
                rest[str(key)] = self._rest_of_text(each)
        self.fixed += PAGE_TOKENS * _is_elsewhere(value)
        return rest

    def _weigh(self, blob: Blob, media_type: str) -> None:
        medium = medium_of(blob, media_type)
        if medium.kind == "text":
            self.texts.append(decoded_text(blob))
        else:
            self.fixed += self.image(medium.size) if medium.kind == "image" else medium.estimate


def _is_file(key: object, kind: object) -> bool:
    """Whether base64 stands under this key of a part of this type because it is a file."""
    return (key in _DATA and kind != "text") or (key == "result" and kind == _MAKES_PICTURES)


def _is_elsewhere(value: Any) -> bool:
    """Whether a file is only named: what is in it cannot be seen."""
    if not isinstance(value, Mapping):
        return False
    keys = (*_ELSEWHERE, *(["url"] if value.get("type") == "url" else []))
    return any(isinstance(value.get(key), str) for key in keys)


def sealed_tokens(raw: Any) -> int:
    """Return the estimate for the sealed part of the host's thinking: a signature, or thinking that is encrypted."""
    if not isinstance(raw, Mapping):
        return 0
    sealed = [raw.get(key) for key in (*_SEALED, *(["data"] if raw.get("type") in _SEALED_TYPES else []))]
    return max((len(each) // SEALED_PER_TOKEN for each in sealed if isinstance(each, str)), default=0)


def as_json(value: Any) -> str:
    """Write plain data as it goes over the wire, its signs unescaped."""
    return _ENCODER.encode(value)


_ENCODER = json.JSONEncoder(ensure_ascii=False, default=str)
