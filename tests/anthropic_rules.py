"""What the Messages API accepts, by Anthropic's documentation: an oracle that shares no code with Elision."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

_THINKING = {"thinking", "redacted_thinking"}


def anthropic_faults(messages: Sequence[Any]) -> list[str]:
    """Return why Anthropic would reject the messages."""
    return [*_pairing(messages), *_blanks(messages), *_endings(messages), *_calls(messages)]


def _pairing(messages: Sequence[Any]) -> Iterator[str]:
    """The user message after one with calls leads with a result for each of them, and no other has results."""
    waiting: Counter[str] = Counter()
    for index, message in enumerate(messages):
        blocks = blocks_of(message)
        kinds = [block.get("type") for block in blocks]
        results = [block for block in blocks if block.get("type") == "tool_result"]
        found = Counter(block["tool_use_id"] for block in results)
        if found != waiting:
            yield f"message {index} answers {dict(found)} and not {dict(waiting)}"
        if kinds[: len(results)] != ["tool_result"] * len(results):
            yield f"message {index} does not lead with its results"
        waiting = Counter(block["id"] for block in blocks if block.get("type") == "tool_use")
    if waiting:
        yield "the last message has calls without a result"


def _blanks(messages: Sequence[Any]) -> Iterator[str]:
    for index, message in enumerate(messages):
        content = message["content"]
        if isinstance(content, str) and not content.strip():
            yield f"message {index} is blank"
        for block in blocks_of(message):
            inner = block.get("content") if block.get("type") == "tool_result" else None
            for item in [block, *(inner if isinstance(inner, list) else ())]:
                if item.get("type") == "text" and not item["text"].strip():
                    yield f"message {index} has a blank text block"


def _calls(messages: Sequence[Any]) -> Iterator[str]:
    """Each call has an id of its own, of plain characters, and an object as its input."""
    seen: set[str] = set()
    for index, message in enumerate(messages):
        for block in blocks_of(message):
            if block.get("type") == "tool_use":
                if block["id"] in seen or not re.fullmatch(r"[a-zA-Z0-9_-]+", block["id"]):
                    yield f"message {index} has a call with the id {block['id']!r}"
                if not isinstance(block["input"], Mapping):
                    yield f"message {index} has a call whose input is no object"
                seen.add(block["id"])


def with_named_calls(messages: Sequence[Any]) -> list[Any]:
    """Return messages in which calls have no ids, and in Anthropic's no input."""
    return [
        {
            **message,
            **({"call_id": ""} if "call_id" in message else {}),
            **({"tool_calls": [{**call, "id": ""} for call in calls]} if (calls := message.get("tool_calls")) else {}),
            "content": [
                {**block, "id": "", "input": {}} if block.get("type") == "tool_use" else block
                for block in blocks_of(message)
            ],
        }
        for message in messages
    ]


def _endings(messages: Sequence[Any]) -> Iterator[str]:
    """No message is empty, and none of the model's ends with thinking."""
    for index, message in enumerate(messages):
        if not message["content"]:
            yield f"message {index} is empty"
        for block in blocks_of(message)[-1:]:
            if block.get("type") in _THINKING:
                yield f"message {index} ends with {block['type']}"


def blocks_of(message: Mapping[str, Any]) -> list[Any]:
    """Return the content blocks of an Anthropic message."""
    content = message.get("content")
    return content if isinstance(content, list) else []
