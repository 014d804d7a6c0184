"""``clear_tool_results``: old tool results become placeholders when that pays."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Annotated, ClassVar, Literal

from pydantic import Field, NonNegativeInt, PositiveInt

from elision import Candidate, Edit, Observation, Operation, Processor, Schedule, Stage, Trigger, View, check_template


class ClearToolResults(Processor):
    """Put placeholders where old tool results stand, the oldest first, when its schedule comes due.

    Cost: rewrites the cached prefix from the oldest newly cleared result, each time the schedule comes due.

    ```yaml
    history_processors:
      - type: clear_tool_results
        keep: 3
        schedule: break_even
    ```

    With ``trigger_tokens`` or ``trigger_share`` it acts when the request is that long, and only if
    ``clear_at_least_tokens`` can be saved; else by ``schedule``, or by that of the chain.  ``order`` says which go first
    where ``clear_at_most_tokens`` stops it: ``oldest``, ``newest``, ``largest`` (most tokens), or ``score``: tokens times
    the age in steps.  Never touches the results of the newest step, the newest ``keep`` results, those of
    ``keep_steps`` steps, calls, anybody's text, and what the classification table protects.  Source: Anthropic's
    context editing (``clear_tool_uses_20250919``) for the meaning of trigger, keep and clear_at_least.
    """

    stage: ClassVar[Stage] = "history"
    operation: ClassVar[Operation] = "clear"
    scheduled: ClassVar[bool] = True
    cost: ClassVar[str] = "rewrites the cached prefix when its schedule comes due"

    type: Literal["clear_tool_results"] = "clear_tool_results"
    keep: NonNegativeInt = 3
    """Newest results that stay, of those that the options let go."""
    keep_steps: NonNegativeInt = 0
    """Newest steps whose results stay."""
    trigger_tokens: PositiveInt | None = None
    """Tokens of the request from which on it acts."""
    trigger_share: Annotated[float, Field(gt=0, le=1)] | None = None
    """The same, as a share of the model's window."""
    clear_at_least_tokens: NonNegativeInt = 0
    """With a trigger: nothing is cleared unless so many tokens can be saved."""
    clear_at_most_tokens: PositiveInt | None = None
    """Tokens at which a round stops; the rest waits for the next one."""
    exclude_tools: frozenset[str] = frozenset()
    """Tools whose results are never cleared; they do not count for ``keep``."""
    include_tools: frozenset[str] | None = None
    """The only tools whose results are cleared; all if not given."""
    order: Literal["oldest", "newest", "largest", "score"] = "oldest"
    """Which results go first where not all do."""
    placeholder: str = "compact"
    """Template of the placeholder, by name or inline."""
    head_chars: NonNegativeInt = 200
    """Characters of the result that a template with a head shows."""
    schedule: Schedule | None = None
    """When results are cleared; as the chain says if not given."""

    def prepare(self) -> None:
        """Refuse a template that does not exist or cannot be rendered."""
        check_template(self.placeholder)

    @property
    def own_schedule(self) -> Schedule | None:
        """A trigger of its own wins over ``schedule``."""
        if self.trigger_tokens is None and self.trigger_share is None:
            return self.schedule
        return Trigger(
            trigger_tokens=self.trigger_tokens,
            trigger_share=self.trigger_share,
            clear_at_least_tokens=self.clear_at_least_tokens,
        )

    def plan(self, view: View) -> Iterator[Edit]:
        """Propose placeholders for the results that have become old."""
        for observation in view.older_observations(self.keep, keep_steps=self.keep_steps, only=self._may_go):
            yield observation.elide(self.placeholder, head_chars=self.head_chars, reason="old")

    def chosen(self, waiting: Sequence[Candidate]) -> Sequence[Candidate]:
        """Return those that go this time, in the order that the options ask for."""
        newest = max(each.step for each in waiting) + 1
        keys = {
            "oldest": lambda each: each.position,
            "newest": lambda each: -each.position,
            "largest": lambda each: -each.tokens,
            "score": lambda each: -each.tokens * (newest - each.step),
        }
        found, saved = [], 0
        for each in sorted(waiting, key=keys[self.order]):
            if self.clear_at_most_tokens is not None and saved >= self.clear_at_most_tokens:
                break
            found.append(each)
            saved += each.tokens
        return found

    def _may_go(self, observation: Observation) -> bool:
        name = observation.call.name if observation.call else ""
        return name not in self.exclude_tools and (self.include_tools is None or name in self.include_tools)
