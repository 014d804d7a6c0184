"""``redact``: withhold secrets, or everything, of what tools return."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import ClassVar, Literal

from elision import Content, Edit, Operation, Policy, Processor, Stage, Text, View, first_found, redact

SLOW_SECONDS = 1.0
"""Time from which on another machine might not be in time."""

PATIENCE_SECONDS = 60.0
"""Time for a text that was once scanned so far in time."""


class Redact(Processor):
    """Withhold what the model must not see of tool results, as they come in.

    Cost: none; a result is changed before it is first sent.

    ```yaml
    history_processors:
      - type: redact
        policy: secrets
    ```

    Shape: each secret becomes ``[removed: kind]``; with ``policy: full`` a result becomes its size.  What could not be
    scanned in time is withheld, with a note; if this processor fails on a result, all of it is.  What is recalled
    later is redacted in the same way.  It works without an archive, too: then the host alone has the original.
    Never touches calls, anybody's text, or, with ``secrets``, images.  Source: the patterns of detect-secrets, and our
    own (docs/archive.md).
    """

    stage: ClassVar[Stage] = "entry"
    operation: ClassVar[Operation] = "redact"
    cost: ClassVar[str] = "none; results are changed when they come in"

    type: Literal["redact"] = "redact"
    policy: Literal["secrets", "full"] = "secrets"
    """What is withheld: secrets, or all of each result."""

    @property
    def view_policy(self) -> Policy:
        """The same holds for what is recalled."""
        return self.policy

    def plan(self, view: View) -> Iterator[Edit]:
        """Propose what is left of each new result."""
        for observation in view.observations:
            content = tuple(self._redacted(piece, view) for piece in observation.content)
            if content != observation.content:
                yield observation.replace(content, reason=f"policy: {self.policy}")

    def _redacted(self, piece: Content, view: View) -> Content:
        if isinstance(piece, Text):
            text = self._scanned(piece.text, view)
            return piece if text == piece.text else Text(text, piece.raw)
        return piece if self.policy == "secrets" else Text("[withheld by policy]")

    def _scanned(self, text: str, view: View) -> str:
        """Return what is left of a text; where time ran out once, it does so at the same place again."""
        start = time.monotonic()
        found = redact(text, self.policy)
        if not found.withheld and time.monotonic() - start < SLOW_SECONDS:
            return found.text
        scanned = len(text) - found.withheld
        first = int(first_found(view, f"redact\0{self.policy}\0{text}", str(scanned)))
        return found.text if first == scanned else redact(text, self.policy, seconds=PATIENCE_SECONDS, most=first).text
