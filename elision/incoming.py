"""What comes in with one request: the messages, and what stands beside them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from elision.errors import InputError, closest, nearest
from elision.moment import OnBoundThinking, Request
from elision.parameters import HEADERS, drops_block

if TYPE_CHECKING:
    from elision.chain import Chain


def _is_auto(value: Any) -> bool:
    return bool(value == "auto")


def _drops_the_middle(value: Any) -> bool:
    return isinstance(value, list | tuple) and "middle-out" in value


_PROVIDERS_KEYS: Mapping[str, Callable[[Any], bool]] = {
    "context_management": bool,
    "truncation": _is_auto,
    "transforms": _drops_the_middle,
}
"""What asks a provider to manage the context: Anthropic's and OpenAI's key, that of Responses, that of OpenRouter."""


_BESIDE: Mapping[str, tuple[str, ...]] = {
    "messages": ("system",),
    "input": ("instructions",),
    "contents": ("systemInstruction", "system_instruction"),
}
"""Where a request has its messages, and what it then calls the system prompt beside them."""


def incoming(
    messages: Sequence[Any] | Mapping[str, Any],
    chain: Chain,
    *,
    system: Any,
    tools: Any,
    model: str | None,
    sets_params: bool = False,
) -> tuple[list[Any], Request]:
    """Return the messages of a request and what it says beside them; what it has is used before what is given.

    ``sets_params`` says that what a view asks for in ``params`` is sent.
    """
    from elision.placeholders.offered import offered_tools, recall_tool_in

    asks: list[str] = []
    given: Mapping[str, Any] = {}
    if isinstance(messages, Mapping):
        request = messages
        key = next((name for name in _BESIDE if name in request), None)
        if key is None:
            keys = list(map(str, request))
            near = closest("messages", keys)
            has = f"it has {near!r}" if near else nearest("messages", keys, what="it has") if keys else "it is empty"
            raise InputError(
                f"messages: the request has no key 'messages'; {has}; give the list as messages (or input or contents)"
            )
        _refuse_held(request)
        messages = request[key]
        if key == "input" and isinstance(messages, str):
            messages = [{"role": "user", "content": messages}]
        system = next((request[name] for name in _BESIDE[key] if name in request), system)
        tools = request.get("tools", tools)
        asked = request.get("model")
        model = model or (asked if isinstance(asked, str) else None)
        asks, given = _asks_provider(request), _given(request)
    if model is not None and not isinstance(model, str):
        raise InputError(f"model: {model!r:.80} is no name; give the model's name as a text, or leave it out")
    if isinstance(messages, str | bytes) or not isinstance(messages, list | Sequence):
        raise InputError(f"messages: a {type(messages).__name__}; give a list of messages, or one request mapping")
    _refuse_two_owners(asks, chain)
    by_default: OnBoundThinking = "request_drop_block" if sets_params or drops_block(given) else "defer"
    offered = offered_tools(tools)
    facts = Request(
        system,
        tools,
        model or chain.model,
        chain.compat,
        offered,
        recall_tool_in(offered),
        owner="provider" if asks and chain.owner == "provider" else "elision",
        on_bound_thinking=chain.on_bound_thinking or by_default,
        given=given,
    )
    # The history is long, and nobody here changes it.
    return messages if isinstance(messages, list) else list(messages), facts


def _given(request: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a request, or its ``extra_body``, has under the keys that concern what we add to it."""
    beside = request.get("extra_body")
    both = {**(beside if isinstance(beside, Mapping) else {}), **request}
    return {key: both[key] for key in ("thinking", "betas", "cache_control", HEADERS) if both.get(key) is not None}


def _refuse_two_owners(asks: Sequence[str], chain: Chain) -> None:
    """Refuse a request that asks the provider to manage the context of a chain that does so, too."""
    if asks and chain.owner is None:
        raise InputError(
            f"request: {', '.join(asks)} asks the provider to manage this context, and so does this chain; one owner "
            "is allowed; take it out of the request, or write owner: provider (then nothing is removed here) or "
            "owner: elision (then take it out before you send) in the chain"
        )


def _refuse_held(request: Mapping[str, Any]) -> None:
    """Refuse a request whose history the provider holds: what is here is only its end."""
    for name in ("previous_response_id", "conversation"):
        if request.get(name) is not None:
            raise InputError(
                f"request: by {name} the provider holds the history, of which only the end is here; send the whole "
                "history with each request, or leave this request as it is"
            )


def _asks_provider(request: Mapping[str, Any]) -> list[str]:
    """Return the keys of a request, and of its ``extra_body``, that ask the provider to manage the context."""
    beside = request.get("extra_body")
    bodies = {"": request, "extra_body.": beside if isinstance(beside, Mapping) else {}}
    return [
        f"{where}{key}"
        for where, body in bodies.items()
        for key, asks in _PROVIDERS_KEYS.items()
        if body.get(key) is not None and asks(body[key])
    ]
