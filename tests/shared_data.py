"""Recorded histories and vectors that are not part of the project, where the folder is there."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

SHARED = Path(os.environ.get("ELISION_SHARED", Path(__file__).parents[2] / "shared"))


def shared(*parts: str) -> Path:
    """Return a path in the shared folder; the calling test is skipped, with a printed reason, where it is missing."""
    path = SHARED.joinpath(*parts)
    if not path.exists():
        pytest.skip(f"no recorded data: set ELISION_SHARED to the folder that holds {'/'.join(parts)}")
    return path


def shared_files(*parts: str, pattern: str = "*") -> list[Path]:
    """Return the files in a shared folder, for parametrising; empty where the folder is missing."""
    return sorted(path for path in SHARED.joinpath(*parts).glob(pattern) if path.is_file())
