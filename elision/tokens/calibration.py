"""What the provider counts over what we count."""

from __future__ import annotations

from dataclasses import dataclass

LEAST = 500
"""Smallest request that says something: in smaller ones what the provider adds of its own outweighs the text."""

LOWEST, HIGHEST = 0.5, 2.0
"""Between these a ratio is believed; one beyond them is taken as the nearer of the two."""

NEWEST_WEIGHT = 0.2
"""Share of the newest request in the average, once five have been seen."""


@dataclass(frozen=True, slots=True)
class Calibration:
    """A factor on later counts, learnt from the usage that the provider reports.

    ``counted`` and ``reported`` are of one and the same request, so a request that was shortened since says nothing
    wrong.  The factor is for reports and limits still to come; it never changes a past decision.
    """

    factor: float = 1.0
    requests: int = 0

    def observed(self, counted: int, reported: int) -> Calibration:
        """Take in one request: what we counted and what the provider did, cached tokens included."""
        if counted < LEAST or reported <= 0:
            return self
        ratio = min(max(reported / counted, LOWEST), HIGHEST)
        weight = max(1 / (self.requests + 1), NEWEST_WEIGHT)
        return Calibration(self.factor + weight * (ratio - self.factor), self.requests + 1)

    def applied(self, tokens: int) -> int:
        """Return a count as the provider would probably report it."""
        return round(tokens * self.factor)
