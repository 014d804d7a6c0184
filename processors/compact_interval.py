"""``compact_interval``: every so many steps a summary takes their place, overlapping with the one before."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import ClassVar, Literal, Self

from pydantic import NonNegativeInt, PositiveInt, model_validator

from elision import Summarizing, SummarySpec


class CompactInterval(Summarizing):
    """Put a summary where the last ``interval_steps`` steps stood, each time so many have become old.

    Cost: rewrites the cached prefix from the first of these steps, once in ``interval_steps`` steps.

    ```yaml
    history_processors:
      - type: compact_interval
        interval_steps: 3
        overlap_steps: 1
    ```

    With 3 and 1 the summaries cover steps 1-3, 3-6, 6-9, each from the originals.  Steps that stay (see below) do not
    count.  What stands in a summary, and what happens when it is of no use, is as for `summarize`.  Never touches
    messages of the user and the system, the newest ``keep_last_steps`` steps, steps with calls that are open,
    demonstrations, and steps of which the classification table protects any result.  Source: ADK's events compaction
    (``compaction_interval`` and ``overlap_size``).
    """

    cost: ClassVar[str] = "rewrites the cached prefix once in interval_steps steps"

    type: Literal["compact_interval"] = "compact_interval"
    interval_steps: PositiveInt = 10
    """Steps that one summary stands for."""
    overlap_steps: NonNegativeInt = 1
    """Steps of the summary before that it covers once more."""
    keep_first_steps: NonNegativeInt = 0
    """First steps that stay."""
    keep_last_steps: PositiveInt = 1
    """Newest steps that stay."""

    @model_validator(mode="after")
    def _goes_on(self) -> Self:
        if self.overlap_steps >= self.interval_steps:
            raise ValueError(
                f"overlap_steps ({self.overlap_steps}) has to be fewer than interval_steps ({self.interval_steps})"
            )
        return self

    @cached_property
    def spec(self) -> SummarySpec:
        """How it summarises."""
        return replace(
            super().spec,
            interval_steps=self.interval_steps,
            overlap_steps=self.overlap_steps,
            keep_first_steps=self.keep_first_steps,
            keep_last_steps=self.keep_last_steps,
        )
