"""What Anthropic's Messages API refuses, in its own words."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from elision.testing.server.content import items, mapping, marks_in, names, unknown_keys
from elision.testing.server.refused import Body, Refusals, Refused
from elision.testing.server.signatures import THINKING, blocks_of

BINDING_BETA = "thinking-binding-controls-2026-08-01"

_TOP = names(
    "model messages max_tokens system tools tool_choice metadata stop_sequences stream temperature top_k top_p "
    "thinking service_tier container context_management mcp_servers output_config output_format cache_control "
    "inference_geo speed"
)
_BLOCKS: Mapping[str, frozenset[str]] = {
    "text": frozenset({"type", "text", "cache_control", "citations"}),
    "image": frozenset({"type", "source", "cache_control"}),
    "document": frozenset({"type", "source", "title", "context", "citations", "cache_control"}),
    "search_result": frozenset({"type", "source", "title", "content", "citations", "cache_control"}),
    "thinking": frozenset({"type", "thinking", "signature"}),
    "redacted_thinking": frozenset({"type", "data"}),
    "tool_use": frozenset({"type", "id", "name", "input", "cache_control", "caller"}),
    "tool_result": frozenset({"type", "tool_use_id", "content", "is_error", "cache_control"}),
}
_SERVERS = ("server_tool_use", "mcp_tool_use", "compaction", "container_upload")
_ID = re.compile(r"^[a-zA-Z0-9_-]+$")
_BESIDE = {"user": ("tool_use", *THINKING), "assistant": ("tool_result",), "system": ("tool_use", "tool_result")}


def structure(body: Body) -> Refusals:
    """Refuse what has not the form of a request."""
    for key, kind in (("model", str), ("messages", list), ("max_tokens", int)):
        if key not in body:
            yield Refused("form", f"{key}: Field required")
        elif not isinstance(body[key], kind) or body[key] is True:
            yield Refused("form", f"{key}: Input should be a valid {_name(kind)}")
    for key in unknown_keys(body, _TOP):
        yield Refused("keys", f"{key}: Extra inputs are not permitted")
    if isinstance(body.get("messages"), list):
        if not body["messages"]:
            yield Refused("form", "messages: at least one message is required")
        for number, message in enumerate(body["messages"]):
            yield from _message_form(number, message)
    for key, kinds in (("tools", (list, type(None))), ("system", (str, list, type(None)))):
        if not isinstance(body.get(key), kinds):
            yield Refused("form", f"{key}: Input should be a valid list")
        yield from _listed(key, body.get(key))


def _name(kind: type) -> str:
    return {str: "string", list: "list", int: "integer"}[kind]


def _listed(key: str, value: Any) -> Refusals:
    for index, item in enumerate(items(value)):
        if not isinstance(item, Mapping):
            yield Refused("form", f"{key}.{index}: Input should be a valid dictionary or object to extract fields from")
        elif key == "system":
            yield from _block_form(f"system.{index}", item, ("text",))


def _message_form(number: int, message: Any) -> Refusals:
    if not isinstance(message, Mapping):
        yield Refused("form", f"messages.{number}: Input should be a valid dictionary or object to extract fields from")
        return
    for key in unknown_keys(message, ("role", "content")):
        yield Refused("keys", f"messages.{number}.{key}: Extra inputs are not permitted")
    if str(message.get("role")) not in _BESIDE:
        yield Refused("form", f"messages.{number}.role: Input should be 'user' or 'assistant'")
    elif not isinstance(content := message.get("content"), str | list):
        yield Refused("form", f"messages.{number}.content: Input should be a valid list")
    else:
        kinds = [kind for kind in _BLOCKS if kind not in _BESIDE[message["role"]]]
        for index, block in enumerate(items(content)):
            yield from _block_form(f"messages.{number}.content.{index}", block, kinds)


def _block_form(at: str, block: Any, kinds: Sequence[str]) -> Refusals:
    """Refuse a block of another form; what servers leave is theirs to know."""
    if not isinstance(block, Mapping):
        yield Refused("form", f"{at}: Input should be a valid dictionary or object to extract fields from")
        return
    kind = str(block.get("type"))
    if kind in _SERVERS or kind.endswith("_tool_result"):
        return
    if kind not in kinds:
        tags = ", ".join(f"'{each}'" for each in kinds)
        told = f"{at}: Input tag '{kind}' found using 'type' does not match any of the expected tags: {tags}"
        yield Refused("form", told)
        return
    for key in unknown_keys(block, _BLOCKS[kind]):
        yield Refused("keys", f"{at}.{kind}.{key}: Extra inputs are not permitted")
    yield from _fields(at, kind, block)


def _fields(at: str, kind: str, block: Body) -> Refusals:
    needed = {"text": "text", "thinking": "thinking", "tool_use": "id", "tool_result": "tool_use_id"}.get(kind)
    if needed is not None and not isinstance(block.get(needed), str):
        yield Refused("form", f"{at}.{kind}.{needed}: {_field_fault(block, needed)}")
    elif kind == "tool_use":
        yield from _call_form(at, block)
    elif kind == "tool_result" and isinstance(block.get("content"), list):
        for index, inner in enumerate(block["content"]):
            kinds = ("text", "image", "document", "search_result")
            yield from _block_form(f"{at}.tool_result.content.{index}", inner, kinds)
    elif kind == "tool_result" and not isinstance(block.get("content", ""), str):
        yield Refused("form", f"{at}.tool_result.content: Input should be a valid list")


def _field_fault(block: Body, key: str) -> str:
    return "Input should be a valid string" if key in block else "Field required"


def _call_form(at: str, block: Body) -> Refusals:
    if not _ID.match(block["id"]):
        yield Refused("ids", f"{at}.tool_use.id: String should match pattern '{_ID.pattern}'")
    if not isinstance(block.get("name"), str):
        yield Refused("form", f"{at}.tool_use.name: {_field_fault(block, 'name')}")
    if not isinstance(block.get("input"), Mapping):
        yield Refused("arguments", f"{at}.tool_use.input: Input should be a valid dictionary")


def order(body: Body, *, system_between: bool) -> Refusals:
    """Refuse messages in the wrong order, and empty ones; newer models take system messages between the others."""
    messages = body["messages"]
    for number, message in enumerate(messages):
        if message["role"] == "system" and not (system_between and number):
            told = 'The Messages API accepts a top-level `system` parameter, not "system" as an input message role.'
            yield Refused("order", f'messages: Unexpected role "system". {told}')
        if not message["content"] and not (number == len(messages) - 1 and message["role"] == "assistant"):
            told = "all messages must have non-empty content except for the optional final assistant message"
            yield Refused("blank_text", f"messages.{number}: {told}")
    if messages[0]["role"] == "assistant":
        yield Refused("order", 'messages: first message must use the "user" role')


def blank_texts(body: Body) -> Refusals:
    """Refuse texts of nothing."""
    for index, block in enumerate(items(body.get("system"))):
        yield from _blank(f"system.{index}", "system", block)
    for number, message in enumerate(body["messages"]):
        for index, block in enumerate(blocks_of(message["content"])):
            inner = items(block.get("content")) if block["type"] == "tool_result" else []
            for each in (block, *inner):
                yield from _blank(f"messages.{number}.content.{index}", "messages", each)
    last = body["messages"][-1]
    said = blocks_of(last["content"])[-1:] if last["role"] == "assistant" else []
    if any(block["type"] == "text" and block["text"] != block["text"].rstrip() for block in said):
        yield Refused("blank_text", "messages: final assistant content cannot end with trailing whitespace")


def _blank(at: str, where: str, block: Body) -> Refusals:
    if block["type"] != "text" or block["text"].strip():
        return
    if block.get("cache_control") is not None:
        yield Refused("blank_text", f"{at}: cache_control cannot be set for empty text blocks")
    elif not block["text"]:
        yield Refused("blank_text", f"{where}: text content blocks must be non-empty")
    else:
        yield Refused("blank_text", f"{where}: text content blocks must contain non-whitespace text")


def pairing(body: Body) -> Refusals:
    """Refuse calls without results right behind them, results without calls, and ids that come twice."""
    messages = body["messages"]
    seen: set[str] = set()
    calls: list[str] = []
    for number, message in enumerate(messages):
        blocks = blocks_of(message["content"])
        yield from _results(number, blocks, calls)
        calls = [block["id"] for block in blocks if block["type"] == "tool_use"]
        if len(set(calls)) < len(calls) or not seen.isdisjoint(calls):
            yield Refused("ids", "messages: `tool_use` ids must be unique")
        seen |= set(calls)
    if calls:
        yield _unanswered(len(messages) - 1, calls)


def _results(number: int, blocks: Sequence[Body], calls: Sequence[str]) -> Refusals:
    """Compare the results that lead a message with the calls of the message before it."""
    leading = [index for index, block in enumerate(blocks) if block["type"] == "tool_result"]
    ids = [blocks[index]["tool_use_id"] for index in leading]
    for index, given in zip(leading, ids, strict=True):
        at = f"messages.{number}.content.{index}"
        if given not in calls:
            told = "Each `tool_result` block must have a corresponding `tool_use` block in the previous message."
            yield Refused("pairing", f"{at}: unexpected `tool_use_id` found in `tool_result` blocks: {given}. {told}")
        if ids.count(given) > 1:
            told = "each tool_use must have a single result. Found multiple `tool_result` blocks with id"
            yield Refused("pairing", f"{at}: {told}: {given}")
    missing = [each for each in calls if each not in ids]
    if missing or leading != list(range(len(leading))):
        yield _unanswered(number - 1, missing or calls)


def _unanswered(number: int, missing: Sequence[str]) -> Refused:
    told = "Each `tool_use` block must have a corresponding `tool_result` block in the next message."
    found = "`tool_use` ids were found without `tool_result` blocks immediately after"
    return Refused("pairing", f"messages.{number}: {found}: {', '.join(missing)}. {told}")


def breakpoints(body: Body, most: int) -> Refusals:
    """Refuse more cache breakpoints than are allowed, and an hour after five minutes."""
    found = list(_marks(body))
    if len(found) > most:
        told = f"A maximum of {most} blocks with cache_control may be provided. Found {len(found)}."
        yield Refused("breakpoints", told)
    short = False
    for at, mark in found:
        if mark.get("type") != "ephemeral" or mark.get("ttl", "5m") not in ("5m", "1h"):
            yield Refused("breakpoints", f"{at}.cache_control: Input should be an ephemeral one, of '5m' or '1h'")
        if mark.get("ttl") == "1h" and short:
            told = (
                "a ttl='1h' cache_control block must not come after a ttl='5m' cache_control block. Note that blocks "
                "are processed in the following order: `tools`, `system`, `messages`."
            )
            yield Refused("breakpoints", f"{at}.cache_control.ttl: {told}")
        short = short or mark.get("ttl") != "1h"


def _marks(body: Body) -> Iterator[tuple[str, Body]]:
    for key in ("tools", "system"):
        for index, block in enumerate(items(body.get(key))):
            yield from ((f"{key}.{index}", mark) for mark in marks_in(block))
    for number, message in enumerate(body["messages"]):
        for index, block in enumerate(blocks_of(message["content"])):
            yield from ((f"messages.{number}.content.{index}", mark) for mark in marks_in(block))
    if isinstance(body.get("cache_control"), Mapping):
        yield "messages", body["cache_control"]


def parameters(body: Body, headers: Mapping[str, str], *, adaptive: bool, always: bool) -> Refusals:
    """Refuse parameters that the model does not take: some think ``adaptive`` only, some ``always``."""
    thinking, choice = mapping(body.get("thinking")), mapping(body.get("tool_choice"))
    mode = thinking.get("type")
    if "block_binding" in thinking and BINDING_BETA not in headers.get("anthropic-beta", ""):
        told = f"Extra inputs are not permitted. Send the header `anthropic-beta: {BINDING_BETA}`."
        yield Refused("parameters", f"thinking.{mode}.block_binding: {told}")
    if (mode == "enabled" and adaptive) or (mode == "disabled" and always):
        told = 'Use "thinking.type.adaptive" and "output_config.effort" to control thinking behavior.'
        yield Refused("parameters", f'"thinking.type.{mode}" is not supported for this model. {told}')
    if choice.get("type") in ("any", "tool") and (mode == "enabled" or always):
        yield Refused("parameters", "Thinking may not be enabled when tool_choice forces tool use.")
