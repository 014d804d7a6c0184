"""``on_bound_thinking`` in chain files, and what is said of mistakes in it."""

from __future__ import annotations

from collections.abc import Callable
from typing import get_args

import pytest

import elision
from elision import Chain, OnBoundThinking
from elision.config import lint

Lines = Callable[[str], list[str]]

CHAIN = "history_processors: [{type: clear_tool_results}]\n"


@pytest.mark.parametrize("policy", get_args(OnBoundThinking))
def test_a_file_says_what_an_argument_says(policy: OnBoundThinking) -> None:
    loaded = elision.loads(f"{CHAIN}on_bound_thinking: {policy}", archive="memory:")

    assert loaded.on_bound_thinking == policy == Chain(archive="memory:", on_bound_thinking=policy).on_bound_thinking
    assert elision.loads(CHAIN, archive="memory:").on_bound_thinking is None


def test_another_word_is_named_with_what_is_allowed(problems: Lines) -> None:
    (told,) = problems(f"{CHAIN}on_bound_thinking: drop")

    assert told == (
        "chain.yaml:2:20: on_bound_thinking: on_bound_thinking is 'drop'; it must be 'request_drop_block', 'defer', "
        "'drop_thinking' or 'error'; correct it or leave it out"
    )


@pytest.mark.parametrize(
    ("rest", "noted"),
    [
        ("model: claude-opus-5-5", True),
        ("model: claude-sonnet-4-5", False),
        ("model: claude-opus-5-5\non_bound_thinking: defer", False),
    ],
)
def test_a_chain_for_a_model_that_binds_its_thinking_is_told_what_to_say(rest: str, noted: bool) -> None:
    notes = [found for found in lint(f"{CHAIN}{rest}", "chain.yaml") if found.severity == "note"]

    assert ["binds its thinking to what stands before it" in str(found) for found in notes] == [True] * noted


def test_a_chain_that_removes_nothing_is_told_nothing() -> None:
    found = lint("history_processors: [{type: cache_control}]\nmodel: claude-opus-5-5", "chain.yaml")

    assert [str(each) for each in found] == []
