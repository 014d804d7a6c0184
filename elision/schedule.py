"""Schedules: when what has been proposed is done, all at once, because each rewrite of the cached prefix costs."""

from __future__ import annotations

from typing import Annotated, Literal, NamedTuple, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, PositiveInt

from elision.economics import Meter, polling_auto

MOST_OF_WINDOW = 0.75
"""Share of the window over which ``break_even`` waits no longer."""


class Prices(NamedTuple):
    """What reading and writing a token of the cache costs, and how long a request may be."""

    read: float
    write: float
    window_tokens: int | None


class Load(NamedTuple):
    """What a schedule decides on, at one step; tokens are those of the whole request.

    ``stale_tokens`` would be saved, ``rewritten_tokens`` would have to be written to the cache again, ``carried`` adds
    up what was stale in each request since the last round, ``kept`` are the newest steps, which stay.
    """

    steps: int
    total_tokens: int
    stale_tokens: int
    rewritten_tokens: int
    added_tokens: float
    removed_tokens: float
    carried: int
    kept: int
    spent: float
    prices: Prices


class Polling(BaseModel):
    """Every so many steps."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)

    polling: PositiveInt | Literal["auto"]
    """Steps from one round to the next; ``auto`` works out the cheapest number from prices and sizes."""

    @property
    def counts_tokens(self) -> bool:
        """Whether tokens have to be counted for it."""
        return self.polling == "auto"

    def due(self, load: Load) -> bool:
        """Whether it is time."""
        if self.polling != "auto":
            return load.steps >= self.polling
        wait = polling_auto(load.prices.write, load.prices.read, load.kept, load.added_tokens, load.removed_tokens)
        return load.steps >= wait


class Trigger(BaseModel):
    """As soon as the request is too long, if enough can be saved."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)

    trigger_tokens: PositiveInt | None = None
    """Tokens of the request from which on it is done."""
    trigger_share: Annotated[float, Field(gt=0, le=1)] | None = None
    """The same, as a share of the model's window."""
    clear_at_least_tokens: Annotated[int, Field(ge=0)] = 0
    """Nothing is done unless so many tokens can be saved."""

    @property
    def counts_tokens(self) -> bool:
        """Whether tokens have to be counted for it."""
        return True

    def due(self, load: Load) -> bool:
        """Whether it is time."""
        limits = [self.trigger_tokens] if self.trigger_tokens is not None else []
        if self.trigger_share is not None and load.prices.window_tokens is not None:
            limits.append(int(self.trigger_share * load.prices.window_tokens))
        return bool(limits) and load.total_tokens >= min(limits) and load.stale_tokens >= self.clear_at_least_tokens


Schedule: TypeAlias = Literal["break_even", "every_step"] | Polling | Trigger
"""``break_even`` waits until what is stale has cost as much as the rewrite will; ``every_step`` does not wait."""


def counts_tokens(schedule: Schedule) -> bool:
    """Whether tokens have to be counted for a schedule."""
    return schedule == "break_even" if isinstance(schedule, str) else schedule.counts_tokens


def is_due(schedule: Schedule, load: Load) -> bool:
    """Whether what has been proposed is done now."""
    if not isinstance(schedule, str):
        return schedule.due(load)
    if schedule == "every_step":
        return True
    if load.prices.window_tokens is not None and load.total_tokens > MOST_OF_WINDOW * load.prices.window_tokens:
        return True
    return Meter(load.prices.read, load.prices.write, carried=load.carried).pays(load.rewritten_tokens, load.spent)
