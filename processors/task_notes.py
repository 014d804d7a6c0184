"""``task_notes``: one message says what has to be known to go on; it is made anew when the prefix breaks anyway."""

from __future__ import annotations

from functools import cached_property
from typing import ClassVar, Literal

from pydantic import NonNegativeInt, PositiveInt

from elision import Edit, NotesSpec, NotesTemplate, Operation, Processor, Stage, View, note_edits


class TaskNotes(Processor):
    """Keep one message of notes on the task, made from what happened, and made anew at the chain's breaks.

    Cost: none of its own; it changes only when another processor rewrites the cached prefix before it.

    ```yaml
    history_processors:
      - type: summarize
        trigger_share: 0.75
      - type: task_notes
    ```

    Shape: goal and what the user said since; skills with their versions; rules that must hold, word for word, the
    newest last; done (the receipts); written but unverified (nothing has been run since); next step; where the
    originals are.  All of it is from the history, nothing from earlier notes.  The message stands behind the newest
    step of the break, so that all before it stays cached.  Where notes that stand would have to go from before the
    break, they stay until the next one.  Never touches any other message.  Source: our own.
    """

    stage: ClassVar[Stage] = "history"
    operation: ClassVar[Operation] = "none"
    at_breaks: ClassVar[bool] = True
    cost: ClassVar[str] = "none of its own; changes when the cached prefix is rewritten anyway"

    type: Literal["task_notes"] = "task_notes"
    most_rules: PositiveInt = 30
    """Rules that are listed, the newest."""
    most_done: NonNegativeInt = 30
    """Receipts that are listed, the newest."""
    must_keep: tuple[str, ...] = ()
    """Texts that are listed among the rules in any case."""
    template: NotesTemplate = "notes"
    """Template of the notes, by name or inline."""

    @cached_property
    def spec(self) -> NotesSpec:
        """How it keeps notes."""
        return NotesSpec(self.type, self.template, self.most_rules, self.most_done, self.must_keep)

    def plan(self, view: View) -> list[Edit]:
        """Propose the notes as they are now."""
        return note_edits(view, self.spec)
