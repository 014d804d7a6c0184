"""What a request used, and what that costs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from elision.profiles import Profile
from elision.testing.server.prefix_cache import Found


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one answered request; ``input_tokens`` is all of its input.

    ``writes`` are the tokens that were written to the cache, and for how many seconds.
    """

    model: str
    input_tokens: int
    read_tokens: int
    writes: tuple[tuple[int, int], ...]
    output_tokens: int
    reasoning_tokens: int = 0

    @property
    def write_tokens(self) -> int:
        """Tokens that were written to the cache."""
        return sum(tokens for _, tokens in self.writes)

    @property
    def miss_tokens(self) -> int:
        """Tokens that were neither read nor written."""
        return self.input_tokens - self.read_tokens - self.write_tokens

    def cost(self, profile: Profile) -> float:
        """Return the price in dollars by a profile; where its prices are not known only ratios mean something."""
        rates = profile.prices.at(self.input_tokens)
        cost = self.read_tokens * rates.cache_read + self.miss_tokens * rates.input + self.output_tokens * rates.output
        cost += sum(tokens * profile.write_price(ttl, self.input_tokens) for ttl, tokens in self.writes)
        return cost / 1_000_000


def used(model: str, total: int, found: Found, output: int, reasoning: int) -> Usage:
    """Return the usage of a request of so many tokens."""
    return Usage(model, total, found.read, found.writes, output, reasoning)


def anthropic_usage(usage: Usage) -> dict[str, Any]:
    """Return usage as Anthropic reports it: the input is what neither was read nor written."""
    hour = sum(tokens for ttl, tokens in usage.writes if ttl > 300)
    return {
        "input_tokens": usage.miss_tokens,
        "cache_creation_input_tokens": usage.write_tokens,
        "cache_read_input_tokens": usage.read_tokens,
        "cache_creation": {
            "ephemeral_5m_input_tokens": usage.write_tokens - hour,
            "ephemeral_1h_input_tokens": hour,
        },
        "output_tokens": usage.output_tokens,
        "service_tier": "standard",
    }


def responses_usage(usage: Usage, profile: Profile) -> dict[str, Any]:
    """Return usage as Responses report it."""
    return {
        "input_tokens": usage.input_tokens,
        "input_tokens_details": _input_details(usage, profile),
        "output_tokens": usage.output_tokens,
        "output_tokens_details": {"reasoning_tokens": usage.reasoning_tokens},
        "total_tokens": usage.input_tokens + usage.output_tokens,
    }


def chat_usage(usage: Usage, profile: Profile) -> dict[str, Any]:
    """Return usage as chat completions report it, under the names of the model's provider."""
    figures: dict[str, Any] = {
        "prompt_tokens": usage.input_tokens,
        "completion_tokens": usage.output_tokens,
        "total_tokens": usage.input_tokens + usage.output_tokens,
        "completion_tokens_details": {"reasoning_tokens": usage.reasoning_tokens},
    }
    if profile.name == "kimi":
        return {**figures, "cached_tokens": usage.read_tokens}
    figures["prompt_tokens_details"] = _input_details(usage, profile)
    if profile.name == "deepseek":
        missed = usage.input_tokens - usage.read_tokens
        figures |= {"prompt_cache_hit_tokens": usage.read_tokens, "prompt_cache_miss_tokens": missed}
    return figures


def _input_details(usage: Usage, profile: Profile) -> dict[str, Any]:
    details: dict[str, Any] = {"cached_tokens": usage.read_tokens}
    if profile.cache.marks == "both":
        details["cache_write_tokens"] = usage.write_tokens
    elif profile.cache.marks == "explicit":
        details |= {"cache_creation_input_tokens": usage.write_tokens, "cache_type": "ephemeral"}
    return details
