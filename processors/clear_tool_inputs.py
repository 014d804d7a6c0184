"""``clear_tool_inputs``: long values in the arguments of old calls become pointers when that pays."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar, Literal

from pydantic import NonNegativeInt, PositiveInt, ValidationInfo, field_validator

from elision import (
    Edit,
    Observation,
    Operation,
    Processor,
    Role,
    Schedule,
    Stage,
    ToolNames,
    View,
    may_touch,
    require_a_tool,
)


class ClearToolInputs(Processor):
    """Put pointers where long values stand in the arguments of old calls, when its schedule comes due.

    Cost: rewrites the cached prefix from the oldest newly cleared call, each time the schedule comes due.

    ```yaml
    history_processors:
      - type: clear_tool_inputs
        keep: 3
        threshold_chars: 500
    ```

    What an agent writes (a file, a patch, a query) stays in its call for the rest of the run, though the file has it.
    Each text in the arguments that has more than ``threshold_chars`` characters, at whatever depth, becomes ``[5231
    chars removed; recall …]``, from where the arguments come back whole, as JSON; names of arguments, short values and
    the form of nested ones stay, so they are valid JSON as before.  Never touches the calls of the newest step, the
    newest ``keep`` calls, those of ``keep_steps`` steps, calls that are written as text, calls that the provider has
    signed (Gemini's thought signatures), results, anybody's text, and what the classification table protects in the
    column ``clear_inputs``.  Source: Anthropic's context editing (``clear_tool_inputs`` of
    ``clear_tool_uses_20250919``), and deepagents, which cuts the arguments of writes.
    """

    stage: ClassVar[Stage] = "history"
    operation: ClassVar[Operation] = "clear_inputs"
    touches: ClassVar[frozenset[Role]] = frozenset({"assistant"})
    scheduled: ClassVar[bool] = True
    cost: ClassVar[str] = "rewrites the cached prefix when its schedule comes due"

    type: Literal["clear_tool_inputs"] = "clear_tool_inputs"
    keep: NonNegativeInt = 3
    """Newest calls that stay, of those that the options let go."""
    keep_steps: NonNegativeInt = 0
    """Newest steps whose calls stay."""
    threshold_chars: PositiveInt = 500
    """Characters over which a value is cleared."""
    exclude_tools: ToolNames = frozenset()
    """Tools whose calls are never cleared; they do not count for ``keep``."""
    include_tools: ToolNames | None = None
    """The only tools whose calls are cleared; all if not given."""
    schedule: Schedule | None = None
    """When calls are cleared; as the chain says if not given."""

    @field_validator("include_tools")
    @classmethod
    def _leaves_a_tool(cls, include: frozenset[str] | None, info: ValidationInfo) -> frozenset[str] | None:
        if include:
            require_a_tool(include, info.data.get("exclude_tools", frozenset()))
        return include

    @property
    def own_schedule(self) -> Schedule | None:
        """What ``schedule`` says."""
        return self.schedule

    def plan(self, view: View) -> Iterator[Edit]:
        """Propose pointers for the long values of the calls that have become old."""
        for call in view.older_calls(self.keep, keep_steps=self.keep_steps, only=self._may_go):
            yield call.elide(self.threshold_chars, reason="old")

    def _may_go(self, observation: Observation) -> bool:
        return may_touch(observation.call, self.include_tools, self.exclude_tools)
