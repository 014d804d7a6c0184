"""``clear_thinking``: the model's thinking of old turns is left out when that pays."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar, Literal

from pydantic import PositiveInt

from elision import Edit, Operation, Processor, Role, Schedule, Stage, View


class ClearThinking(Processor):
    """Leave out the thinking of old turns, from the oldest on, when its schedule comes due.

    Cost: rewrites the cached prefix from the oldest newly removed thinking, each time the schedule comes due.  A
    provider that leaves out old thinking by itself does not charge for it: there this saves nothing.

    ```yaml
    history_processors:
      - type: clear_thinking
        keep_turns: 1
    ```

    A turn is the steps from one user message to the next; those without thinking do not count.  An agent that works for
    a single task has one turn, and keeps all its thinking.  What goes is in the archive; nothing stands in its place,
    for thinking is the model's own, and signed.  Never touches the newest step, the thinking of the newest
    ``keep_turns`` turns, thinking that the model wants back (rule 3 of the guard, from its profile), thinking that the
    provider ties to what follows (reasoning items of Responses, signed thoughts of Gemini), thinking without which its
    message would be empty, and anybody's text.  In chat completions a message with calls keeps the key
    ``reasoning_content``, empty, since some providers refuse one without it.  Source: Anthropic's context editing
    (``clear_thinking_20251015``).
    """

    stage: ClassVar[Stage] = "history"
    operation: ClassVar[Operation] = "clear"
    touches: ClassVar[frozenset[Role]] = frozenset({"assistant"})
    scheduled: ClassVar[bool] = True
    cost: ClassVar[str] = "rewrites the cached prefix when its schedule comes due"

    type: Literal["clear_thinking"] = "clear_thinking"
    keep_turns: PositiveInt | Literal["all"] = 1
    """Newest turns with thinking that keep it; ``all``: nothing is left out."""
    schedule: Schedule | None = None
    """When thinking is left out; as the chain says if not given."""

    @property
    def own_schedule(self) -> Schedule | None:
        """What ``schedule`` says."""
        return self.schedule

    def plan(self, view: View) -> Iterator[Edit]:
        """Propose to leave out the thinking that has become old."""
        if self.keep_turns != "all":
            for thinking in view.older_thinking(self.keep_turns):
                yield thinking.remove(reason="old")
