"""What chat completions refuse, in the words of OpenAI and of those who have its interface."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from elision.profiles import Profile
from elision.testing.server.content import is_object, items, marks_in, names, unknown_keys
from elision.testing.server.refused import Body, Refusals, Refused

_TOP = names(
    "audio frequency_penalty function_call functions logit_bias logprobs max_completion_tokens max_tokens messages "
    "metadata modalities model moderation n parallel_tool_calls prediction presence_penalty prompt_cache_key "
    "prompt_cache_options prompt_cache_retention reasoning_effort response_format safety_identifier seed service_tier "
    "stop store stream stream_options temperature tool_choice tools top_logprobs top_p user verbosity "
    "web_search_options"
)
_OTHERS_TOP = names(
    "chat_template_kwargs enable_thinking extra_body min_p preserve_thinking provider reasoning reasoning_split "
    "repetition_penalty thinking thinking_budget top_k usage"
)
_MESSAGE: Mapping[str, frozenset[str]] = {
    "system": frozenset({"role", "content", "name"}),
    "developer": frozenset({"role", "content", "name"}),
    "user": frozenset({"role", "content", "name"}),
    "assistant": frozenset(
        {"role", "content", "name", "refusal", "audio", "function_call", "tool_calls", "annotations"}
    ),
    "tool": frozenset({"role", "content", "tool_call_id", "name"}),
    "function": frozenset({"role", "content", "name"}),
}
_OWN_KEYS: Mapping[str, frozenset[str]] = {
    "openai": frozenset(),
    "deepseek": frozenset({"reasoning_content", "prefix"}),
    "kimi": frozenset({"reasoning_content", "partial"}),
    "qwen": frozenset({"reasoning_content", "partial"}),
    "minimax": frozenset({"reasoning_content", "reasoning_details"}),
    "anthropic": frozenset({"reasoning_content", "reasoning_details", "thinking_blocks"}),
    "bedrock": frozenset({"reasoning_content", "reasoning_details", "thinking_blocks"}),
}
_ANY_KEYS = frozenset({"reasoning_content"})
_PARTS: Mapping[str, frozenset[str]] = {
    "text": frozenset({"type", "text"}),
    "image_url": frozenset({"type", "image_url"}),
    "input_audio": frozenset({"type", "input_audio"}),
    "video_url": frozenset({"type", "video_url"}),
    "file": frozenset({"type", "file"}),
    "refusal": frozenset({"type", "refusal"}),
}
_CALL = frozenset({"id", "type", "function", "custom", "extra_content"})
_LONGEST_ID = 40


def structure(body: Body, profile: Profile) -> Refusals:
    """Refuse what has not the form of a request."""
    for key in ("model", "messages"):
        if key not in body:
            yield _bad("form", f"Missing required parameter: '{key}'.", key, "missing_required_parameter")
    known = _TOP if profile.name == "openai" else _TOP | _OTHERS_TOP
    for key in unknown_keys(body, known):
        yield _bad("keys", f"Unknown parameter: '{key}'.", key, "unknown_parameter")
    messages = body.get("messages")
    if not isinstance(messages, list):
        yield _typed("messages", "an array of objects", messages)
    elif not messages:
        yield _empty("messages")
    for number, message in enumerate(items(messages)):
        yield from _message_form(f"messages[{number}]", message, profile)
    yield from _tools_form(body.get("tools"))


def _tools_form(tools: Any) -> Refusals:
    if tools == []:
        yield _empty("tools")
    elif not isinstance(tools, list | None):
        yield _typed("tools", "an array of objects", tools)
    for index, tool in enumerate(items(tools)):
        if not isinstance(tool, Mapping):
            yield _typed(f"tools[{index}]", "an object", tool)


def _message_form(at: str, message: Any, profile: Profile) -> Refusals:
    if not isinstance(message, Mapping):
        yield _typed(at, "an object", message)
        return
    role = message.get("role")
    if not isinstance(role, str) or role not in _MESSAGE:
        named = "'system', 'assistant', 'user', 'function', 'tool', and 'developer'"
        yield _bad("form", f"Invalid value: '{role}'. Supported values are: {named}.", f"{at}.role", "invalid_value")
        return
    marks = {"cache_control"} if profile.cache.marks == "explicit" else set()
    for key in unknown_keys(message, _MESSAGE[role] | _OWN_KEYS.get(profile.name, _ANY_KEYS) | marks):
        yield _bad("keys", f"Unknown parameter: '{at}.{key}'.", f"{at}.{key}", "unknown_parameter")
    yield from _content_form(at, message, profile)
    if "tool_calls" in message:
        yield from _calls_form(f"{at}.tool_calls", message["tool_calls"])
        if profile.name == "openai":
            yield from _ids_form(f"{at}.tool_calls", message["tool_calls"])
    if role == "tool" and not isinstance(message.get("tool_call_id"), str):
        yield _bad("pairing", f"Missing parameter 'tool_call_id' in '{at}'.", at, "missing_required_parameter")


def _content_form(at: str, message: Body, profile: Profile) -> Refusals:
    content, role = message.get("content"), message["role"]
    says_otherwise = any(message.get(key) for key in ("tool_calls", "function_call", "refusal", "audio"))
    if content is None and not (role == "assistant" and says_otherwise):
        yield _bad("blank_text", "Invalid value for 'content': expected a string, got null.", f"{at}.content")
    elif content is not None and not isinstance(content, str | list):
        yield _typed(f"{at}.content", "one of an array of objects or string", content)
    elif content == [] and not (role == "assistant" and says_otherwise):
        yield _empty(f"{at}.content", "blank_text")
    marks = {"explicit": {"cache_control"}, "both": {"prompt_cache_breakpoint"}}.get(profile.cache.marks, set[str]())
    for index, part in enumerate(items(content)):
        yield from _part_form(f"{at}.content[{index}]", part, marks)
        if profile.name == "openai" and role != "user" and isinstance(part, Mapping) and "image_url" in part:
            told = f"Image URLs are only allowed for messages with role 'user', but this message with role '{role}'"
            yield _bad("form", f"Invalid '{at}'. {told} contains an image URL.", at, "invalid_value")


def _part_form(at: str, part: Any, marks: set[str]) -> Refusals:
    kind = part.get("type") if isinstance(part, Mapping) else None
    if not isinstance(part, Mapping):
        yield _typed(at, "an object", part)
    elif not isinstance(kind, str) or kind not in _PARTS:
        named = ", ".join(f"'{each}'" for each in _PARTS)
        yield _bad("form", f"Invalid value: '{kind}'. Supported values are: {named}.", f"{at}.type", "invalid_value")
    else:
        for key in unknown_keys(part, _PARTS[kind] | marks):
            yield _bad("keys", f"Unknown parameter: '{at}.{key}'.", f"{at}.{key}", "unknown_parameter")
        if kind == "text" and not isinstance(part.get("text"), str):
            yield _typed(f"{at}.text", "a string", part.get("text"))


def _calls_form(at: str, calls: Any) -> Refusals:
    if not isinstance(calls, list):
        yield _typed(at, "an array of objects", calls)
        return
    if not calls:
        yield _empty(at)
    for index, call in enumerate(calls):
        if not isinstance(call, Mapping):
            yield _typed(f"{at}[{index}]", "an object", call)
            continue
        for key in unknown_keys(call, _CALL):
            yield _bad(
                "keys", f"Unknown parameter: '{at}[{index}].{key}'.", f"{at}[{index}].{key}", "unknown_parameter"
            )
        yield from _function_form(f"{at}[{index}]", call)


def _ids_form(at: str, calls: Any) -> Refusals:
    for index, call in enumerate(items(calls)):
        given = call.get("id") if isinstance(call, Mapping) else None
        if isinstance(given, str) and len(given) > _LONGEST_ID:
            told = f"expected a string with maximum length {_LONGEST_ID}, but got a string with length {len(given)}"
            where = f"{at}[{index}].id"
            yield _bad("ids", f"Invalid '{where}': string too long. {told} instead.", where, "string_above_max_length")


def _function_form(at: str, call: Body) -> Refusals:
    if not isinstance(call.get("id"), str):
        yield _bad("form", f"Missing required parameter: '{at}.id'.", f"{at}.id", "missing_required_parameter")
    if call.get("type") == "custom":
        return
    function = call.get("function")
    if not isinstance(function, Mapping) or not isinstance(function.get("name"), str):
        yield _bad("form", f"Missing required parameter: '{at}.function.name'.", at, "missing_required_parameter")
        return
    for key in unknown_keys(function, ("name", "arguments")):
        yield _bad("keys", f"Unknown parameter: '{at}.function.{key}'.", f"{at}.function.{key}", "unknown_parameter")
    if not is_object(function.get("arguments")):
        told = f"Invalid '{at}.function.arguments': expected a string that is a JSON object."
        yield _bad("arguments", told, f"{at}.function.arguments", "invalid_value")


def pairing(body: Body) -> Refusals:
    """Refuse calls without results right behind them, and results without calls."""
    open_calls: list[str] = []
    batch, asked = False, 0
    for number, message in enumerate(body["messages"]):
        if message["role"] == "tool":
            given = message["tool_call_id"]
            if not batch:
                told = "messages with role 'tool' must be a response to a preceeding message with 'tool_calls'."
                yield _bad("pairing", f"Invalid parameter: {told}", f"messages.[{number}].role")
            elif given not in open_calls:
                told = f"'tool_call_id' of '{given}' not found in 'tool_calls' of previous message."
                yield _bad("pairing", f"Invalid parameter: {told}", f"messages.[{number}].tool_call_id")
            else:
                open_calls.remove(given)
            continue
        if open_calls:
            yield _unanswered(asked, open_calls)
        open_calls = [call["id"] for call in message.get("tool_calls") or ()]
        for given, times in Counter(open_calls).items():
            if times > 1:
                told = f"Duplicate value for 'tool_call_id' of '{given}' in message[{number}]"
                yield _bad("pairing", f"Invalid parameter: {told}", f"messages.[{number}].tool_calls")
        batch, asked = bool(open_calls), number
    if open_calls:
        yield _unanswered(asked, open_calls)


def _unanswered(number: int, missing: Sequence[str]) -> Refused:
    told = (
        "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. "
        f"The following tool_call_ids did not have response messages: {', '.join(missing)}"
    )
    return _bad("pairing", told, f"messages.[{number}].role")


def reasoning(body: Body, profile: Profile) -> Refusals:
    """Refuse calls without the reasoning that came with them, where the provider wants it back."""
    told = _WANT_REASONING.get(profile.name)
    thinking = body.get("thinking")
    off = isinstance(thinking, Mapping) and thinking.get("type") == "disabled"
    if told is None or off or profile.thinking.rule == "none":
        return
    for number, message in enumerate(body["messages"]):
        if message.get("tool_calls") and not isinstance(message.get("reasoning_content"), str):
            yield _bad("thinking", told.format(number=number))


_WANT_REASONING = {
    "deepseek": "The `reasoning_content` in the thinking mode must be passed back to the API.",
    "kimi": "thinking is enabled but reasoning_content is missing in assistant tool call message at index {number}",
}


def breakpoints(body: Body, profile: Profile) -> Refusals:
    """Refuse more cache breakpoints than are allowed; those who set one themselves leave out the first ones."""
    found = list(_marks(body))
    most = profile.cache.breakpoints
    if profile.cache.marks == "explicit" and len(found) > most:
        told = f"A maximum of {most} blocks with cache_control may be provided. Found {len(found)}."
        yield _bad("breakpoints", told)


def _marks(body: Body) -> Iterator[Body]:
    yield from marks_in(body.get("tools") or [])
    yield from marks_in(body["messages"])


def _bad(rule: str, message: str, param: str | None = None, code: str | None = None) -> Refused:
    return Refused(rule, message, param=param, code=code)


def _typed(at: str, wanted: str, given: Any) -> Refused:
    names = {type(None): "null", str: "a string", int: "an integer", list: "an array", dict: "an object"}
    told = f"Invalid type for '{at}': expected {wanted}, but got {names.get(type(given), 'another')} instead."
    return _bad("form", told, at, "invalid_type")


def _empty(at: str, rule: str = "form") -> Refused:
    told = "empty array. Expected an array with minimum length 1, but got an empty array instead."
    return _bad(rule, f"Invalid '{at}': {told}", at, "empty_array")
