"""``default``: send the history as it is."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar, Literal

from elision import Edit, Processor, Stage, View


class Default(Processor):
    """Send the history as it is.

    Cost: none.

    ```yaml
    history_processors:
      - type: default
    ```

    Never touches anything.  Source: SWE-agent's processor of the same name.
    """

    stage: ClassVar[Stage] = "entry"
    cost: ClassVar[str] = "none"

    type: Literal["default"] = "default"

    def plan(self, view: View) -> Iterable[Edit]:  # noqa: ARG002 (part of the contract)
        """Propose nothing."""
        return ()
