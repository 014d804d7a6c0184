"""A reminder before something is taken out: once each time the run comes near a limit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from elision.edits import Edit, Insert
from elision.summaries.measuring import look, measure_of, size_of
from elision.summaries.rendering import render_summary
from elision.summaries.triggers import SummaryTriggers

if TYPE_CHECKING:
    from elision.view import View


@dataclass(frozen=True, slots=True)
class ReminderSpec:
    """When one processor reminds, and of what."""

    triggers: SummaryTriggers
    at_share: float
    what: str
    template: str = "reminder"


def reminder_edits(view: View, spec: ReminderSpec) -> list[Edit]:
    """Return the reminder behind the newest step when the run has come near a limit; once, until it is away again."""
    size, stop = size_of(view), view.moment.stop
    if size is None or not stop:
        return []
    summed, text = view.memory.summed, render_summary(spec.template, {"what": spec.what})
    if view.history.step_of[stop - 1] is None:
        # In a view that is processed again it has been said already.
        summed.reminded |= any(part.text == text for part in view.message(stop - 1).parts)
        return []
    look(view)
    if size.settled:
        return []
    near = spec.triggers.due(measure_of(view, size).early(spec.at_share))
    taken_out = len(view.overlay.dropped) + len(view.overlay.edited)
    if taken_out != summed.taken_out:
        summed.reminded, summed.taken_out = summed.reminded and near, taken_out
    if not near or summed.reminded:
        return []
    summed.reminded = True
    if view.memory.scheduler is not None:
        view.memory.scheduler.act()
    return [Insert(stop, "user", text, "note", "near a limit")]
