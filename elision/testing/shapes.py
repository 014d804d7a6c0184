"""Writes entries as host messages: one writer for each shape that recorded histories have."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, TypeAlias

from elision.testing.gemini_shape import contents, instruction
from elision.testing.parts import (
    Acted,
    Body,
    CallPart,
    Entry,
    Given,
    ImagePart,
    ResultPart,
    Said,
    Shape,
    Stray,
    TextPart,
    ThinkingPart,
    arguments,
    present,
    words,
)
from elision.testing.responses_shape import responses

Raw: TypeAlias = dict[str, Any]
MARK: Mapping[str, Any] = {"cache_control": {"type": "ephemeral"}}


def write(shape: Shape, entries: Iterable[Entry]) -> tuple[Any, list[Any]]:
    """Return the system prompt that stands beside the messages (``None`` if none does), and the messages."""
    rest = _with_names(_with_task(list(entries)))
    system = None
    if shape in _BESIDE and rest and isinstance(rest[0], Said) and rest[0].role == "system":
        system = _BESIDE[shape](rest.pop(0).content)  # type: ignore[union-attr]
    writer = _WRITERS[shape]
    return system, [message for entry in rest for message in (_given(entry) or writer(entry))]


def _with_task(entries: list[Entry]) -> list[Entry]:
    for index, entry in enumerate(entries):
        if isinstance(entry, Said) and entry.role == "user" and not entry.demo:
            return [*entries[:index], replace(entry, task=True), *entries[index + 1 :]]
        if isinstance(entry, Acted) and not entry.demo:
            break
    return entries


def _with_names(entries: list[Entry]) -> list[Entry]:
    """Name the call that a result answers: in order within its step, by its id where it stands by itself."""
    names: dict[str | None, str] = {}
    found: list[Entry] = []
    for entry in entries:
        if isinstance(entry, Acted):
            inside = {call.id: call.name for call in entry.calls}
            names |= inside
            pairs = zip(entry.calls, entry.results, strict=True)
            unsure = len(inside) < len(entry.calls)
            results = tuple(
                result and replace(result, tool=call.name if unsure else inside.get(result.id, call.name))
                for call, result in pairs
            )
            found.append(replace(entry, results=results))
        elif isinstance(entry, Stray):
            found.append(Stray(tuple(replace(result, tool=names.get(result.id, "bash")) for result in entry.results)))
        else:
            found.append(entry)
    return found


def _given(entry: Entry) -> list[Any]:
    return [entry.raw] if isinstance(entry, Given) else []


# Chat completions: also what SWE-agent's and mini-swe-agent's messages are made from.


def _openai(entry: Entry) -> Iterator[Raw]:
    match entry:
        case Said():
            yield {"role": entry.role, "content": _chat_content(entry.content), **entry.extra}
        case Acted():
            yield _chat_action(entry)
            yield from map(_tool_message, present(entry.results))
            yield from _then(entry)
        case Stray():
            yield from map(_tool_message, entry.results)


def _chat_action(entry: Acted) -> Raw:
    message: Raw = {"role": "assistant", "content": _chat_content(entry.content)}
    blocks = [_thinking_block(part) for part in entry.thinking if part.redacted or part.signature]
    plain = "\n".join(part.text for part in entry.thinking if not (part.redacted or part.signature))
    if plain:
        message["reasoning_content"] = plain
    if blocks:
        message["thinking_blocks"] = blocks
    if entry.calls:
        message["tool_calls"] = [_chat_call(call) for call in entry.calls]
    return {**message, **entry.extra}


def _chat_call(call: CallPart) -> Raw:
    return {
        "id": call.id or "",
        "type": "function",
        "function": {"name": call.name, "arguments": arguments(call)},
        **call.extra,
    }


def _tool_message(result: ResultPart) -> Raw:
    return {
        "role": "tool",
        "tool_call_id": result.id or "",
        "content": _chat_content(result.content),
        **(MARK if result.cached else {}),
        **result.extra,
    }


def _then(entry: Acted) -> Iterator[Raw]:
    if entry.then is not None:
        yield {"role": "user", "content": entry.then}


def _chat_content(body: Body) -> Any:
    if body is None or isinstance(body, str):
        return body
    return [
        {"type": "image_url", "image_url": {"url": part.url}} if isinstance(part, ImagePart) else _text_block(part)
        for part in body
    ]


def _text_block(part: TextPart) -> Raw:
    return {"type": "text", "text": part.text, **(MARK if part.cached else {}), **part.extra}


def _thinking_block(part: ThinkingPart) -> Raw:
    if part.redacted:
        return {"type": "redacted_thinking", "data": part.text}
    return {"type": "thinking", "thinking": part.text, "signature": part.signature}


# Anthropic: content blocks; all results of a step lead one user message.


def _anthropic(entry: Entry) -> Iterator[Raw]:
    match entry:
        case Said():
            yield {"role": entry.role, "content": _blocks_or_text(entry.content), **entry.extra}
        case Acted():
            yield {"role": "assistant", "content": _action_blocks(entry), **entry.extra}
            results = [_result_block(result) for result in present(entry.results)]
            beside = [{"type": "text", "text": entry.then}] if entry.then is not None else []
            if results or beside:
                yield {"role": "user", "content": [*results, *beside]}
        case Stray():
            yield {"role": "user", "content": [_result_block(result) for result in entry.results]}


def _action_blocks(entry: Acted) -> Any:
    thoughts = [_thinking_block(part) for part in entry.thinking]
    calls = [
        {"type": "tool_use", "id": call.id or "", "name": call.name, "input": call.arguments, **call.extra}
        for call in entry.calls
    ]
    if isinstance(entry.content, str) and not thoughts and not calls:
        return entry.content
    return [*thoughts, *_blocks(entry.content), *calls]


def _result_block(result: ResultPart) -> Raw:
    return {
        "type": "tool_result",
        "tool_use_id": result.id or "",
        **({} if result.content is None else {"content": _blocks_or_text(result.content)}),
        **({"is_error": True} if result.error else {}),
        **(MARK if result.cached else {}),
        **result.extra,
    }


def _blocks_or_text(body: Body) -> Any:
    return body if isinstance(body, str) else _blocks(body)


def _blocks(body: Body) -> list[Raw]:
    parts = (TextPart(body),) if isinstance(body, str) else body or ()
    return [_image_block(part) if isinstance(part, ImagePart) else _text_block(part) for part in parts]


def _image_block(part: ImagePart) -> Raw:
    head, comma, data = part.url.partition(";base64,")
    if not comma:
        return {"type": "image", "source": {"type": "url", "url": part.url}}
    kind = head.removeprefix("data:")
    return {"type": "image", "source": {"type": "base64", "media_type": kind, "data": data}}


# SWE-agent's history items, with calls or with commands written as text.


def _sweagent(entry: Entry) -> Iterator[Raw]:
    match entry:
        case Said():
            kind = "system_prompt" if entry.role == "system" else "observation" if entry.task else "user"
            content = _chat_content(entry.content)
            yield _item(entry.role, content, "demonstration" if entry.demo else kind, entry.demo) | dict(entry.extra)
        case Acted():
            action = _chat_action(entry) | _item("assistant", _chat_content(entry.content), "action", entry.demo)
            calls = {"tool_calls": action.pop("tool_calls")} if entry.calls else {}
            commands = "\n".join(map(_command, entry.calls))
            yield action | {"thought": words(entry.content), "action": commands} | calls
            for result in present(entry.results):
                yield _tool_item(result, demo=entry.demo)
            if entry.then is not None:
                yield _item("user", entry.then, "user")
        case Stray():
            yield from map(_tool_item, entry.results)


def _sweagent_text(entry: Entry) -> Iterator[Raw]:
    match entry:
        case Said():
            yield from _sweagent(entry)
        case Acted():
            command = "".join(map(_command, entry.calls))
            said = words(entry.content)
            content = f"{said}\n```\n{command}\n```" if command else said
            action = {"thought": said, "action": command, "tool_calls": None}
            yield _item("assistant", content, "action", entry.demo) | action | dict(entry.extra)
            for result in present(entry.results):
                yield _text_item(result, demo=entry.demo)
            if entry.then is not None:
                yield _item("user", entry.then, "user")
        case Stray():
            yield from map(_text_item, entry.results)


def _item(role: str, content: Any, kind: str, demo: bool = False) -> Raw:
    item: Raw = {"role": role, "content": content, "agent": "main", "message_type": kind}
    return item | ({"is_demo": True} if demo else {})


def _tool_item(result: ResultPart, *, demo: bool = False) -> Raw:
    return _text_item(result, demo=demo) | {"role": "tool", "tool_call_ids": [result.id or ""]}


def _text_item(result: ResultPart, *, demo: bool = False) -> Raw:
    item = _item("user", _chat_content(result.content), "observation", demo)
    if result.tags:
        item["tags"] = list(result.tags)
    return item | (dict(MARK) if result.cached else {}) | dict(result.extra)


# mini-swe-agent's messages: chat completions with the agent's own notes under ``extra``.


def _miniswe(entry: Entry) -> Iterator[Raw]:
    match entry:
        case Acted():
            actions = [{"command": _command(call), "tool_call_id": call.id or ""} for call in entry.calls]
            yield _chat_action(entry) | {"extra": {"actions": actions, "cost": 0.0, "timestamp": 0.0}}
            for result in present(entry.results):
                yield _tool_message(result) | {"extra": _execution(result)}
            yield from _then(entry)
        case Stray():
            for result in entry.results:
                yield _tool_message(result) | {"extra": _execution(result)}
        case _:
            yield from _openai(entry)


def _miniswe_text(entry: Entry) -> Iterator[Raw]:
    match entry:
        case Acted():
            command = "".join(map(_command, entry.calls))
            said = words(entry.content)
            content = f"{said}\n\n```mswea_bash_command\n{command}\n```" if command else said
            notes = {"actions": [{"command": command}] if command else [], "cost": 0.0, "timestamp": 0.0}
            yield {"role": "assistant", "content": content, "extra": notes} | dict(entry.extra)
            for result in present(entry.results):
                yield _output(result)
            yield from _then(entry)
        case Stray():
            yield from map(_output, entry.results)
        case _:
            yield from _openai(entry)


def _output(result: ResultPart) -> Raw:
    content = _chat_content(result.content)
    if isinstance(content, str):
        content = f"<returncode>{int(result.error)}</returncode>\n<output>\n{content}</output>"
    return {"role": "user", "content": content, "extra": _execution(result)} | dict(result.extra)


def _execution(result: ResultPart) -> Raw:
    output = result.content if isinstance(result.content, str) else ""
    return {"raw_output": output, "returncode": int(result.error), "timestamp": 0.0, "exception_info": None}


def _command(call: CallPart) -> str:
    """Write a call as a shell command: the tool and its arguments, or the command that is its only argument."""
    if isinstance(call.arguments, str):
        return f"{call.name} {call.arguments}"
    if set(call.arguments) == {"command"}:
        return str(call.arguments["command"])
    return " ".join([call.name, *(shlex.quote(str(value)) for value in call.arguments.values())])


_WRITERS: Mapping[Shape, Callable[[Entry], Iterable[Raw]]] = {
    "openai": _openai,
    "anthropic": _anthropic,
    "responses": responses,
    "gemini": contents,
    "sweagent": _sweagent,
    "sweagent_text": _sweagent_text,
    "miniswe": _miniswe,
    "miniswe_text": _miniswe_text,
}
_BESIDE: Mapping[Shape, Callable[[Body], Any]] = {
    "anthropic": _blocks_or_text,
    "gemini": instruction,
}
"""The shapes in which the system prompt stands beside the messages."""
