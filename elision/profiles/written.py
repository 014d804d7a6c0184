"""The sections of a profile as they are written in YAML: every key may be left out."""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StrictBool,
    StrictStr,
    model_validator,
)

from elision.errors import nearest
from elision.profiles.values import ImageRule, Marks, Match, ThinkingRule

Price: TypeAlias = Annotated[float, Field(strict=True, gt=0, le=1_000_000, allow_inf_nan=False)]
ReadPrice: TypeAlias = Annotated[float, Field(strict=True, ge=0, le=1_000_000, allow_inf_nan=False)]
Factor: TypeAlias = Annotated[float, Field(strict=True, gt=0, le=100, allow_inf_nan=False)]
Count: TypeAlias = Annotated[int, Field(strict=True, ge=1, le=1_000_000_000)]
CountOrNone: TypeAlias = Annotated[int, Field(strict=True, ge=0, le=1_000_000_000)]


def _is_dialect(name: str) -> str:
    from elision.registry import plugins

    known = [dialect.name for dialect in plugins().dialects()]
    if name not in known:
        raise ValueError(f"there is no dialect {name!r:.80}; {nearest(name, known, what='dialects')}; correct it")
    return name


DialectNames: TypeAlias = Annotated[list[Annotated[StrictStr, AfterValidator(_is_dialect)]], Field(max_length=20)]


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    source: StrictStr | None = None
    """Where the values are from, and when; one that begins with ``assumed`` makes them assumptions."""


class WrittenThinking(_Section):
    """``thinking:``."""

    rule: ThinkingRule | None = None


class WrittenOrder(_Section):
    """``order:``."""

    first_user: StrictBool | None = None
    alternate: StrictBool | None = None
    results_together: StrictBool | None = None
    unique_call_ids: StrictBool | None = None


class WrittenTtl(BaseModel):
    """One item of ``cache.ttl``."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    seconds: Count
    write_factor: Annotated[Factor, Field(ge=1)] = 1.0


class WrittenCache(_Section):
    """``cache:``."""

    marks: Marks | None = None
    breakpoints: CountOrNone | None = None
    lookback_blocks: Count | None = None
    lookback_breakpoints: Count | None = None
    match: Match | None = None
    unit_tokens: Count | None = None
    min_tokens: CountOrNone | None = None
    ttl: Annotated[list[WrittenTtl], Field(min_length=1, max_length=10)] | None = None

    @model_validator(mode="after")
    def _can_be(self) -> WrittenCache:
        if self.marks == "explicit" and self.breakpoints == 0:
            raise ValueError("marks is 'explicit' with 0 breakpoints, so nothing could be cached; allow at least 1")
        seconds = [ttl.seconds for ttl in self.ttl or ()]
        if seconds != sorted(set(seconds)):
            raise ValueError("ttl must go from the shortest to the longest; put them in order")
        return self


class WrittenWindow(_Section):
    """``window:``."""

    input_tokens: Count | None = None
    output_tokens: Count | None = None


class WrittenImages(_Section):
    """``images:``."""

    rule: ImageRule | None = None
    unknown_size_tokens: CountOrNone | None = None
    max_images: CountOrNone | None = None
    max_bytes: Count | None = None
    max_edge: Count | None = None
    many: Count | None = None
    many_edge: Count | None = None
    pixels_per_token: Count | None = None
    max_tokens: Count | None = None
    base_tokens: CountOrNone | None = None
    tile_tokens: CountOrNone | None = None
    tile_pixels: Count | None = None
    least_tile_pixels: Count | None = None
    whole_edge: Count | None = None
    patch_pixels: Count | None = None
    patch_tokens: Factor | None = None
    max_patches: Count | None = None


class WrittenTokens(_Section):
    """``tokens:``."""

    encoding: Literal["o200k_base", "cl100k_base", "p50k_base"] | None = None
    factor: Factor | None = None


class WrittenNative(_Section):
    """``native:``: the dialects in which a request can ask for each."""

    clear_tool_uses: DialectNames | None = None
    clear_thinking: DialectNames | None = None
    compact: DialectNames | None = None


class _Rates(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    input: Price | None = None
    cache_read: ReadPrice | None = None
    cache_write: Price | None = None
    cache_write_1h: Price | None = None
    output: ReadPrice | None = None

    @model_validator(mode="after")
    def _can_be(self) -> _Rates:
        if self.input is not None and self.cache_read is not None and self.cache_read > self.input:
            raise ValueError(
                f"cache_read is {self.cache_read:g} and input {self.input:g}: "
                "a cache read never costs more; correct one"
            )
        if self.input is not None and self.cache_write is not None and self.cache_write < self.input:
            raise ValueError(
                f"cache_write is {self.cache_write:g} and input {self.input:g}: what is not in the cache costs at "
                "least the input; leave cache_write out for the price of input"
            )
        return self


class WrittenTier(_Rates):
    """One item of ``prices.tiers``."""

    above_tokens: Count
    input: Price


class WrittenPrices(_Rates):
    """``prices:``, in dollars for a million tokens."""

    source: StrictStr | None = None
    tiers: Annotated[list[WrittenTier], Field(max_length=20)] | None = None

    @model_validator(mode="after")
    def _in_order(self) -> WrittenPrices:
        starts = [tier.above_tokens for tier in self.tiers or ()]
        if starts != sorted(set(starts)):
            raise ValueError("tiers must go from the lowest 'above_tokens' to the highest; put them in order")
        return self


SECTIONS: dict[str, type[BaseModel]] = {
    "thinking": WrittenThinking,
    "order": WrittenOrder,
    "cache": WrittenCache,
    "window": WrittenWindow,
    "images": WrittenImages,
    "tokens": WrittenTokens,
    "native": WrittenNative,
    "prices": WrittenPrices,
}


def _as_list(value: object) -> object:
    return [value] if isinstance(value, str) else value


class WrittenNames(BaseModel):
    """What a profile or a variant says of the models it is for."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    models: Annotated[list[StrictStr], BeforeValidator(_as_list), Field(min_length=1)] | None = None
    providers: Annotated[list[StrictStr], BeforeValidator(_as_list), Field(min_length=1)] | None = None


class WrittenHead(WrittenNames):
    """What a profile says besides its sections."""

    extends: StrictStr | None = None
    description: StrictStr = ""
    home: StrictStr = ""
