"""``budget``: a request that is too long is reduced until it fits, just before it is sent."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Annotated, ClassVar, Literal

from pydantic import Field, NonNegativeInt, PositiveInt

from elision import Edit, Operation, Processor, Role, Stage, View, fitting_edits

_FACTOR_STEPS = 20
"""Steps in which what the provider counts over what we count is taken into account."""
_RESERVE_TOKENS = 8000


class Budget(Processor):
    """Reduce a request that is too long for the window until it fits, just before it is sent.

    Cost: rewrites the cached prefix each time that the run has come to the limit again; let other processors clear
    before that.

    ```yaml
    history_processors:
      - type: budget
        reserve_tokens: 8000
    ```

    In this order: results of old steps become placeholders, first those that can be had again, and of these the largest
    (where no tool brings one back, it is cut to head and tail); long values in the arguments of old calls become
    pointers; new results over a quarter of the limit are cut to head and tail; the oldest closed steps go, with one
    note that says how many; results of the newest step, then texts of the user and of the assistant, are cut, all to
    the same length.  What is old goes until four fifths of the limit are left, so that the next requests fit and extend
    this one; what is new is cut no more than is needed.  It asks no model, looks at nothing while the request fits, and
    keeps nothing: it goes through the requests that there have been.  Without ``max_tokens`` it does nothing for a
    model of which no window is known.  Where all that is not enough, it raises :class:`elision.OverBudgetError`, which
    names what is too long.  Never touches the system prompt, tools, demonstrations, thinking, the calls of the newest
    step, and what the classification table protects in the column ``budget`` (``clear_inputs`` for arguments, ``drop``
    besides for steps).  Source: Cline's last pass, which needs no model, and deepagents' reserve for the answer.
    """

    stage: ClassVar[Stage] = "request"
    operation: ClassVar[Operation] = "budget"
    touches: ClassVar[frozenset[Role]] = frozenset({"user", "assistant"})
    weighs: ClassVar[bool] = True
    cost: ClassVar[str] = "rewrites the cached prefix each time that the run comes to the limit"

    type: Literal["budget"] = "budget"
    max_tokens: PositiveInt | None = None
    """Most tokens of a request; those of the model's window, less ``reserve_tokens``, if not given."""
    reserve_tokens: NonNegativeInt | None = None
    """Tokens of the window left for the answer, at most half of it; if not given 8,000, at most a tenth of it."""
    margin_share: Annotated[float, Field(ge=0, lt=1)] = 0.05
    """Share of the limit that stays free, because no count is exact for every model."""

    def plan(self, view: View) -> Sequence[Edit]:
        """Propose what makes the request fit."""
        if view.size is None or not self._is_known(view):
            return []
        return fitting_edits(view, view.size, self.limit(view))

    def _is_known(self, view: View) -> bool:
        """Whether the limit is given, or the model's window is known; one that is assumed is no reason to remove."""
        return self.max_tokens is not None or not view.profile.sources["window.input_tokens"].startswith("default")

    def limit(self, view: View) -> int:
        """Return the most tokens that the request may have, as we count them."""
        window = view.profile.window.input_tokens
        reserve = min(_RESERVE_TOKENS, window // 10) if self.reserve_tokens is None else self.reserve_tokens
        most = self.max_tokens or max(window // 2, window - reserve)
        # A limit that moved a little with each answer would move all earlier cuts.
        factor = math.ceil(round(view.size.factor * _FACTOR_STEPS, 6)) / _FACTOR_STEPS if view.size else 1.0
        return max(1, int(most * (1 - self.margin_share) / factor))
