"""What Responses refuse, in OpenAI's words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from elision.profiles import Profile
from elision.testing.server.content import is_object, items, mapping, names, unknown_keys
from elision.testing.server.refused import Body, Refusals, Refused

_TOP = names(
    "background context_management conversation include input instructions max_output_tokens max_tool_calls metadata "
    "model moderation parallel_tool_calls previous_response_id prompt prompt_cache_key prompt_cache_options "
    "prompt_cache_retention reasoning safety_identifier service_tier store stream stream_options temperature text "
    "tool_choice tools top_logprobs top_p truncation user"
)
_ITEMS: Mapping[str, frozenset[str]] = {
    "message": frozenset({"type", "role", "content", "id", "status", "phase"}),
    "function_call": frozenset(
        {"type", "id", "call_id", "name", "arguments", "status", "namespace", "caller", "async"}
    ),
    "function_call_output": frozenset({"type", "id", "call_id", "output", "status", "name", "namespace", "caller"}),
    "reasoning": frozenset({"type", "id", "summary", "content", "encrypted_content", "status"}),
}
_PARTS: Mapping[str, frozenset[str]] = {
    "input_text": frozenset({"type", "text"}),
    "output_text": frozenset({"type", "text", "annotations", "logprobs"}),
    "input_image": frozenset({"type", "image_url", "file_id", "detail"}),
    "input_file": frozenset({"type", "file_id", "file_data", "file_url", "filename", "detail"}),
    "input_audio": frozenset({"type", "input_audio"}),
    "refusal": frozenset({"type", "refusal"}),
}
_CALLS = ("function_call", "custom_tool_call")
_RESULTS = ("function_call_output", "custom_tool_call_output")


def items_of(body: Body) -> Sequence[Any]:
    """Return the input as items; a bare text is a message."""
    given = body.get("input")
    return [{"role": "user", "content": given}] if isinstance(given, str) else given or []


def kind_of(item: Body) -> str:
    """Return the type of an item; a message need not say that it is one."""
    return str(item.get("type") or "message")


def structure(body: Body, profile: Profile) -> Refusals:
    """Refuse what has not the form of a request."""
    for key in ("model", "input"):
        if key not in body:
            yield _bad("form", f"Missing required parameter: '{key}'.", key, "missing_required_parameter")
    for key in unknown_keys(body, _TOP):
        yield _bad("keys", f"Unknown parameter: '{key}'.", key, "unknown_parameter")
    if body.get("previous_response_id") is not None:
        told = f"Previous response with id '{body['previous_response_id']}' not found."
        yield _bad("form", told, "previous_response_id", "previous_response_not_found")
    if not isinstance(body.get("input"), str | list):
        told = "Invalid type for 'input': expected one of an array of objects or string."
        yield _bad("form", told, "input", "invalid_type")
        return
    if not isinstance(body.get("tools"), list | None) or any(
        not isinstance(tool, Mapping) for tool in body.get("tools") or ()
    ):
        yield _bad("form", "Invalid type for 'tools': expected an array of objects.", "tools", "invalid_type")
    for number, item in enumerate(items_of(body)):
        yield from _item_form(f"input[{number}]", item, profile)


def _item_form(at: str, item: Any, profile: Profile) -> Refusals:
    if not isinstance(item, Mapping):
        yield _bad("form", f"Invalid type for '{at}': expected an object.", at, "invalid_type")
        return
    kind = kind_of(item)
    for key in unknown_keys(item, _ITEMS.get(kind, item)):
        yield _bad("keys", f"Unknown parameter: '{at}.{key}'.", f"{at}.{key}", "unknown_parameter")
    for key in {"function_call": ("call_id", "name"), "function_call_output": ("call_id",)}.get(kind, ()):
        if not isinstance(item.get(key), str) or not item[key]:
            yield _bad(
                "form", f"Missing required parameter: '{at}.{key}'.", f"{at}.{key}", "missing_required_parameter"
            )
    if kind == "function_call" and not is_object(item.get("arguments")):
        told = f"Invalid '{at}.arguments': expected a string that is a JSON object."
        yield _bad("arguments", told, f"{at}.arguments", "invalid_value")
    content = item.get("output" if kind == "function_call_output" else "content")
    if kind in ("message", "function_call_output"):
        yield from _content_form(at, kind, item, content, profile)


def _content_form(at: str, kind: str, item: Body, content: Any, profile: Profile) -> Refusals:
    role = item.get("role")
    if kind == "message" and role not in ("user", "assistant", "system", "developer"):
        named = "'assistant', 'system', 'developer', and 'user'"
        yield _bad("form", f"Invalid value: '{role}'. Supported values are: {named}.", f"{at}.role", "invalid_value")
    if not isinstance(content, str | list):
        told = f"Invalid type for '{at}.content': expected one of an array of objects or string."
        yield _bad("blank_text", told, f"{at}.content", "invalid_type")
    marks = {"prompt_cache_breakpoint"} if profile.cache.marks == "both" else set()
    for index, part in enumerate(items(content)):
        where = f"{at}.content[{index}]"
        type_ = str(mapping(part).get("type"))
        known = _PARTS.get(type_)
        if known is None or type_ == ("input_text" if role == "assistant" else "output_text"):
            yield _bad("form", f"Invalid value: '{type_}'.", f"{where}.type", "invalid_value")
            return
        for key in unknown_keys(part, known | marks):
            yield _bad("keys", f"Unknown parameter: '{where}.{key}'.", f"{where}.{key}", "unknown_parameter")


def pairing(body: Body) -> Refusals:
    """Refuse calls without results behind them, and results without calls before them."""
    waiting: list[str] = []
    for item in items_of(body):
        if kind_of(item) in _CALLS:
            waiting.append(str(item.get("call_id")))
        elif kind_of(item) in _RESULTS:
            given = str(item.get("call_id"))
            if given not in waiting:
                told = f"No tool call found for function call output with call_id {given}."
                yield _bad("pairing", told, "input")
            else:
                waiting.remove(given)
    for call_id in waiting:
        yield _bad("pairing", f"No tool output found for function call {call_id}.", "input")


def reasoning(body: Body, issued: Mapping[str, str], of_item: Mapping[str, str]) -> Refusals:
    """Refuse reasoning that was changed, that stands alone, or that is missing before its item."""
    items = items_of(body)
    present = {str(item.get("id")) for item in items if kind_of(item) == "reasoning"}
    for number, item in enumerate(items):
        if kind_of(item) == "reasoning":
            yield from _reasoning_item(item, items[number + 1 :], issued)
        elif (wanted := of_item.get(str(item.get("id")))) is not None and wanted not in present:
            told = f"was provided without its required 'reasoning' item: '{wanted}'."
            yield _bad("thinking", f"Item '{item['id']}' of type '{kind_of(item)}' {told}", "input")


def _reasoning_item(item: Body, rest: Sequence[Body], issued: Mapping[str, str]) -> Refusals:
    given, known = item.get("encrypted_content"), str(item.get("id"))
    if given is not None and given not in issued.values():
        told = f"The encrypted content {str(given)[:4]}... could not be verified. Reason: it could not be decrypted."
        yield _bad("thinking", told, None, "invalid_encrypted_content")
    elif given is None and known not in issued:
        yield Refused("thinking", f"Item with id '{known}' not found.", 404, "input")
    follows = next((each for each in rest if kind_of(each) != "reasoning"), None)
    if follows is None or kind_of(follows) in _RESULTS or follows.get("role") in ("user", "system", "developer"):
        told = "was provided without its required following item."
        yield _bad("thinking", f"Item '{known}' of type 'reasoning' {told}", "input")


def _bad(rule: str, message: str, param: str | None, code: str | None = None) -> Refused:
    return Refused(rule, message, param=param, code=code)
