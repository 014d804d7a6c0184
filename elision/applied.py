"""What a provider says it did with the context itself, as it stands in its response."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from elision.errors import InputError

_PLACES = (
    ("context_management", "applied_edits"),
    ("provider_specific_fields", "context_management", "applied_edits"),
)
"""Where Anthropic's answer stands: in its own response, and in a message of litellm's."""

_SUMMARIES = frozenset({"compaction"})
"""Types of items and blocks that stand for what the provider has summarised."""


class ProviderEdit(NamedTuple):
    """One edit that the provider made on its side, with its numbers as it gave them."""

    type: str
    cleared_tool_uses: int = 0
    cleared_thinking_turns: int = 0
    cleared_input_tokens: int = 0
    id: str = ""


def provider_edits(response: Any) -> tuple[ProviderEdit, ...]:
    """Read what a provider did with the context from its response: a mapping, or an object of an SDK."""
    plain = _plain(response)
    if not isinstance(plain, Mapping):
        raise InputError(
            f"response: a {type(response).__name__}; give the provider's response, as a mapping or as its SDK has it"
        )
    return (*_edits(plain), *_summaries(plain))


def _edits(response: Mapping[str, Any]) -> Iterator[ProviderEdit]:
    for owner in (response, *_messages(response)):
        for place in _PLACES:
            for each in _listed(owner, place):
                if isinstance(each, Mapping):
                    yield ProviderEdit(
                        str(each.get("type", "")),
                        _count(each.get("cleared_tool_uses")),
                        _count(each.get("cleared_thinking_turns")),
                        _count(each.get("cleared_input_tokens")),
                    )


def _summaries(response: Mapping[str, Any]) -> Iterator[ProviderEdit]:
    """Yield the summaries of the provider's own: items of Responses, blocks of Anthropic."""
    for key in ("output", "content"):
        for each in _listed(response, (key,)):
            if isinstance(each, Mapping) and each.get("type") in _SUMMARIES:
                yield ProviderEdit(str(each["type"]), id=str(each.get("id") or ""))


def _messages(response: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    for choice in _listed(response, ("choices",)):
        message = choice.get("message") if isinstance(choice, Mapping) else None
        if isinstance(message, Mapping):
            yield message


def _listed(owner: Any, place: tuple[str, ...]) -> list[Any]:
    for key in place:
        owner = owner.get(key) if isinstance(owner, Mapping) else None
    return owner if isinstance(owner, list) else []


def _count(value: Any) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) else 0


def _plain(response: Any) -> Any:
    dump = getattr(response, "model_dump", None)
    return dump() if callable(dump) else response
