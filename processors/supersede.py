"""``supersede``: what was read or written again later becomes a placeholder."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar, Literal

from pydantic import NonNegativeInt

from elision import Edit, Operation, PlaceholderTemplate, Processor, Schedule, Stage, View


class Supersede(Processor):
    """Put placeholders where results stand that a later call has made stale.

    Cost: rewrites the cached prefix from the oldest newly superseded result, each time the schedule comes due.

    ```yaml
    history_processors:
      - type: supersede
        schedule: {polling: 5}
    ```

    The classification table says what a call is about (``resource`` and ``extent`` of a rule, or the call itself where
    it only asks): a result is superseded when the same has been read again, or has been written, by a call that did
    not fail.  A reading of a part supersedes that part only.  Shape: ``[read_file(path="a.py"): 900 chars removed; read
    or written again later; ref …]``.  Never touches the newest result about anything, the results of the newest step,
    calls, anybody's text, and what the table protects; without a table it does nothing.  Raises nothing.  Source: the
    table's own rules (docs/classification.md).
    """

    stage: ClassVar[Stage] = "history"
    operation: ClassVar[Operation] = "supersede"
    scheduled: ClassVar[bool] = True
    cost: ClassVar[str] = "rewrites the cached prefix when its schedule comes due"

    type: Literal["supersede"] = "supersede"
    placeholder: PlaceholderTemplate = "stale"
    """Template of the placeholder, by name or inline."""
    head_chars: NonNegativeInt = 200
    """Characters of the result that a template with a head shows."""
    schedule: Schedule | None = None
    """When stale results are replaced; as the chain says if not given."""

    @property
    def own_schedule(self) -> Schedule | None:
        """The option ``schedule``."""
        return self.schedule

    def plan(self, view: View) -> Iterator[Edit]:
        """Propose placeholders for the results that have become stale."""
        for observation in view.newly_superseded():
            yield observation.elide(self.placeholder, head_chars=self.head_chars, reason="read or written again later")
