"""When a summary is due: conditions on how long the run is, and how they go together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Self

from pydantic import ConfigDict, Field, PositiveInt, model_validator

from elision.options import Options

Share = Annotated[float, Field(gt=0, le=1)]


@dataclass(frozen=True, slots=True)
class Measure:
    """How long a run is at one step: tokens of its messages and of what stands beside them, messages, and steps.

    ``steps`` are those that could be left out by now, and the newest.  ``window_tokens`` is ``None`` where nobody knows
    the model's.
    """

    messages_tokens: int
    beside_tokens: int
    window_tokens: int | None
    messages: int
    steps: int

    @property
    def tokens(self) -> int:
        """Tokens of the whole request."""
        return self.messages_tokens + self.beside_tokens

    def early(self, share: float) -> Measure:
        """Return it as if so much longer that limits are reached at this share of them."""
        return Measure(
            int(self.messages_tokens / share),
            int(self.beside_tokens / share),
            self.window_tokens,
            int(self.messages / share),
            int(self.steps / share),
        )


class SummaryCondition(Options):
    """Limits of a run; it holds as soon as one of them is reached."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)

    trigger_tokens: PositiveInt | None = None
    """Tokens of the request."""
    trigger_share: Share | None = None
    """The same, as a share of the model's window."""
    history_share: Share | None = None
    """Tokens of the messages alone, as a share of the model's window."""
    window_left_share: Share | None = None
    """What is left of the model's window, as a share of it: reached when less is left."""
    trigger_messages: PositiveInt | None = None
    """Messages of the view."""
    trigger_steps: PositiveInt | None = None
    """Steps that could be left out by now, and the newest."""

    @model_validator(mode="after")
    def _says_something(self) -> Self:
        if not self.limits:
            raise ValueError(f"a condition needs a limit; add one of {', '.join(SummaryCondition.model_fields)}")
        return self

    @property
    def limits(self) -> tuple[str, ...]:
        """The limits that are given."""
        return tuple(name for name in SummaryCondition.model_fields if getattr(self, name) is not None)

    def holds(self, at: Measure) -> bool:
        """Whether one of the limits is reached."""
        return any(self._reached(name, at) for name in self.limits)

    def _reached(self, name: str, at: Measure) -> bool:
        limit, window = float(getattr(self, name)), at.window_tokens or 0
        counted = {
            "trigger_tokens": (at.tokens, limit),
            "trigger_messages": (at.messages, limit),
            "trigger_steps": (at.steps, limit),
            "trigger_share": (at.tokens, limit * window),
            "history_share": (at.messages_tokens, limit * window),
            "window_left_share": (at.tokens, (1 - limit) * window + 1),
        }
        found, wanted = counted[name]
        return found >= wanted and (window > 0 or not name.endswith("_share"))


class SummaryTriggers(SummaryCondition):
    """The limits of a processor, and conditions of which one, or all, have to hold besides."""

    any_of: tuple[SummaryCondition, ...] = ()
    """Conditions of which one is enough."""
    all_of: tuple[SummaryCondition, ...] = ()
    """Conditions that have to hold together."""

    @model_validator(mode="after")
    def _says_something(self) -> Self:
        return self

    @property
    def given(self) -> bool:
        """Whether anything is."""
        return bool(self.limits or self.any_of or self.all_of)

    def due(self, at: Measure) -> bool:
        """Whether one of its own limits is reached, or one of ``any_of``, or all of ``all_of``."""
        return (
            self.holds(at)
            or any(each.holds(at) for each in self.any_of)
            or (bool(self.all_of) and all(each.holds(at) for each in self.all_of))
        )
