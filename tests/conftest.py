"""Fixtures for the whole suite, and how many examples the property tests try."""

from __future__ import annotations

import gc
import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from by_file import order, scheduler
from forked import Forks, Python, RunScript
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


@pytest.fixture(scope="session")
def with_litellm() -> Iterator[RunScript]:
    """Run a script of the tests where litellm is imported already."""
    with Forks("litellm") as forks:
        yield forks.script


@pytest.fixture(scope="session")
def python() -> Iterator[Python]:
    """Run a program in a process of its own where the engine is imported already."""
    with Forks("elision") as forks:
        yield forks.python


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Give each file to one worker, and all that need litellm to the same one, so that each is set up once."""
    return scheduler(config, log) if config.option.dist == "load" else None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Let workers begin with what takes longest."""
    if hasattr(config, "workerinput"):
        items.sort(key=lambda item: order(item.path))


def pytest_collection_finish() -> None:
    """What was collected is never garbage: nothing of it is looked at again."""
    gc.collect()
    gc.freeze()
