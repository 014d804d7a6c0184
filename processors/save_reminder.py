"""``save_reminder``: before something is taken out, the model is told once to write down what it needs."""

from __future__ import annotations

from functools import cached_property
from typing import Annotated, ClassVar, Literal, Self

from pydantic import Field, PositiveInt, model_validator

from elision import (
    Edit,
    Operation,
    Processor,
    ReminderSpec,
    ReminderTemplate,
    Stage,
    SummaryCondition,
    SummaryTriggers,
    View,
    reminder_edits,
)


class SaveReminder(Processor):
    """Tell the model once, a little before a clear or a summary, what will go, and to write down what it needs.

    Cost: none; the message comes behind the newest step, and stays there.

    ```yaml
    history_processors:
      - type: summarize
        trigger_share: 0.75
      - type: save_reminder
        trigger_share: 0.75
        at_share: 0.85
    ```

    Give it the limits of the processor that it warns of: it acts when the run has come to ``at_share`` of one of them,
    and again only after the run has been shorter than that.  Shape: one message as the user's, which says that the
    user has not said it.  Never touches any other message.  Source: our own.
    """

    stage: ClassVar[Stage] = "history"
    operation: ClassVar[Operation] = "none"
    weighs: ClassVar[bool] = True
    after: ClassVar[tuple[str, ...]] = ("summarize", "compact_interval")
    order_reason: ClassVar[str] = "a reminder that comes with the summary comes too late"
    cost: ClassVar[str] = "none; adds a message behind the newest step"

    type: Literal["save_reminder"] = "save_reminder"
    at_share: Annotated[float, Field(gt=0, le=1)] = 0.85
    """Share of the limits at which it reminds."""
    trigger_tokens: PositiveInt | None = None
    """Tokens of the request at which something is taken out."""
    trigger_share: Annotated[float, Field(gt=0, le=1)] | None = None
    """The same, as a share of the model's window; 0.75 where no other limit is given."""
    history_share: Annotated[float, Field(gt=0, le=1)] | None = None
    """Tokens of the messages alone, as a share of the model's window."""
    window_left_share: Annotated[float, Field(gt=0, le=1)] | None = None
    """Share of the model's window that is left then."""
    trigger_messages: PositiveInt | None = None
    """Messages of the view."""
    trigger_steps: PositiveInt | None = None
    """Steps: those that could go, and the newest."""
    any_of: tuple[SummaryCondition, ...] = ()
    """Conditions, each with limits such as these, of which one is enough."""
    all_of: tuple[SummaryCondition, ...] = ()
    """Conditions that have to hold together."""
    what: str = "results and steps that are not the newest"
    """What is taken out, as the model is told."""
    template: ReminderTemplate = "reminder"
    """Template of the message, by name or inline."""

    @model_validator(mode="after")
    def _says_what(self) -> Self:
        if not self.what.strip():
            raise ValueError("what is empty; say what is taken out")
        return self

    @cached_property
    def spec(self) -> ReminderSpec:
        """When it reminds, and of what."""
        triggers = SummaryTriggers(**{name: getattr(self, name) for name in SummaryTriggers.model_fields})
        triggers = triggers if triggers.given else SummaryTriggers(trigger_share=0.75)
        return ReminderSpec(triggers, self.at_share, self.what, self.template)

    def plan(self, view: View) -> list[Edit]:
        """Propose the reminder when the run has come near a limit."""
        return reminder_edits(view, self.spec)
