"""How one processor summarises."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from elision.summaries.asking import Asked
from elision.summaries.triggers import SummaryTriggers


@dataclass(frozen=True, slots=True)
class SummarySpec:
    """How one processor summarises."""

    name: str
    triggers: SummaryTriggers
    keep_first_steps: int = 1
    keep_last_steps: int = 1
    keep_last_tokens: int | None = None
    shrink_to_share: float | None = None
    interval_steps: int | None = None
    overlap_steps: int = 0
    max_tokens: int = 2000
    max_total_tokens: int = 8000
    clear_at_least_tokens: int = 0
    must_keep: Sequence[str] = ()
    carry_files: int = 0
    template: str = "summary"
    prompt: str = "prompt"
    asked: Asked | None = None
    max_input_tokens: int = 30_000
    probe: Asked | None = None
    background: bool = False
