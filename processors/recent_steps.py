"""``recent_steps``: the first and the newest steps stay, those between are left out."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar, Literal, Self

from pydantic import NonNegativeInt, PositiveInt, model_validator

from elision import Edit, Operation, Processor, Schedule, Stage, View


class RecentSteps(Processor):
    """Leave out whole steps between the first and the newest ones.

    Cost: rewrites the cached prefix from the first newly dropped step, when its schedule comes due; with ``max_steps``
    once in ``max_steps - shrink_to`` steps.

    ```yaml
    history_processors:
      - type: recent_steps
        keep_first_steps: 1
        max_steps: 100
    ```

    Without ``max_steps``, all but the first ``keep_first_steps`` and the newest ``keep_last_steps`` go.  With it
    nothing goes until more than so many steps stand, and then so many that ``shrink_to`` are left; steps that the table
    keeps do not count.  Shape: a step goes with its calls and all their results, and nothing stands in its place; its
    ref is in the report.  Never touches what stands before the first step, the newest step, a step whose calls lack
    results, demonstrations, messages of the user between steps, and a step of which the classification table protects
    any result.  Raises nothing.  Source: OpenHands' condensers ``recent`` and ``amortized``.
    """

    stage: ClassVar[Stage] = "history"
    operation: ClassVar[Operation] = "drop"
    scheduled: ClassVar[bool] = True
    cost: ClassVar[str] = "rewrites the cached prefix when its schedule comes due"

    type: Literal["recent_steps"] = "recent_steps"
    keep_first_steps: NonNegativeInt = 1
    """First steps that stay."""
    keep_last_steps: PositiveInt = 20
    """Newest steps that stay; with ``max_steps`` those that ``shrink_to`` leaves."""
    max_steps: PositiveInt | None = None
    """Steps over which it shrinks to ``shrink_to``."""
    shrink_to: PositiveInt | None = None
    """Steps that are left then, the first ones included; half of ``max_steps`` if not given."""
    schedule: Schedule | None = None
    """When steps are dropped; as the chain says if not given, with ``max_steps`` at once."""

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if self.max_steps is None:
            if self.shrink_to is not None:
                raise ValueError("shrink_to needs max_steps; add it, or write keep_last_steps")
            return self
        if "keep_last_steps" in self.model_fields_set:
            raise ValueError("keep_last_steps and max_steps exclude each other; write shrink_to instead")
        if not self.keep_first_steps < self._left <= self.max_steps:
            raise ValueError(
                f"shrink_to ({self._left}) has to be more than keep_first_steps ({self.keep_first_steps}) and at most "
                f"max_steps ({self.max_steps})"
            )
        return self

    @property
    def own_schedule(self) -> Schedule | None:
        """With ``max_steps`` it waits by itself."""
        return "every_step" if self.schedule is None and self.max_steps is not None else self.schedule

    def plan(self, view: View) -> Iterator[Edit]:
        """Propose to drop the steps between the first and the newest."""
        if self.max_steps is None:
            keep = self.keep_last_steps
        elif view.droppable_steps > self.max_steps:
            keep = self._left - self.keep_first_steps
        else:
            return
        for step in view.older_steps(keep, keep_first=self.keep_first_steps):
            yield step.drop(reason=f"neither among the first {self.keep_first_steps} nor the newest {keep} steps")

    @property
    def _left(self) -> int:
        return self.shrink_to or (self.max_steps or 0) // 2
