"""Schedules: when what has been proposed is done, all at once, because each rewrite of the cached prefix costs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal, NamedTuple, Self, TypeAlias

from pydantic import (
    BeforeValidator,
    ConfigDict,
    Field,
    PositiveInt,
    ValidationInfo,
    field_validator,
    model_validator,
)

from elision.economics import pays, polling_auto
from elision.errors import closest
from elision.options import Options

MOST_OF_WINDOW = 0.75
"""Share of the window over which ``break_even`` waits no longer, if enough can be saved."""

ENOUGH_OF_WINDOW = 0.05
"""Share of the window that is enough: where what stays fills the window, a rewrite at each step gains nothing."""

WELL_BELOW = 0.9
"""Share of a trigger under which clearing has to bring the request, else it has to pay: it would fire again at once."""

SMALL_REWRITE = 4096
"""Tokens of the cached prefix that are always written again: several models keep no prefix as short as that."""

ALL_OF_WINDOW = 0.95
"""Share of the window over which anything is enough."""


class Prices(NamedTuple):
    """What reading and writing a token of the cache costs, and how long a request may be.

    ``tiers`` are those of :class:`elision.economics.Price`.
    """

    read: float
    write: float
    window_tokens: int | None
    tiers: tuple[tuple[int, float], ...] = ()


class Load(NamedTuple):
    """What a schedule decides on, at one step; tokens are those of the whole request.

    ``steps`` are those since the first edit that waits was proposed, the newest included.  ``stale_tokens`` would be
    saved, ``rewritten_tokens`` would have to be written to the cache again, ``carried`` adds up what was stale in each
    request since then, ``kept`` are the newest steps, which stay.  ``added_tokens`` are those of a step from there on,
    ``removed_tokens`` those of a result that go.  ``cold``: the provider has nothing of the prefix any more, so that
    clearing costs nothing; ``break_even`` and ``polling: auto`` do not wait then.
    """

    steps: int
    total_tokens: int
    stale_tokens: int
    rewritten_tokens: int
    added_tokens: float
    removed_tokens: float
    carried: float
    kept: int
    spent: float
    prices: Prices
    cold: bool = False


class Polling(Options):
    """So many steps after the first edit that waits was proposed."""

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
        if load.cold:
            return True
        wait = polling_auto(load.prices.write, load.prices.read, load.kept, load.added_tokens, load.removed_tokens)
        return load.steps >= wait


class Trigger(Options):
    """As soon as the request is too long, if enough can be saved.

    Where ``clear_at_least_tokens`` does not say what is enough, that is what brings the request well below the trigger,
    or what pays as ``break_even`` has it: where what stays is too long by itself, each step would be a break.
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        use_attribute_docstrings=True,
        json_schema_extra={"anyOf": [{"required": ["trigger_tokens"]}, {"required": ["trigger_share"]}]},
    )

    trigger_tokens: PositiveInt | None = None
    """Tokens of the request from which on it is done."""
    trigger_share: Annotated[float, Field(gt=0, le=1)] | None = None
    """The same, as a share of the model's window."""
    clear_at_least_tokens: Annotated[int, Field(ge=0)] = 0
    """Nothing is done unless so many tokens can be saved."""

    @field_validator("clear_at_least_tokens")
    @classmethod
    def _can_be_saved(cls, least: int, info: ValidationInfo) -> int:
        if (trigger := info.data.get("trigger_tokens")) is not None and least > trigger:
            raise ValueError(f"clear_at_least_tokens is {least}, more than trigger_tokens ({trigger}); make it smaller")
        return least

    @model_validator(mode="after")
    def _has_a_trigger(self) -> Self:
        if self.trigger_tokens is None and self.trigger_share is None:
            raise ValueError("a schedule needs 'polling', 'trigger_tokens' or 'trigger_share'; add one of them")
        return self

    @property
    def counts_tokens(self) -> bool:
        """Whether tokens have to be counted for it."""
        return True

    def due(self, load: Load) -> bool:
        """Whether it is time."""
        limits = [self.trigger_tokens] if self.trigger_tokens is not None else []
        if self.trigger_share is not None and load.prices.window_tokens is not None:
            limits.append(int(self.trigger_share * load.prices.window_tokens))
        if not limits or load.total_tokens < min(limits):
            return False
        if self.clear_at_least_tokens:
            return load.stale_tokens >= self.clear_at_least_tokens
        helps = load.total_tokens - load.stale_tokens < WELL_BELOW * min(limits)
        return helps or load.rewritten_tokens < SMALL_REWRITE or is_due("break_even", load)


NAMES = ("break_even", "every_step")
_FORMS = "schedules are: break_even, every_step, {polling: N}, {polling: auto}, {trigger_tokens: N}, {trigger_share: S}"


def _in_one_form(given: Any) -> Any:
    """Return the schedule that is meant, or say what is wrong with it."""
    if isinstance(given, Mapping):
        triggers = [name for name in Trigger.model_fields if name in given]
        if "polling" in given and triggers:
            raise ValueError(f"a schedule has either 'polling' or '{triggers[0]}'; remove one of them")
        return (Polling if "polling" in given else Trigger).model_validate(dict(given))
    if isinstance(given, str) and given not in NAMES:
        near = closest(given, NAMES)
        told = f"did you mean {near!r}?" if near else f"{_FORMS}; correct it"
        raise ValueError(f"there is no schedule {given!r:.80}; {told}")
    if not isinstance(given, str | Polling | Trigger):
        told = "empty" if given is None else f"{given!r:.40}"
        raise ValueError(f"a schedule is a name or a mapping, this is {told}; {_FORMS}; correct it")  # noqa: TRY004 (pydantic's)
    return given


Schedule: TypeAlias = Annotated[Literal["break_even", "every_step"] | Polling | Trigger, BeforeValidator(_in_one_form)]
"""``break_even`` waits until what is stale has cost as much as the rewrite will; ``every_step`` does not wait."""


def shown(schedule: Schedule) -> str:
    """Return a schedule as YAML has it."""
    if isinstance(schedule, str):
        return schedule
    told = schedule.model_dump(exclude_defaults=True)
    return ", ".join(f"{name}: {value}" for name, value in told.items())


def counts_tokens(schedule: Schedule) -> bool:
    """Whether tokens have to be counted for a schedule."""
    return schedule == "break_even" if isinstance(schedule, str) else schedule.counts_tokens


def is_due(schedule: Schedule, load: Load) -> bool:
    """Whether what has been proposed is done now."""
    if not isinstance(schedule, str):
        return schedule.due(load)
    if schedule == "every_step" or load.cold:
        return True
    if load.prices.window_tokens is not None and _fills(load, load.prices.window_tokens):
        return True
    return pays(load.prices.read, load.prices.write, load.carried, load.rewritten_tokens, spent=load.spent)


def _fills(load: Load, window_tokens: int) -> bool:
    """Whether the window is so full that what can be saved is worth a rewrite, whatever that costs."""
    if load.total_tokens > ALL_OF_WINDOW * window_tokens:
        return True
    return load.total_tokens > MOST_OF_WINDOW * window_tokens and load.stale_tokens >= ENOUGH_OF_WINDOW * window_tokens
