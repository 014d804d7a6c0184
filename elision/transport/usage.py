"""What a request used, under whatever names its provider reports it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

Purpose = Literal["request", "summary", "probe"]


@dataclass(frozen=True, slots=True)
class Usage:
    """The tokens of one answered request; ``input_tokens`` holds those that were read from and written to the cache.

    ``cost`` is in dollars; ``None`` where nobody knows the prices.  ``purpose`` says whether it is a request of the
    host, or one of ours beside it: for a summary, or for what a summary lacks.
    """

    model: str
    input_tokens: int
    cached_tokens: int = 0
    written_tokens: int = 0
    output_tokens: int = 0
    cost: float | None = None
    purpose: Purpose = "request"


_CACHED = (
    "prompt_tokens_details.cached_tokens",
    "input_tokens_details.cached_tokens",
    "cache_read_input_tokens",
    "cacheReadInputTokens",
    "cachedContentTokenCount",
    "cached_content_token_count",
    "prompt_cache_hit_tokens",
    "cached_tokens",
)
_WRITTEN = (
    "prompt_tokens_details.cache_creation_tokens",
    "prompt_tokens_details.cache_write_tokens",
    "input_tokens_details.cache_write_tokens",
    "cache_creation_input_tokens",
    "cacheWriteInputTokens",
)
_WHOLE = ("prompt_tokens", "promptTokenCount", "prompt_token_count")
"""Names of the input with what is cached in it."""
_INPUT = ("input_tokens", "inputTokens")
_OUTPUT = ("completion_tokens", "output_tokens", "outputTokens", "candidatesTokenCount", "candidates_token_count")
_BESIDE = ("cache_read_input_tokens", "cache_creation_input_tokens", "cacheReadInputTokens", "cacheWriteInputTokens")
"""Names that say that the input beside them is without what is cached (Anthropic, Bedrock)."""


def usage_of(response: Any, model: str) -> Usage | None:
    """Return what a response says that its request used; ``None`` where it does not say."""
    told = _usage_in(response)
    if told is None:
        return None
    cached, written = _first(told, _CACHED), _first(told, _WRITTEN)
    whole = _first(told, _WHOLE)
    if not whole:
        whole = _first(told, _INPUT)
        whole += sum(_first(told, (name,)) for name in _BESIDE)
    if not whole:
        return None
    return Usage(model, whole, cached, written, _first(told, _OUTPUT), cost_of(response))


def _usage_in(response: Any) -> Mapping[str, Any] | None:
    for name in ("usage", "usageMetadata", "usage_metadata"):
        found = response.get(name) if isinstance(response, Mapping) else getattr(response, name, None)
        if isinstance(found, Mapping):
            return found
        if callable(dump := getattr(found, "model_dump", None)):
            dumped = dump()
            return dumped if isinstance(dumped, Mapping) else None
    return None


def _first(told: Mapping[str, Any], names: tuple[str, ...]) -> int:
    """Return the first of some figures that is there and not zero; names with a dot are inside another."""
    return next(_figures(told, names), 0)


def _figures(told: Mapping[str, Any], names: tuple[str, ...]) -> Iterator[int]:
    for name in names:
        outer, _, inner = name.partition(".")
        found = told.get(outer)
        if inner:
            found = found.get(inner) if isinstance(found, Mapping) else None
        if isinstance(found, int) and not isinstance(found, bool) and found > 0:
            yield found


def cost_of(response: Any) -> float | None:
    """Return what litellm says that a response cost, in dollars."""
    hidden = getattr(response, "_hidden_params", None)
    found = hidden.get("response_cost") if isinstance(hidden, Mapping) else None
    return float(found) if isinstance(found, int | float) and not isinstance(found, bool) else None
