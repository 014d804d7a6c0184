"""What a provider finds again of earlier requests, and what a request costs: pure functions over frozen values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from elision.profiles import Cache, Profile


class Prefix(NamedTuple):
    """The length of a prefix of a request, system prompt and tools included."""

    tokens: int
    blocks: int


class Reach(NamedTuple):
    """A breakpoint of a request, and the longest prefix up to it at which an earlier request left an entry."""

    breakpoint: Prefix
    entry: Prefix


@dataclass(frozen=True, slots=True)
class Standing:
    """What of earlier requests stands in this one.

    ``common`` is the longest prefix that it shares with one, ``ended`` the longest at which one ended, ``recent`` the
    longest among the latest entries; ``reaches`` has the breakpoints.
    """

    common: int = 0
    ended: int = 0
    recent: int = 0
    reaches: Sequence[Reach] = ()


def found_again(cache: Cache, standing: Standing) -> int:
    """Return the tokens of the longest prefix that the provider reads from its cache."""
    if cache.marks == "none":
        return 0
    if cache.match == "breakpoint":
        tokens = standing.recent if cache.lookback_blocks is None else _looked_back(cache.lookback_blocks, standing)
    else:
        tokens = standing.common if cache.match == "prefix" else standing.ended
    return tokens - tokens % max(1, cache.unit_tokens) if tokens >= max(1, cache.min_tokens) else 0


def _looked_back(blocks: int, standing: Standing) -> int:
    """Return the longest entry within the blocks that are looked at, of which that of the breakpoint is the first."""
    return max(
        (
            reach.entry.tokens
            for reach in standing.reaches
            if reach.breakpoint.blocks - reach.entry.blocks < max(1, blocks)
        ),
        default=0,
    )


def written(cache: Cache, total: int, last_breakpoint: int) -> int:
    """Return the tokens that stand in the cache after a request: up to its last breakpoint, or all."""
    tokens = last_breakpoint if cache.marks == "explicit" else total
    return tokens if cache.marks != "none" and tokens >= max(1, cache.min_tokens) else 0


class Bill(NamedTuple):
    """What a request is expected to cost.

    ``miss_tokens`` are neither read from the cache nor written to it.  ``dollars`` is nothing where prices are not
    known; ``relative`` is the cost in tokens at the price of input without a cache.
    """

    input_tokens: int
    read_tokens: int
    write_tokens: int
    miss_tokens: int
    dollars: float | None
    relative: float

    @property
    def hit_rate(self) -> float:
        """Share of the input that is read from the cache."""
        return self.read_tokens / self.input_tokens if self.input_tokens else 0.0


def bill(profile: Profile, total: int, read: int, stored: int, ttl_seconds: int | None = None) -> Bill:
    """Return the bill of a request of so many tokens, of which some are read, and some stand in the cache after it."""
    rates = profile.prices.at(total)
    write = max(0, stored - read)
    miss = total - read - write
    cost = read * rates.cache_read + write * profile.write_price(ttl_seconds, total) + miss * rates.input
    dollars = cost / 1_000_000 if profile.prices.known else None
    return Bill(total, read, write, miss, dollars, cost / rates.input if rates.input else 0.0)
