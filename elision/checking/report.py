"""What a check found: the fate of each canary, the outcome of each test, and what is wrong."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal, TypeAlias

Where: TypeAlias = Literal["head", "middle", "tail"]
State: TypeAlias = Literal["kept", "removed", "withheld", "lost"]
"""``removed`` came back from the archive, ``withheld`` was redacted by policy, ``lost`` is a failure."""


@dataclass(frozen=True, slots=True)
class Fate:
    """What became of one canary in one dialect.

    ``step`` is the first request that goes without it (from 1), ``by`` the processor and its operation that took it
    out, or for one that is kept the rule that refused to let it go.
    """

    of: str
    where: Where
    dialect: str
    state: State
    step: int | None = None
    by: str = ""
    ref: str = ""
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of one of the chain's own tests; it passed if there is no problem."""

    name: str
    history: str
    problems: tuple[str, ...] = ()

    @property
    def passed(self) -> bool:
        """Whether everything that it expects holds."""
        return not self.problems


@dataclass(frozen=True, slots=True)
class CheckReport:
    """What a check found.  ``problems`` are failures; ``warnings`` and ``notes`` are not."""

    fates: Sequence[Fate]
    tests: Sequence[Outcome]
    problems: Sequence[str]
    warnings: Sequence[str]
    notes: Sequence[str]
    requests: int
    """Requests that the canaries were followed through, in all dialects."""

    @property
    def passed(self) -> bool:
        """Whether no canary was lost and every test holds."""
        return not self.problems

    @property
    def dialects(self) -> tuple[str, ...]:
        """The dialects that were tried."""
        return tuple(dict.fromkeys(fate.dialect for fate in self.fates))

    def as_dict(self) -> dict[str, Any]:
        """Return the report as plain data."""
        return {
            "passed": self.passed,
            "problems": list(self.problems),
            "warnings": list(self.warnings),
            "notes": list(self.notes),
            "dialects": list(self.dialects),
            "requests": self.requests,
            "canaries": [asdict(fate) for fate in self.fates],
            "tests": [{**asdict(test), "passed": test.passed} for test in self.tests],
        }
