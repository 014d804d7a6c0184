"""Fixtures for the whole suite, and how many examples the property tests try."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

import elision

os.environ["ELISION_ARCHIVE"] = "memory:"  # chains that are made when a test module is imported included

ROOT = Path(__file__).parents[1]
_SLOW = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example, HealthCheck.filter_too_much]

settings.register_profile(
    "suite", max_examples=25, derandomize=True, database=None, deadline=None, suppress_health_check=_SLOW
)
settings.register_profile("large", max_examples=2000, deadline=None, suppress_health_check=_SLOW)
settings.load_profile("suite")  # --hypothesis-profile=large wins


@pytest.fixture
def chain() -> Callable[[str], elision.Chain]:
    """Load a chain from YAML text."""
    return elision.loads


@pytest.fixture(scope="session")
def sample_run() -> Any:
    """Return the recorded run that ships: a fresh copy is the test's to make if it changes it."""
    return json.loads((ROOT / "examples" / "sample_run.json").read_text(encoding="utf-8"))
