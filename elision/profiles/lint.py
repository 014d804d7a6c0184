"""All problems of a profile in one run."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from elision.errors import ConfigError, Problem
from elision.profiles.loading import read


def lint_profile(source: str | Path | Mapping[str, Any]) -> list[Problem]:
    """Return the problems of a profile and of those that it extends."""
    try:
        return [problem for each in read(source) for problem in each.problems]
    except ConfigError as error:
        return list(error.problems)
