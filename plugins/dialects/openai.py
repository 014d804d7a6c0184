"""OpenAI chat completions, as OpenAI, DeepSeek, vLLM and others speak it and as litellm passes it on.

Shapes: a list of messages, or a request with ``messages``, ``tools`` and ``model``.  Content may be a string, ``null``
or a list of parts; thinking is read where hosts keep it (``thinking_blocks``, ``reasoning_details``,
``reasoning_content``, ``provider_specific_fields``, content), and keys that nobody knows are carried.  Messages may be
mappings or litellm ``Message`` objects.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

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
    Ttl,
)
from elision.plugins.dialects.chat_calls import (
    calls_of,
    encode_call,
    in_content,
    patched_calls,
    patched_thinking,
    thinking_of,
)
from elision.plugins.dialects.host_objects import as_mapping, text_or_empty, with_fields

EPHEMERAL: Mapping[str, str] = {"type": "ephemeral"}
ROLES: Mapping[str, Role] = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "assistant": "assistant",
    "tool": "tool",
    "function": "tool",
}
_OWN_KEYS = frozenset({"tool_calls", "tool_call_id", "function_call", "reasoning_content", "thinking_blocks"})
_SAYS_OTHERWISE = ("tool_calls", "function_call", "refusal", "audio")
EMPTY = "(empty)"
"""What a message or a result says that says nothing."""
_SPEECH = frozenset({"content", "tool_calls", "function_call"})
_FOREIGN_TYPES = frozenset({"input_text", "output_text", "input_image", "input_file", "tool_result"})
_MARKABLE = frozenset({"image_url", "file", "input_audio"})


class OpenAI(Dialect):
    """Chat completions."""

    name: ClassVar[str] = "openai"

    def recognises(self, messages: Sequence[Any], document: Any) -> int:  # noqa: ARG002 (its messages say enough)
        """Any list of messages with known roles fits; calls, results and reasoning are marks of its own."""
        score = 1
        for raw in messages:
            fields = as_mapping(raw)
            if fields is None or text_or_empty(fields.get("role")) not in ROLES or _SPEECH.isdisjoint(fields):
                return 0
            if not _FOREIGN_TYPES.isdisjoint(types_in(fields.get("content"))):
                return 0
            own = any(fields.get(key) is not None for key in _OWN_KEYS)
            if own or text_or_empty(fields["role"]) in {"tool", "developer", "function"}:
                score = 2
        return score

    def parse(self, raw: Any, history: History) -> Message:
        """Read one message."""
        fields = as_mapping(raw) or {}
        role = ROLES.get(text_or_empty(fields.get("role")), "user")
        content = fields.get("content")
        marks = count_marks(fields)
        if role == "tool":
            result = ToolResult(text_or_empty(fields.get("tool_call_id")), parse_content(content), raw=raw)
            return Message(role, "observation", (result,), raw, marks)
        said = map(in_content, parse_content(content)) if role == "assistant" else parse_content(content)
        parts: list[Part] = [*thinking_of(fields), *said, *calls_of(fields)]
        return Message(role, kind_of(role, history), tuple(parts), raw, marks)

    def patch(self, message: Message, patch: Patch) -> Any:
        """Return a copy of the message with other content or another cache breakpoint."""
        fields = as_mapping(message.raw) or {}
        before = fields.get("content")
        content = patched_content(message, patch, before)
        changes: dict[str, Any] = {} if content is before else {"content": content}
        if patch.mark is not None:
            changes |= marked(content, fields, on=patch.mark, on_item=message.role == "tool", ttl=patch.ttl)
        if fields.get("role") == "tool" and patch.ids:
            changes["tool_call_id"] = patch.ids[0]
        changes |= patched_calls(message, patch) | patched_thinking(message, patch)
        return with_fields(message.raw, changes)

    def unsaid(self, message: Message, *, strict: bool) -> Mapping[int, str]:
        """Say what is empty: no content, and where it is strict blank text; with calls there may be none."""
        fields = as_mapping(message.raw) or {}
        if not all(strict and _is_blank(part) for part in parse_content(fields.get("content"))):
            return {}
        if message.role == "system" or any(fields.get(key) for key in _SAYS_OTHERWISE):
            return {}
        if message.role == "tool":
            return empty_results(message)
        texts = [index for index, part in enumerate(message.parts) if isinstance(part, Text)] or [len(message.parts)]
        return {**dict.fromkeys(texts, ""), texts[-1]: EMPTY}

    def build(self, message: Message) -> list[Any]:
        """Make chat messages: a tool message for each result, and one message for the rest."""
        built: list[Any] = [result_message(part) for part in message.parts if isinstance(part, ToolResult)]
        rest = [part for part in message.parts if not isinstance(part, ToolResult)]
        if rest or not built:
            role = "user" if message.role == "tool" else message.role
            built.append(_plain_message(role, rest))
        return built


def empty_results(message: Message) -> Mapping[int, str]:
    """Say for results that they are empty."""
    return {
        index: EMPTY
        for index, part in enumerate(message.parts)
        if isinstance(part, ToolResult) and all(map(_is_blank, part.content))
    }


def _is_blank(part: Content) -> bool:
    return isinstance(part, Text) and (not part.text or part.text.isspace())


def kind_of(role: Role, history: History) -> Kind:
    """Say what a message is: the first of the user's is the task."""
    if role == "user":
        return "task" if history.task is None else "user"
    return "action" if role == "assistant" else "system"


def types_in(content: Any) -> set[str]:
    """Return the types of the parts in list content."""
    found = map(as_mapping, content if isinstance(content, list) else ())
    return {text_or_empty(fields.get("type")) for fields in found if fields is not None}


def awaits_text_result(history: History) -> bool:
    """Whether the message that comes next answers a call that was read from the assistant's text.

    Such a call has no ``raw``, and its result is the user message that follows.
    """
    step = history.steps[-1] if history.steps else None
    if step is None or step.stop != len(history):
        return False
    waiting = (call for (_, call), result in zip(step.calls, step.results, strict=True) if result is None)
    call = next(waiting, None)
    return call is not None and call.raw is None


def parse_content(content: Any) -> tuple[Content, ...]:
    """Read string or list content."""
    if isinstance(content, str):
        return (Text(content),)
    if not isinstance(content, list):
        return () if content is None else (Opaque(type(content).__name__, content),)
    return tuple(_content_part(item) for item in content)


def encode_part(part: Content) -> Any:
    """Write one part of list content."""
    match part:
        case Text(text=text, raw=Mapping() as raw) if raw.get("type") == "text":
            return raw if raw.get("text") == text else {**raw, "text": text}
        case Text(text=text, raw=str()):
            return text
        case Text(text=text):
            return {"type": "text", "text": text}
        case Image(url=url, raw=raw):
            return raw if _is_image(raw) else {"type": "image_url", "image_url": {"url": url}}
        case Opaque(raw=raw):
            return raw


def encode_content(content: tuple[Content, ...], before: Any, encode: Callable[[Content], Any] = encode_part) -> Any:
    """Write content back, as the very object ``before`` where nothing differs."""
    if isinstance(before, str) and content == (Text(before),):
        return before
    if len(content) == 1 and isinstance(content[0], Text) and content[0].raw is None:
        return content[0].text
    encoded = [encode(part) for part in content]
    same = isinstance(before, list) and len(before) == len(encoded)
    return before if same and all(old is new for old, new in zip(before, encoded, strict=True)) else encoded


def patched_content(message: Message, patch: Patch, before: Any) -> Any:
    """Return the message's content with the patch applied."""
    removed = [index for index in patch.removed if not isinstance(message.parts[index], Thinking)]
    if not patch.contents and not removed:
        return before
    new: list[Content] = []
    for index, part in enumerate(message.parts):
        if index in removed:
            continue
        if index in patch.contents:
            new.extend(patch.contents[index])
        elif isinstance(part, ToolResult):
            new.extend(part.content)
        elif isinstance(part, Text | Image | Opaque):
            new.append(part)
        elif isinstance(part, Thinking) and isinstance(before, list) and any(part.raw is each for each in before):
            new.append(Opaque("thinking", part.raw))
    new.extend(piece for index in patch.contents if index >= len(message.parts) for piece in patch.contents[index])
    return before if before is None and not new else encode_content(tuple(new), before)


def count_marks(fields: Mapping[str, Any]) -> int:
    """Count the cache breakpoints set in a message."""
    content, own = fields.get("content"), int(fields.get("cache_control") is not None)
    if not isinstance(content, list):
        return own
    return own + sum(item.get("cache_control") is not None for item in content if isinstance(item, Mapping))


def marked(
    content: Any, fields: Mapping[str, Any], *, on: bool, on_item: bool, ttl: Ttl | None = None
) -> dict[str, Any]:
    """Return the fields that set one breakpoint at the end of a message, or take all away.

    Tool messages carry it beside their content (``on_item``): litellm moves it onto the provider's result block.
    """
    changes: dict[str, Any] = {}
    cleared = _unmarked(content)
    if on and not on_item:
        items = [{"type": "text", "text": cleared}] if isinstance(cleared, str) else cleared
        if isinstance(items, list) and (last := _last_markable(items)) is not None:
            mark = {"cache_control": _mark_of(content, fields, ttl)}
            cleared = [*items[:last], {**items[last], **mark}, *items[last + 1 :]]
    if on and on_item:
        changes["cache_control"] = _mark_of(content, fields, ttl)
    elif "cache_control" in fields:
        changes["cache_control"] = None
    if cleared is not fields.get("content"):
        changes["content"] = cleared
    return changes


def mark_for(ttl: Ttl | None) -> dict[str, str]:
    """Return a cache breakpoint; five minutes is what one lives that does not say it."""
    return {**EPHEMERAL, "ttl": ttl} if ttl == "1h" else dict(EPHEMERAL)


def _mark_of(content: Any, fields: Mapping[str, Any], ttl: Ttl | None) -> Any:
    """Return the last breakpoint that the host set in the message, which may say how long it lives, or a new one."""
    if ttl is not None:
        return mark_for(ttl)
    inside = (
        [item.get("cache_control") for item in content if isinstance(item, Mapping)]
        if isinstance(content, list)
        else []
    )
    found = [mark for mark in (*inside, fields.get("cache_control")) if mark is not None]
    return found[-1] if found else dict(EPHEMERAL)


def _unmarked(content: Any) -> Any:
    if not isinstance(content, list) or not any(isinstance(i, Mapping) and "cache_control" in i for i in content):
        return content
    return [
        {key: value for key, value in item.items() if key != "cache_control"} if isinstance(item, Mapping) else item
        for item in content
    ]


def _last_markable(items: list[Any]) -> int | None:
    for index in range(len(items) - 1, -1, -1):
        item = items[index]
        if isinstance(item, Mapping) and (
            text_or_empty(item.get("type")) in _MARKABLE or text_or_empty(item.get("text")).strip()
        ):
            return index
    return None


def _content_part(item: Any) -> Content:
    if isinstance(item, Mapping):
        kind = item.get("type")
        if kind == "text" and isinstance(item.get("text"), str):
            return Text(item["text"], item)
        if kind == "image_url":
            source = item.get("image_url")
            url = source.get("url") if isinstance(source, Mapping) else source
            if isinstance(url, str):
                return Image(url, item)
        return Opaque(str(kind), item)
    return Text(item, item) if isinstance(item, str) else Opaque(type(item).__name__, item)


def _is_image(raw: Any) -> bool:
    return isinstance(raw, Mapping) and raw.get("type") == "image_url"


def result_message(part: ToolResult) -> Any:
    """Return the message that carries a result: the host's own, with other content where that differs, or a new one."""
    fields = as_mapping(part.raw)
    if fields is not None and text_or_empty(fields.get("role")) in {"tool", "function", "user"}:
        before = fields.get("content")
        content = encode_content(part.content, before)
        return part.raw if content is before else with_fields(part.raw, {"content": content})
    return {"role": "tool", "tool_call_id": part.call_id, "content": encode_content(part.content, None)}


def _plain_message(role: Role, parts: Sequence[Part]) -> dict[str, Any]:
    content = tuple(part for part in parts if isinstance(part, Text | Image))
    message: dict[str, Any] = {"role": role, "content": _simplest(content)}
    thoughts = "\n".join(part.text for part in parts if isinstance(part, Thinking))
    if thoughts:
        message["reasoning_content"] = thoughts
    calls = [encode_call(part) for part in parts if isinstance(part, ToolCall)]
    if calls:
        message["tool_calls"] = calls
    return message


def _simplest(content: tuple[Content, ...]) -> Any:
    if len(content) == 1 and isinstance(content[0], Text):
        return content[0].text
    return [encode_part(part) for part in content] or None
