"""Fixtures for configs written as text."""

from __future__ import annotations

from collections.abc import Callable
from textwrap import dedent

import pytest

from elision.config import lint
from elision.registry import plugins

Lines = Callable[[str], list[str]]


@pytest.fixture
def problems() -> Lines:
    """All problems of a config but the note that a SWE-agent config gets, one a line."""

    def found(text: str) -> list[str]:
        return [str(problem) for problem in lint(dedent(text), "chain.yaml") if problem.severity != "note"]

    return found


@pytest.fixture
def processor_names() -> str:
    """The types that messages list."""
    return ", ".join(sorted(plugins().processors()))
