"""Checking a chain: canaries followed through it, and the tests that its file has."""

from elision.checking.report import CheckReport, Fate, Outcome
from elision.checking.running import check

__all__ = ["CheckReport", "Fate", "Outcome", "check"]
