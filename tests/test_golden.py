"""Each shipped chain gives its golden view of the recorded run; tests/golden/refresh.py writes them anew."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

from elision.config import shipped_chains

GOLDEN = Path(__file__).parent / "golden"


@pytest.mark.parametrize("name", shipped_chains())
def test_a_shipped_chain_gives_its_golden_view(name: str) -> None:
    text = runpy.run_path(str(GOLDEN / "refresh.py"))["text"]

    assert text(name) == (GOLDEN / f"{name}.json").read_text(encoding="utf-8")


def test_there_is_no_golden_view_without_a_chain() -> None:
    assert {path.stem for path in GOLDEN.glob("*.json")} == set(shipped_chains())
