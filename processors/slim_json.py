"""``slim_json``: long lists of records become a count, the first ones in brief, and a handle."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, ClassVar, Literal, Self

from pydantic import Field, NonNegativeInt, PositiveInt, model_validator

from elision import (
    Edit,
    Observation,
    Operation,
    Processor,
    Slimming,
    Stage,
    ToolNames,
    View,
    may_touch,
    require_a_tool,
    slim_content,
)


class SlimJson(Processor):
    """Show of a long list of records in JSON how many there are, the first ones in brief, and how each is had.

    Cost: none; a result is changed before it is first sent.

    ```yaml
    history_processors:
      - type: slim_json
        threshold_tokens: 2000
        records: 5
        fields: [id, title, user.login]
    ```

    The records are the result's longest list, at the top or under names, or objects in a row, as lines of JSON are.
    Shape, in JSON: ``{"slim": {"total": 812, "shown": 5, "at": "data.items", "way_back": "recall 3f9a1c0b77de with
    record=N, N from 1 to 812, or records=A:B"}, "beside": {…}, "records": […]}``; of lines the first says it.  Records
    without any of the ``fields`` are shown with all of theirs.  Numbers stay as they are written.  Where that is over
    the threshold still, values become shorter, then records fewer.  Never touches text that is not JSON, JSON that
    could not be written again as it was (names that occur twice, NaN) or has more than 16 million characters, images,
    calls, anybody's text, and what the classification table protects.  Source: paged APIs: a total, a page, and a key.
    """

    stage: ClassVar[Stage] = "entry"
    operation: ClassVar[Operation] = "slim"
    cost: ClassVar[str] = "none; results are changed when they come in"

    type: Literal["slim_json"] = "slim_json"
    threshold_tokens: PositiveInt | None = 2000
    """Tokens of a result over which it is slimmed."""
    threshold_chars: PositiveInt | None = None
    """The same in characters; where both are given, either will do."""
    records: NonNegativeInt = 5
    """Records that are shown."""
    fields: tuple[Annotated[str, Field(min_length=1)], ...] = ()
    """Fields that are shown of each, with dots between names (``user.login``); all if not given."""
    value_chars: PositiveInt = 200
    """Characters that are shown of a text in them."""
    exclude_tools: ToolNames = frozenset()
    """Tools whose results are never slimmed."""
    include_tools: ToolNames | None = None
    """The only tools whose results are slimmed; all if not given."""

    @model_validator(mode="after")
    def _may_act(self) -> Self:
        if self.threshold_tokens is None and self.threshold_chars is None:
            raise ValueError(
                "threshold_tokens and threshold_chars: neither is given, so nothing is ever slimmed; give one"
            )
        require_a_tool(self.include_tools, self.exclude_tools)
        return self

    def plan(self, view: View) -> Iterator[Edit]:
        """Propose briefs of the lists in long results."""
        for observation in view.observations:
            if observation.is_result and not observation.elided and self._may_be_slimmed(observation):
                content = slim_content(
                    observation.content,
                    self._how,
                    way_back=lambda found=observation: found.way_back,  # type: ignore[misc]
                    model=view.model,
                )
                if content is not None:
                    yield observation.replace(content, reason="long list")

    @property
    def _how(self) -> Slimming:
        return Slimming(
            threshold_tokens=self.threshold_tokens,
            threshold_chars=self.threshold_chars,
            records=self.records,
            fields=self.fields,
            value_chars=self.value_chars,
        )

    def _may_be_slimmed(self, observation: Observation) -> bool:
        return may_touch(observation.call, self.include_tools, self.exclude_tools)
