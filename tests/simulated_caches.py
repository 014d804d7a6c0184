"""Providers' prefix caches, played message by message: they know the bytes that are sent, and nothing of edits."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from elision.profiles import Cache
from elision.tokens import count_beside, count_messages


class PrefixCache:
    """The cache of one provider; ``read`` gives the tokens of a request that are found again, and keeps the request."""

    def __init__(self, cache: Cache, dialect: str, model: str | None) -> None:
        self.cache = cache
        self.dialect = dialect
        self.model = model
        self.prefixes: set[str] = set()
        self.ends: set[str] = set()
        self.entries: dict[str, int] = {}
        self.written = 0
        self._tokens: dict[str, int] = {}

    def read(self, messages: Sequence[Any], system: Any = None, tools: Any = None) -> int:
        """Send a request: return the tokens that are read from the cache, then let it be written."""
        beside = [("tools", tools), ("system", system)]
        texts = [json.dumps(without_marks(beside))]
        tokens = [count_beside(system, tools, self.model)]
        blocks = [0]
        for message in messages:
            text = json.dumps(without_marks(message))
            if text not in self._tokens:
                self._tokens[text] = count_messages([[message]], self.dialect, self.model)[0]
            texts.append(texts[-1] + text)
            tokens.append(tokens[-1] + self._tokens[text])
            blocks.append(blocks[-1] + blocks_of(message))
        marks = [at for at, part in enumerate([beside, *messages]) if has_mark(part)]
        found = self._found(texts, tokens, blocks, marks)
        self._write(texts, marks)
        return found - found % self.cache.unit_tokens

    def _found(self, texts: list[str], tokens: list[int], blocks: list[int], marks: list[int]) -> int:
        cache, places = self.cache, range(len(texts))
        if cache.match == "prefix":
            hits = [at for at in places if texts[at] in self.prefixes]
        elif cache.match == "request":
            hits = [at for at in places if texts[at] in self.ends]
        elif cache.lookback_blocks is not None:
            window = cache.lookback_blocks
            reached = {at for mark in marks for at in places[: mark + 1] if blocks[mark] - blocks[at] <= window - 1}
            hits = [at for at in reached if texts[at] in self.entries]
        else:
            latest = cache.lookback_breakpoints or self.written
            hits = [at for at in places if self.written - self.entries.get(texts[at], -latest - 1) <= latest]
        return max((tokens[at] for at in hits if tokens[at] >= cache.min_tokens), default=0)

    def _write(self, texts: list[str], marks: list[int]) -> None:
        self.prefixes.update(texts)
        self.ends.add(texts[-1])
        implicit = [len(texts) - 1] if self.cache.marks in {"automatic", "both"} else []
        for at in [*marks, *implicit]:
            self.entries[texts[at]] = self.written
            self.written += 1


def blocks_of(message: Mapping[str, Any]) -> int:
    """Count what a message has for the provider: blocks, or text, reasoning and calls of chat completions."""
    content = message.get("content")
    said = len(content) if isinstance(content, list) else int(content is not None)
    if message["role"] == "tool":
        return 1
    thoughts = len(message.get("thinking_blocks") or []) or int(bool(message.get("reasoning_content")))
    return max(1, said + thoughts + len(message.get("tool_calls") or []))


def has_mark(value: Any) -> bool:
    """Whether there is a cache breakpoint anywhere in a value."""
    if isinstance(value, Mapping):
        return "cache_control" in value or any(map(has_mark, value.values()))
    return isinstance(value, list | tuple) and any(map(has_mark, value))


def without_marks(value: Any) -> Any:
    """Return a value without cache breakpoints; a text that stands as the one block of a list is that text."""
    if isinstance(value, Mapping):
        return {key: without_marks(item) for key, item in value.items() if key != "cache_control"}
    if isinstance(value, list | tuple):
        parts = [without_marks(item) for item in value]
        alone = len(parts) == 1 and isinstance(parts[0], dict) and parts[0].keys() == {"type", "text"}
        return parts[0]["text"] if alone else parts
    return value
