"""Counting tokens with tiktoken, offline: the vocabularies are those that litellm's wheel carries."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from elision.history import Image, Message, Opaque, Part, Text, Thinking, ToolCall, ToolResult

if TYPE_CHECKING:
    import tiktoken

IMAGE_TOKENS = 765
"""One 1024 x 1024 image at high detail (OpenAI, vision guide: 85 + 4 tiles x 170); base64 is never counted as text."""

_CL100K = ("gpt-4-", "gpt-3.5", "text-embedding")


def count_text(text: str, model: str | None = None) -> int:
    """Count the tokens of a text; text that looks like a special token is text, lone surrogates count as U+FFFD."""
    encoding = _encoding(_encoding_name(model))
    if not text.isascii():
        text = text.encode("utf-8", "replace").decode()
    return len(encoding.encode_ordinary(text))


def count_messages(lists: Sequence[Sequence[Any]], dialect: str, model: str | None = None) -> list[int]:
    """Count the tokens of lists of host messages; a message that several of them hold is counted once."""
    from elision.dialect import by_name
    from elision.history import History
    from elision.registry import plugins

    reader = by_name(plugins().dialects(), dialect)
    known: dict[int, int] = {}
    totals = []
    for messages in lists:
        history = History(reader.wire)
        for raw in messages:
            history.append(reader.parse(raw, history))
        totals.append(sum(_counted(message, known, model) for message in history.messages))
    return totals


def _counted(message: Message, known: dict[int, int], model: str | None) -> int:
    key = id(message.raw)
    if key not in known:
        known[key] = sum(count_part(part, model) for part in message.parts)
    return known[key]


def count_part(part: Part, model: str | None = None) -> int:
    """Count the tokens of a part: its text, its call, or the fixed cost of an image."""
    match part:
        case Text(text=text) | Thinking(text=text):
            return count_text(text, model)
        case ToolCall(name=name, arguments=arguments):
            shown = (
                arguments
                if isinstance(arguments, str)
                else json.dumps(dict(arguments), ensure_ascii=False, default=str)
            )
            return count_text(name, model) + count_text(shown, model)
        case ToolResult(content=content):
            return sum(count_part(item, model) for item in content)
        case Image():
            return IMAGE_TOKENS
        case Opaque(raw=raw):
            return count_text(json.dumps(raw, ensure_ascii=False, default=str), model)


def _encoding_name(model: str | None) -> str:
    name = (model or "").rsplit("/", 1)[-1]
    return "cl100k_base" if name == "gpt-4" or name.startswith(_CL100K) else "o200k_base"


@cache
def _encoding(name: str) -> tiktoken.Encoding:
    import tiktoken

    folder = None if os.environ.get("TIKTOKEN_CACHE_DIR") else _offline_vocabularies()
    if folder is None:
        return tiktoken.get_encoding(name)
    previous = os.environ.get("TIKTOKEN_CACHE_DIR")
    os.environ["TIKTOKEN_CACHE_DIR"] = str(folder)
    try:
        return tiktoken.get_encoding(name)
    finally:
        del os.environ["TIKTOKEN_CACHE_DIR"]
        if previous is not None:
            os.environ["TIKTOKEN_CACHE_DIR"] = previous


def _offline_vocabularies() -> Path | None:
    """Return the folder with vocabularies in litellm's wheel, found without importing litellm (seconds)."""
    spec = find_spec("litellm")
    if spec is None or spec.origin is None:
        return None
    folder = Path(spec.origin).parent / "litellm_core_utils" / "tokenizers"
    return folder if folder.is_dir() else None
