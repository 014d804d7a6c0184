"""``summarize``: when the run has become long, a summary takes the place of its older steps."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import Annotated, ClassVar, Literal, Self

from pydantic import Field, NonNegativeInt, PositiveInt, model_validator

from elision import Summarizing, SummaryCondition, SummarySpec, SummaryTriggers

_DEFAULT_SHARE = 0.75


class Summarize(Summarizing):
    """Put one summary, made from the originals, where older steps stood, when the run has become long.

    Cost: rewrites the cached prefix from the first step that is summed up, each time it is due.

    ```yaml
    history_processors:
      - type: summarize
        trigger_share: 0.75
        keep_first_steps: 1
        keep_last_steps: 10
    ```

    It acts when one limit is reached (``trigger_…``, ``history_share``, ``window_left_share``), one condition of
    ``any_of``, or all of ``all_of``; without any at 75 % of the model's window, and only if it frees a tenth of a limit
    in tokens.  What goes is named: for each result its call, status, exit code, the lines that tell most, hash, ref;
    what the model said; names and rules word for word.  With ``llm`` a model writes, and is asked once for the same;
    what has to be there is checked and added, and the cost is in ``session.usage``.  The model is reached as
    ``model_kwargs`` say, else as that of ``elision.completion`` where both are of one provider, else as litellm's
    environment variables say.  Where the text is empty, longer than the steps, late, or the model raises, nothing
    changes and the report says so; after two such runs it is not asked again.  Later summaries cover later steps; when
    all are too long together, one that is made anew from the originals takes their place.
    Never touches messages of the user and the system, the newest step, steps with calls that are open, demonstrations,
    and steps of which the classification table protects any result, such as receipts and skills: these stay whole.
    Source: OpenHands' condensers and deepagents' summarization, with the originals in place of previews.
    """

    cost: ClassVar[str] = "rewrites the cached prefix from the first step that is summed up, when it is due"

    type: Literal["summarize"] = "summarize"
    trigger_tokens: PositiveInt | None = None
    """Tokens of the request from which on it acts."""
    trigger_share: Annotated[float, Field(gt=0, le=1)] | None = None
    """The same, as a share of the model's window; 0.75 where no other limit is given."""
    history_share: Annotated[float, Field(gt=0, le=1)] | None = None
    """Tokens of the messages alone, as a share of the model's window."""
    window_left_share: Annotated[float, Field(gt=0, le=1)] | None = None
    """Share of the model's window; it acts when less is left."""
    trigger_messages: PositiveInt | None = None
    """Messages of the view from which on it acts."""
    trigger_steps: PositiveInt | None = None
    """Steps from which on it acts: those that could go, and the newest; a third of what stays goes at least."""
    any_of: tuple[SummaryCondition, ...] = ()
    """Conditions, each with limits such as these, of which one is enough."""
    all_of: tuple[SummaryCondition, ...] = ()
    """Conditions that have to hold together."""
    keep_first_steps: NonNegativeInt = 1
    """First steps that stay."""
    keep_last_steps: PositiveInt = 5
    """Newest steps that stay."""
    keep_last_tokens: PositiveInt | None = None
    """Tokens of the newest steps that stay, if these are more steps."""
    shrink_to_share: Annotated[float, Field(gt=0, lt=1)] | None = None
    """Share of the steps that is left, the first ones included; all that may go do if not given."""
    clear_at_least_tokens: NonNegativeInt = 0
    """Nothing is summed up unless it has so many tokens."""

    @model_validator(mode="after")
    def _can_be_reached(self) -> Self:
        if self.trigger_steps is not None and self.trigger_steps <= self.keep_first_steps + self.keep_last_steps:
            raise ValueError(
                f"trigger_steps ({self.trigger_steps}) has to be more than keep_first_steps and keep_last_steps "
                f"({self.keep_first_steps} and {self.keep_last_steps}) together, or nothing is left to sum up"
            )
        return self

    @cached_property
    def spec(self) -> SummarySpec:
        """How it summarises."""
        limits = {name: getattr(self, name) for name in SummaryTriggers.model_fields}
        triggers = SummaryTriggers(**limits)
        return replace(
            super().spec,
            triggers=triggers if triggers.given else SummaryTriggers(trigger_share=_DEFAULT_SHARE),
            keep_first_steps=self.keep_first_steps,
            keep_last_steps=self.keep_last_steps,
            keep_last_tokens=self.keep_last_tokens,
            shrink_to_share=self.shrink_to_share,
            clear_at_least_tokens=self.clear_at_least_tokens,
        )
