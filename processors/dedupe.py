"""``dedupe``: of several equal results only the newest stays."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from typing import ClassVar, Literal

from pydantic import NonNegativeInt

from elision import (
    Edit,
    Image,
    Observation,
    Opaque,
    Operation,
    PlaceholderTemplate,
    Processor,
    Schedule,
    Stage,
    Text,
    View,
)


class Dedupe(Processor):
    """Put placeholders where results stand that a later result repeats to the character.

    Cost: rewrites the cached prefix from the oldest newly repeated result, each time the schedule comes due.

    ```yaml
    history_processors:
      - type: dedupe
        min_chars: 500
    ```

    The newest of equal results stays.  To keep the first would rewrite less of the prefix, but all else that removes
    begins with the oldest (``clear_tool_results``, ``supersede``, ``recent_steps``): the copy that stays would go next,
    and the model, which has just asked for it again, would see none.  What the rewriting costs is the schedule's to
    weigh.  Equal are results whose texts and images are the same, whatever was called.  Shape:
    ``[read_file(path="a.py"): 900 chars removed; a later result says the same; ref …]``, where the ref names that
    content.  Never touches the newest copy, the results of the newest step, shorter results, results with parts that
    nobody knows, calls, anybody's text, and what the classification table protects.  Raises nothing.  Source: our own.
    """

    stage: ClassVar[Stage] = "history"
    operation: ClassVar[Operation] = "clear"
    scheduled: ClassVar[bool] = True
    cost: ClassVar[str] = "rewrites the cached prefix when its schedule comes due"

    type: Literal["dedupe"] = "dedupe"
    min_chars: NonNegativeInt = 300
    """Characters from which on a result is compared; an image counts those of its URL."""
    placeholder: PlaceholderTemplate = "repeated"
    """Template of the placeholder, by name or inline."""
    head_chars: NonNegativeInt = 200
    """Characters of the result that a template with a head shows."""
    schedule: Schedule | None = None
    """When repeated results are replaced; as the chain says if not given."""

    @property
    def own_schedule(self) -> Schedule | None:
        """The option ``schedule``."""
        return self.schedule

    def plan(self, view: View) -> Iterator[Edit]:
        """Propose placeholders for the results of which a newer copy has come in."""
        for observation in view.newly_repeated(self._content):
            yield observation.elide(self.placeholder, head_chars=self.head_chars, reason="repeated later")

    def _content(self, observation: Observation) -> Hashable | None:
        """Return what equal results share: the texts themselves, so that nothing is copied or hashed twice."""
        pieces: list[tuple[str, str]] = []
        for piece in observation.content:
            match piece:
                case Opaque():
                    return None
                case Text(text=text):
                    pieces.append(("text", text))
                case Image(url=url):
                    pieces.append(("image", url))
        return tuple(pieces) if sum(len(said) for _, said in pieces) >= max(self.min_chars, 1) else None
