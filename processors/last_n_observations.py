"""``last_n_observations``: elide all but the last n observations."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar, Literal

from pydantic import Field, PositiveInt

from elision import Edit, Observation, Operation, PlaceholderTemplate, Polling, Processor, Schedule, Stage, View


class LastNObservations(Processor):
    """Elide all but the last ``n`` observations; tagged ones are always kept or always removed.

    Cost: rewrites the cached prefix from the oldest newly elided observation, every ``polling`` observations.

    ```yaml
    history_processors:
      - type: last_n_observations
        n: 5
        polling: 10
    ```

    The task counts as the first observation, as in SWE-agent, and is never elided.  Once the history is long enough,
    ``n`` to ``n + polling - 1`` observations are kept; with ``polling: auto`` all but the last ``n`` go together, each
    time that enough steps have passed for it to pay.  Shape: an elided result becomes the one line that ``placeholder``
    makes; in a SWE-agent config it is ``Old environment output: (N lines omitted)``.  Never touches the results of the
    newest step (unless tagged, in a SWE-agent config), the calls, or anybody's text.  Source: SWE-agent's processor of
    the same name; docs/compatibility.md lists where it differs.
    """

    stage: ClassVar[Stage] = "history"
    operation: ClassVar[Operation] = "clear"
    after: ClassVar[tuple[str, ...]] = ("tag_tool_call_observations",)
    order_reason: ClassVar[str] = "it reads the tags"
    cost: ClassVar[str] = "rewrites the cached prefix every `polling` observations"

    type: Literal["last_n_observations"] = "last_n_observations"
    n: int = Field(gt=0)
    """Observations to keep, the task included."""
    polling: PositiveInt | Literal["auto"] = 1
    """Observations between two rounds of eliding; ``auto``: as many steps as cost least, by prices and sizes."""
    always_remove_output_for_tags: frozenset[str] = frozenset({"remove_output"})
    """Observations with one of these tags are elided even if they are among the last."""
    always_keep_output_for_tags: frozenset[str] = frozenset({"keep_output"})
    """Observations with one of these tags are never elided; this wins over removal."""

    placeholder: PlaceholderTemplate | None = None
    """Template of the placeholder, by name or inline; ``compact`` if not given, in a SWE-agent config SWE-agent's."""

    @property
    def waits(self) -> bool:
        """Whether its edits wait until a round pays."""
        return self.polling == "auto"

    @property
    def own_schedule(self) -> Schedule:
        """The rounds that cost least."""
        return Polling(polling="auto")

    def plan(self, view: View) -> Iterator[Edit]:
        """Propose placeholders for the observations that have become old, and for those tagged for removal."""
        template = self.placeholder or ("sweagent" if view.compat == "sweagent" else "compact")
        for observation in view.newly_arrived():
            if observation.tags & self.always_remove_output_for_tags and self._may_go(observation):
                yield observation.elide(template, reason="tagged for removal")
        first = 0 if view.has_task else 1
        count = view.observation_count + (1 - first)
        every = 1 if self.polling == "auto" else self.polling
        kept = count - max(0, count // every * every - self.n)
        for observation in view.older_observations(keep_last=kept):
            if observation.ordinal >= first and self._may_go(observation):
                yield observation.elide(template, reason=f"older than the last {self.n} observations")

    def _may_go(self, observation: Observation) -> bool:
        return not observation.tags & self.always_keep_output_for_tags
