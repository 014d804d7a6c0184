"""``redact``: withhold secrets, or everything, of what tools return."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar, Literal

from elision import Content, Edit, Operation, Policy, Processor, Stage, Text, View, redact


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
            content = tuple(self._redacted(piece) for piece in observation.content)
            if content != observation.content:
                yield observation.replace(content, reason=f"policy: {self.policy}")

    def _redacted(self, piece: Content) -> Content:
        if isinstance(piece, Text):
            text = redact(piece.text, self.policy).text
            return piece if text == piece.text else Text(text, piece.raw)
        return piece if self.policy == "secrets" else Text("[withheld by policy]")
