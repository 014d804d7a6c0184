from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

from elision.profiles import Profile, profile_for


@pytest.fixture
def write(tmp_path: Path) -> Callable[[str, str], Path]:
    """Write a file."""

    def written(name: str, text: str) -> Path:
        path = tmp_path / name
        path.write_text(dedent(text), encoding="utf-8")
        return path

    return written


@pytest.fixture
def priced(tmp_path: Path) -> Callable[..., Profile]:
    """Return the profile of a model under a price map with one entry, its own unless another key is given."""
    made = 0

    def found(entry: Any, model: str = "acme-1", *, key: str | None = None, **options: Any) -> Profile:
        nonlocal made
        made += 1
        path = tmp_path / f"map{made}.json"
        path.write_text(json.dumps({"sample_spec": {}, key or model: {"mode": "chat", **entry}}), encoding="utf-8")
        return profile_for(model, price_map=path, **options)

    return found
