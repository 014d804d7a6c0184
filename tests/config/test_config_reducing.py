"""Write-time processors that could never do anything do not load."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

Lines = Callable[[str], Sequence[str]]


@pytest.mark.parametrize("kind", ["truncate", "slim_json", "offload"])
def test_one_without_any_threshold_does_not_load(problems: Lines, kind: str) -> None:
    batch = ", batch_tokens: null" if kind == "offload" else ""
    (line,) = problems(f"history_processors: [{{type: {kind}, threshold_tokens: null{batch}}}]")

    assert "chain.yaml:1:22: history_processors[0]: threshold_tokens" in line
    assert "give one" in line


@pytest.mark.parametrize("kind", ["truncate", "slim_json", "offload"])
@pytest.mark.parametrize("tools", ["include_tools: []", "include_tools: [bash], exclude_tools: [bash, ls]"])
def test_one_to_which_no_tool_is_left_does_not_load(problems: Lines, kind: str, tools: str) -> None:
    (line,) = problems(f"history_processors: [{{type: {kind}, {tools}}}]")

    assert line.endswith("include_tools and exclude_tools leave no tool; name one that is not excluded")


@pytest.mark.parametrize("kind", ["truncate", "slim_json", "offload"])
def test_one_with_a_threshold_in_characters_alone_loads(problems: Lines, kind: str) -> None:
    options = "threshold_tokens: null, threshold_chars: 900, include_tools: [bash, ls], exclude_tools: [ls]"

    assert not problems(f"history_processors: [{{type: {kind}, {options}}}]")
