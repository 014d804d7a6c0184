"""What the wires accept, by their providers' documentation: an oracle that shares no code with Elision."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from anthropic_rules import anthropic_faults, blocks_of

MAX_MARKS = 4
ITEMS = ("responses", "gemini")
"""The wires on which what the model said at once may be several items or contents in a row."""


def wire_faults(shape: str, messages: Sequence[Any], beside: Any = None) -> list[str]:
    """Return why a provider would reject the messages; ``beside`` is the request's system and tools."""
    faults = [*_unencodable(messages), *_too_many_marks([beside, messages])]
    match shape:
        case "openai":
            return [*faults, *_openai_pairing(messages), *_openai_empty(messages)]
        case "anthropic":
            return [*faults, *anthropic_faults(messages)]
        case "responses":
            return [*faults, *_responses_pairing(messages), *_lonely_reasoning(messages)]
        case "gemini":
            return [*faults, *_gemini_pairing(messages)]
        case _:
            raise ValueError(f"{shape} is not a wire")


def _unencodable(messages: Sequence[Any]) -> Iterator[str]:
    try:
        json.dumps(list(messages), ensure_ascii=False).encode()
    except UnicodeEncodeError as error:
        yield f"not UTF-8: {error.reason}"


def _too_many_marks(value: Any) -> Iterator[str]:
    marks = marks_in(value)
    if marks > MAX_MARKS:
        yield f"{marks} cache breakpoints"


def marks_in(value: Any) -> int:
    """Count the cache breakpoints anywhere in a value."""
    if isinstance(value, Mapping):
        return ("cache_control" in value) + sum(marks_in(item) for item in value.values())
    return sum(marks_in(item) for item in value) if isinstance(value, list) else 0


def without_marks(value: Any) -> Any:
    """Return the value without its cache breakpoints."""
    if isinstance(value, Mapping):
        return {key: without_marks(item) for key, item in value.items() if key != "cache_control"}
    return [without_marks(item) for item in value] if isinstance(value, list) else value


def _openai_pairing(messages: Sequence[Any]) -> Iterator[str]:
    """Each call is answered once, by the tool messages that directly follow its message."""
    waiting: Counter[str] = Counter()
    owner = -1
    for index, message in enumerate(messages):
        if message["role"] == "tool":
            name = message.get("tool_call_id") or ""
            if not waiting[name]:
                yield f"message {index} answers {name!r}, which nobody waits for"
            waiting[name] -= 1
            continue
        if any(count > 0 for count in waiting.values()):
            yield f"message {owner} has calls without a result before message {index}"
        waiting = Counter(call["id"] for call in message.get("tool_calls") or ())
        owner = index
    if any(count > 0 for count in waiting.values()):
        yield f"message {owner} has calls without a result at the end"


def _openai_empty(messages: Sequence[Any]) -> Iterator[str]:
    """A message of the model has content, or calls."""
    for index, message in enumerate(messages):
        if message["role"] == "assistant" and message.get("content") is None and not message.get("tool_calls"):
            yield f"message {index} is empty"


def _responses_pairing(items: Sequence[Any]) -> Iterator[str]:
    """Each call is answered once, by the outputs that directly follow what the model said."""
    waiting: Counter[str] = Counter()
    answering = False
    for index, item in enumerate(items):
        role, ident = role_of(item), str(item.get("call_id"))
        if role == "tool":
            if not waiting[ident]:
                yield f"item {index} answers {ident!r}, which nobody waits for"
            waiting[ident] -= 1
            answering = True
            continue
        if answering or role != "assistant":
            if any(count > 0 for count in waiting.values()):
                yield f"calls without an output before item {index}"
            waiting, answering = Counter(), False
        if str(item.get("type")).endswith("_call") and item.get("call_id") is not None:
            waiting[ident] += 1
    if any(count > 0 for count in waiting.values()):
        yield "calls without an output at the end"


def _lonely_reasoning(items: Sequence[Any]) -> Iterator[str]:
    """A reasoning item is followed by the item that the model made of it."""
    for item, after in zip(items, [*items[1:], None], strict=False):
        if item.get("type") == "reasoning" and (after is None or role_of(after) != "assistant"):
            yield f"reasoning {bytes_of(item)[:80]} without what follows it"


def _gemini_pairing(contents: Sequence[Any]) -> Iterator[str]:
    """The content after those of the model leads with a response for each call, by name, and no other has responses."""
    waiting: Counter[str] = Counter()
    for index, content in enumerate(contents):
        parts, role = content["parts"], role_of(content)
        if not parts:
            yield f"content {index} has no parts"
        found = Counter(part["functionResponse"]["name"] for part in parts if "functionResponse" in part)
        if found != (waiting if role == "user" else Counter()):
            yield f"content {index} answers {dict(found)} and not {dict(waiting)}"
        if not all("functionResponse" in part for part in parts[: found.total()]):
            yield f"content {index} does not lead with its responses"
        calls = Counter(part["functionCall"]["name"] for part in parts if "functionCall" in part)
        waiting = waiting + calls if role == "assistant" else Counter()
    if waiting:
        yield "the last content has calls without a response"


def role_of(message: Mapping[str, Any]) -> str:
    """Return who speaks, as chat completions call it: in Gemini's contents and in the items of Responses, too."""
    if "parts" in message:
        return "assistant" if message.get("role") == "model" else "user"
    kind = message.get("type")
    if isinstance(kind, str) and kind != "message":
        if kind.endswith("_output") and message.get("call_id") is not None:
            return "tool"
        return "assistant" if kind == "reasoning" or kind.endswith(("_call", "_output")) else "user"
    return str(message["role"])


def without_results(message: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Return what a user message says beside results; ``None`` for any other message, and where that is nothing."""
    rest = [block for block in blocks_of(message) if block.get("type") != "tool_result"]
    led = any(block.get("type") == "tool_result" for block in blocks_of(message))
    return {**message, "content": rest} if led and rest else None


def bytes_of(value: Any) -> str:
    """Return a value as JSON."""
    return json.dumps(value, sort_keys=True)


def calls_and_thinking(shape: str, message: Mapping[str, Any]) -> tuple[str, str]:
    """Return the calls (without cache breakpoints) and the thinking of an assistant message, as bytes."""
    if shape in ITEMS:
        kind = message.get("type")
        items = [message] if kind in {"function_call", "reasoning"} else []
        kept = [part if part.get("thought") else without_text(part) for part in message.get("parts", ())]
        return bytes_of(items), bytes_of([part for part in kept if part])
    if shape == "anthropic":
        calls = [block for block in blocks_of(message) if block.get("type") == "tool_use"]
        thinking = [block for block in blocks_of(message) if block.get("type") in {"thinking", "redacted_thinking"}]
        return bytes_of(without_marks(calls)), bytes_of(thinking)
    calls = [message.get("tool_calls"), message.get("action")]
    return bytes_of(calls), bytes_of([message.get("reasoning_content"), message.get("thinking_blocks")])


def result_ids(shape: str, message: Mapping[str, Any]) -> list[str]:
    """Return the ids of the results that a message holds."""
    if shape == "gemini":
        return _ids_in(message, "functionResponse")
    if shape == "responses":
        return [message["call_id"]] if role_of(message) == "tool" else []
    if shape == "anthropic":
        return [block["tool_use_id"] for block in blocks_of(message) if block.get("type") == "tool_result"]
    if message["role"] != "tool":
        return []
    return [(message.get("tool_call_ids") or [message.get("tool_call_id")])[0] or ""]


def call_ids(shape: str, message: Mapping[str, Any]) -> list[str]:
    """Return the ids of the calls that a message holds."""
    if shape == "gemini":
        return _ids_in(message, "functionCall")
    if shape == "responses":
        return [message["call_id"]] if message.get("type") == "function_call" else []
    if shape == "anthropic":
        return [block["id"] for block in blocks_of(message) if block.get("type") == "tool_use"]
    return [call["id"] for call in message.get("tool_calls") or ()]


def without_text(part: Mapping[str, Any]) -> dict[str, Any]:
    """Return a part of Gemini's without its text: what edits of text leave as it is."""
    return {key: value for key, value in part.items() if key not in {"text", "x_part"}}


def _ids_in(content: Mapping[str, Any], key: str) -> list[str]:
    return [part[key].get("id", part[key]["name"]) for part in content["parts"] if key in part]


def outline(shape: str, messages: Iterable[Mapping[str, Any]]) -> list[tuple[str, ...]]:
    """Return role and ids of each message: what edits of content leave as it is."""
    return [
        (role_of(each), *call_ids(shape, each), "|", *result_ids(shape, each), str(each.get("message_type")))
        for each in messages
    ]


def step_bounds(shape: str, messages: Sequence[Mapping[str, Any]], start: int) -> range:
    """Return the positions of the step that begins at ``start``: the action and the results behind it."""
    stop = start + 1
    if shape.endswith("_text"):
        calls = bool(messages[start].get("action") or (messages[start].get("extra") or {}).get("actions"))
        return range(start, start + 1 + (calls and stop < len(messages) and messages[stop]["role"] == "user"))
    while shape in ITEMS and stop < len(messages) and role_of(messages[stop]) == "assistant":
        stop += 1
    left = sum(len(call_ids(shape, message)) for message in messages[start:stop])
    while left > 0 and stop < len(messages) and (found := result_ids(shape, messages[stop])):
        left -= len(found)
        stop += 1
    return range(start, stop)


def newest_action(shape: str, messages: Sequence[Mapping[str, Any]]) -> list[Any]:
    """Return what the assistant said last: one message, or all of its items."""
    stop = max((index for index, message in enumerate(messages) if role_of(message) == "assistant"), default=-1) + 1
    start = max(stop - 1, 0)
    while shape in ITEMS and start and role_of(messages[start - 1]) == "assistant":
        start -= 1
    return list(messages[start:stop])


def words_of(message: Mapping[str, Any]) -> list[str]:
    """Return the texts that a message says itself, results left out."""
    content = message.get("content", message.get("parts"))
    if role_of(message) == "tool" or message.get("message_type") == "observation":
        return []
    if isinstance(content, str):
        return [content]
    return [item["text"] for item in content or () if isinstance(item, Mapping) and "text" in item]
