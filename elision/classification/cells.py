"""Cells of the table: what one operation may do to results of one class."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

Condition: TypeAlias = Literal["superseded", "resolved"]

CONDITIONS: Mapping[Condition, str] = {
    "superseded": "once the same resource has been read or written later",
    "resolved": "once the same call has succeeded later",
}


@dataclass(frozen=True, slots=True)
class Facts:
    """What the engine knows of one result when an edit of it is proposed.

    ``age`` is in steps.  ``tokens`` are its own, ``newer_tokens`` those of the newer results of each class, both as
    they stand in the view.
    """

    age: int = 0
    superseded: bool = False
    resolved: bool = False
    tokens: int = 0
    newer_tokens: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell: forbidden, or allowed as soon as all its bounds are met."""

    allowed: bool = False
    after_steps: int = 0
    max_tokens: int | None = None
    when: Condition | None = None

    @property
    def bounded(self) -> bool:
        """Whether it allows under a condition only."""
        return self.allowed and (self.after_steps > 0 or self.max_tokens is not None or self.when is not None)

    def refusal(self, name: str, facts: Facts) -> str | None:
        """Say why an edit of a result of the class ``name`` is refused, or nothing where it is allowed."""
        if not self.allowed:
            return "never"
        if facts.age < self.after_steps:
            steps = "1 step" if facts.age == 1 else f"{facts.age} steps"
            return f"only after {self.after_steps} steps; this is {steps} old"
        if self.when is not None and not getattr(facts, self.when):
            return f"only {CONDITIONS[self.when]}"
        if self.max_tokens is not None:
            newer = facts.newer_tokens.get(name, 0)
            if newer <= 0 or newer + facts.tokens <= self.max_tokens:
                tokens = "1 token" if self.max_tokens == 1 else f"{self.max_tokens:,} tokens"
                return f"only the older results, where those of the class have more than {tokens}"
        return None

    def __str__(self) -> str:
        if not self.allowed:
            return "never"
        bounds = {"after_steps": self.after_steps or None, "max_tokens": self.max_tokens, "when": self.when}
        told = [f"{name}: {value}" for name, value in bounds.items() if value is not None]
        return ", ".join(told) or "allow"


ALLOW = Cell(allowed=True)
NEVER = Cell()
