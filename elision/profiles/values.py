"""A profile as frozen values."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

ThinkingRule: TypeAlias = Literal["none", "newest_step", "tool_turns", "bound_to_prefix"]
Marks: TypeAlias = Literal["none", "automatic", "explicit", "both"]
Match: TypeAlias = Literal["prefix", "breakpoint", "request"]
ImageRule: TypeAlias = Literal["fixed", "area", "tiles", "crops", "patches"]


@dataclass(frozen=True, slots=True)
class Thinking:
    """Which thinking must go back unchanged."""

    rule: ThinkingRule


@dataclass(frozen=True, slots=True)
class Order:
    """How messages must follow one another."""

    first_user: bool
    alternate: bool
    results_together: bool
    unique_call_ids: bool


@dataclass(frozen=True, slots=True)
class Ttl:
    """How long a cache entry lasts without being read, and what writing it costs against the price of input."""

    seconds: int
    write_factor: float = 1.0


@dataclass(frozen=True, slots=True)
class Cache:
    """How much of an earlier request is found again.

    ``marks``: ``explicit`` caches only up to breakpoints, ``automatic`` takes none, ``both`` sets one and takes more.
    ``match``: any common ``prefix``, only up to a ``breakpoint``, or only up to the end of an earlier ``request``.
    """

    marks: Marks
    breakpoints: int
    match: Match
    unit_tokens: int
    min_tokens: int
    ttl: tuple[Ttl, ...]
    lookback_blocks: int | None = None
    lookback_breakpoints: int | None = None


@dataclass(frozen=True, slots=True)
class Window:
    """Most tokens of a request and of an answer."""

    input_tokens: int
    output_tokens: int


@dataclass(frozen=True, slots=True)
class Images:
    """Limits of images, and how many tokens one costs; no limit is ``None``.

    With more than ``many`` images in a request, none may be longer than ``many_edge`` pixels.  By ``crops`` an image of
    at most ``whole_edge`` pixels is one tile, a larger one is cut into squares of two thirds of its shorter side.
    """

    rule: ImageRule
    unknown_size_tokens: int
    max_images: int | None = None
    max_bytes: int | None = None
    max_edge: int | None = None
    many: int | None = None
    many_edge: int | None = None
    pixels_per_token: int = 750
    max_tokens: int | None = None
    base_tokens: int = 85
    tile_tokens: int = 170
    tile_pixels: int = 512
    least_tile_pixels: int = 256
    whole_edge: int = 384
    patch_pixels: int = 32
    patch_tokens: float = 1.0
    max_patches: int = 1536

    def cost(self, width: int | None = None, height: int | None = None) -> int:
        """Return the tokens of an image; those of ``unknown_size_tokens`` where its size is not known."""
        if not width or not height or min(width, height) < 0 or self.rule == "fixed":
            return self.unknown_size_tokens
        if self.rule == "area":
            tokens = math.ceil(width * height / self.pixels_per_token)
            return tokens if self.max_tokens is None else min(tokens, self.max_tokens)
        if self.rule == "patches":
            patches = math.ceil(width / self.patch_pixels) * math.ceil(height / self.patch_pixels)
            return math.ceil(min(patches, self.max_patches) * self.patch_tokens)
        if self.rule == "crops":
            edge = min(self.tile_pixels, max(self.least_tile_pixels, min(width, height) * 2 // 3))
            whole = max(width, height) <= self.whole_edge
            return self.tile_tokens * (1 if whole else math.ceil(width / edge) * math.ceil(height / edge))
        scale = min(1.0, 2048 / max(width, height))
        scale *= min(1.0, 768 / (min(width, height) * scale))
        tiles = math.ceil(width * scale / self.tile_pixels) * math.ceil(height * scale / self.tile_pixels)
        return self.base_tokens + self.tile_tokens * tiles


@dataclass(frozen=True, slots=True)
class Tokens:
    """How text is counted: a vocabulary of tiktoken, and a factor on what it gives."""

    encoding: str
    factor: float


@dataclass(frozen=True, slots=True)
class Native:
    """What the provider does with the context itself when a request asks it to: the dialects in which one can ask.

    ``clear_tool_uses`` and ``clear_thinking`` are context editing, ``compact`` is a summary of the provider's own.
    """

    clear_tool_uses: tuple[str, ...] = ()
    clear_thinking: tuple[str, ...] = ()
    compact: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Rates:
    """Prices in dollars for a million tokens; ``cache_write`` is also that of a miss, and never below ``input``."""

    input: float
    cache_read: float
    cache_write: float
    output: float
    cache_write_1h: float | None = None


@dataclass(frozen=True, slots=True)
class Tier:
    """The prices of a whole request whose input is longer than ``above_tokens``."""

    above_tokens: int
    rates: Rates


@dataclass(frozen=True, slots=True)
class Prices:
    """What a model costs; only the ratios mean something where the prices are not ``known``."""

    base: Rates
    tiers: tuple[Tier, ...] = ()
    known: bool = True

    def at(self, input_tokens: int) -> Rates:
        """Return the prices of a request with so many tokens of input."""
        found = self.base
        for tier in self.tiers:
            if input_tokens > tier.above_tokens:
                found = tier.rates
        return found

    @property
    def write_over_read(self) -> float:
        """The price of writing the cache over that of reading it, w/r; infinite where reading is free."""
        return self.base.cache_write / self.base.cache_read if self.base.cache_read else math.inf

    @property
    def read_over_input(self) -> float:
        """The price of reading the cache over that of input without a cache."""
        return self.base.cache_read / self.base.input

    @property
    def output_over_input(self) -> float:
        """The price of output over that of input."""
        return self.base.output / self.base.input

    @property
    def caches(self) -> bool:
        """Whether reading the cache costs less than sending the same again."""
        return self.base.cache_read < self.base.input


@dataclass(frozen=True, slots=True)
class Profile:
    """What a model demands and charges, what of it is assumed, and where each value is from."""

    name: str
    model: str | None
    thinking: Thinking
    order: Order
    cache: Cache
    window: Window
    images: Images
    tokens: Tokens
    prices: Prices
    native: Native = Native()
    assumed: tuple[str, ...] = ()
    sources: Mapping[str, str] = field(default_factory=dict, hash=False)

    def write_price(self, ttl_seconds: int | None = None, input_tokens: int = 0) -> float:
        """Return the price of a cache write that lasts at least so long, in a request of so many tokens."""
        rates = self.prices.at(input_tokens)
        shortest = self.cache.ttl[0]
        if ttl_seconds is None or ttl_seconds <= shortest.seconds:
            return rates.cache_write
        if ttl_seconds <= HOUR and rates.cache_write_1h is not None:
            return rates.cache_write_1h
        fits = [ttl for ttl in self.cache.ttl if ttl.seconds >= ttl_seconds] or [self.cache.ttl[-1]]
        return max(rates.cache_write, rates.input * fits[0].write_factor)


HOUR = 3600
