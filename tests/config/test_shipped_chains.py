"""Each shipped chain is a documented example that runs on the recorded run."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest

import elision
from elision.config import lint_file, shipped_chains

SAMPLE = Path(__file__).parents[2] / "examples" / "sample_run.json"


@pytest.fixture(scope="module")
def messages() -> list[dict[str, Any]]:
    return json.loads(SAMPLE.read_text(encoding="utf-8"))["messages"]  # type: ignore[no-any-return]


@pytest.mark.parametrize("name", list(shipped_chains()))
def test_a_shipped_chain_runs_on_the_sample_run(name: str, messages: list[dict[str, Any]]) -> None:
    before = copy.deepcopy(messages)

    view = elision.load(name).process(messages)

    assert (view.failures, view.repairs) == ((), ())
    if not any(edit.action in {"drop", "insert"} for edit in view.edits):
        assert [message["role"] for message in view.messages] == [message["role"] for message in before]
    assert view.edits
    assert messages == before


@pytest.mark.parametrize("name", list(shipped_chains()))
def test_a_shipped_chain_has_no_problems(name: str) -> None:
    assert [problem for problem in lint_file(name) if problem.severity != "note"] == []


@pytest.mark.parametrize("name", list(shipped_chains()))
def test_a_shipped_chain_says_what_it_does_when_to_use_it_and_what_it_costs_the_cache(name: str) -> None:
    comment = shipped_chains()[name].read_text(encoding="utf-8").partition("history_processors:")[0]

    assert "\n# When: " in comment
    assert "\n# Cache: " in comment


def test_each_shipped_chain_is_on_the_page_of_chain_files() -> None:
    page = (SAMPLE.parents[1] / "docs" / "config.md").read_text(encoding="utf-8")
    _, _, table = page.partition("## Chains that ship")

    assert [name for name in shipped_chains() if f"`{name}`" not in table.partition("\n## ")[0]] == []
