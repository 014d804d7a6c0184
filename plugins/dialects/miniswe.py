"""mini-swe-agent's messages, as its models are given them and as ``.traj.json`` files hold them.

They are chat completions with ``extra`` beside them.  Where tools are called in text, the one fenced command in the
assistant's text is read as a call of ``bash`` without an id, and the user message that follows as its result.  On the
wire these are plain messages, which nothing has to answer.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar, Literal

from elision import History, Message, Part, Text, ToolCall, ToolResult
from elision.plugins.dialects.host_objects import as_mapping, text_or_empty
from elision.plugins.dialects.openai import (
    OpenAI,
    awaits_text_result,
    count_marks,
    encode_content,
    parse_content,
    result_message,
)

_FENCE = "mswea_bash_command"
_OWN_EXTRAS = frozenset(
    {"actions", "response", "raw_output", "returncode", "interrupt_type", "exit_status", "submission"}
)
# The agent's own rule: exactly one match is a command, anything else is a format error that runs nothing.
_COMMANDS = (
    re.compile(rf"```(?:bash|{_FENCE})\s*\n(.*?)\n```", re.DOTALL),
    re.compile(rf"<{_FENCE}>(.*?)</{_FENCE}>", re.DOTALL),
)


class MiniSWE(OpenAI):
    """Chat completions with ``extra``, or commands in text."""

    name: ClassVar[str] = "miniswe"

    def recognises(self, messages: Sequence[Any], document: Any) -> int:
        """The file says so, or ``extra`` or the fence of a command does; without them they are chat completions."""
        declared = document.get("trajectory_format") if isinstance(document, Mapping) else None
        own = text_or_empty(declared).startswith("mini-swe-agent")
        chat = []
        for raw in messages:
            fields = as_mapping(raw) or {}
            if fields.get("role") != "exit":
                chat.append(raw)
            own = own or not _OWN_EXTRAS.isdisjoint(_extra(fields)) or _is_fenced(fields)
        fits = super().recognises(chat, document)
        return 4 if own and fits else min(1, fits)

    def parse(self, raw: Any, history: History) -> Message:
        """Read one message."""
        fields = as_mapping(raw) or {}
        content = parse_content(fields.get("content"))
        match fields.get("role"):
            case "exit":
                return Message("user", "note", content, raw, count_marks(fields))
            case "user" if awaits_text_result(history) and "interrupt_type" not in _extra(fields):
                result = ToolResult("", content, _status(fields), raw)
                return Message("user", "observation", (result,), raw, count_marks(fields))
            case "assistant" if not fields.get("tool_calls"):
                message = super().parse(raw, history)
                calls = (ToolCall("", "bash", {"command": command}) for command in _commands(fields))
                return replace(message, parts=(*message.parts, *calls))
        message = super().parse(raw, history)
        return replace(message, parts=tuple(_with_status(part, fields) for part in message.parts))

    def build(self, message: Message) -> list[Any]:
        """Make messages: one for each result, and one for the rest; a call without an id is written as text."""
        results = [part for part in message.parts if isinstance(part, ToolResult)]
        rest = [part for part in message.parts if not isinstance(part, ToolResult)]
        built = [_result(part) for part in results]
        return [*built, *super().build(replace(message, parts=_fenced(rest)))] if rest or not built else built


def _extra(fields: Mapping[str, Any]) -> Mapping[str, Any]:
    extra = fields.get("extra")
    return extra if isinstance(extra, Mapping) else {}


def _is_fenced(fields: Mapping[str, Any]) -> bool:
    content = fields.get("content")
    return fields.get("role") == "assistant" and isinstance(content, str) and _FENCE in content


def _commands(fields: Mapping[str, Any]) -> list[str]:
    """Return the commands that the agent ran for an assistant message without tool calls."""
    actions = _extra(fields).get("actions")
    if isinstance(actions, list):
        return [text_or_empty(action.get("command")) for action in actions if isinstance(action, Mapping)]
    return _in_text(parse_content(fields.get("content")))


def _in_text(parts: Sequence[Part]) -> list[str]:
    text = "\n".join(part.text for part in parts if isinstance(part, Text))
    for pattern in _COMMANDS:
        if found := pattern.findall(text):
            return [found[0].strip()] if len(found) == 1 else []
    return []


def _with_status(part: Part, fields: Mapping[str, Any]) -> Part:
    return replace(part, status=_status(fields)) if isinstance(part, ToolResult) else part


def _status(fields: Mapping[str, Any]) -> Literal["ok", "error"] | None:
    extra = _extra(fields)
    code = extra.get("returncode")
    if extra.get("exception_info"):
        return "error"
    return ("error" if code else "ok") if isinstance(code, int) else None


def _result(part: ToolResult) -> Any:
    if part.raw is not None or part.call_id:
        return result_message(part)
    return {"role": "user", "content": encode_content(part.content, None)}


def _fenced(parts: Sequence[Part]) -> tuple[Part, ...]:
    """Write a call without an id into the text, where it does not stand there already."""
    calls = [part for part in parts if isinstance(part, ToolCall)]
    command = calls[0].arguments.get("command") if len(calls) == 1 and isinstance(calls[0].arguments, Mapping) else None
    if not isinstance(command, str) or calls[0].id or calls[0].name != "bash":
        return tuple(parts)
    others = [part for part in parts if not isinstance(part, ToolCall | Text)]
    texts = [part.text for part in parts if isinstance(part, Text) and part.text]
    if _in_text([part for part in parts if isinstance(part, Text)]) != [command.strip()]:
        texts.append(f"```{_FENCE}\n{command}\n```")
    return (*others, Text("\n\n".join(texts)))
