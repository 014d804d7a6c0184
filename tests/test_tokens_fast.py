"""The extra ``fast`` counts what tiktoken counts, or is not used."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec

import pytest
from hypothesis import given
from hypothesis import strategies as st

from elision.tokens.vocabularies import CHECKED, _exact, _fast, agrees, counter_of

ENCODINGS = ("o200k_base", "cl100k_base")

needs_quicktok = pytest.mark.skipif(find_spec("quicktok") is None, reason="the extra 'fast' (quicktok-v1) is missing")


def fast(encoding: str) -> Callable[[str], int]:
    found = _fast(encoding)
    assert found is not None
    return found


@needs_quicktok
@pytest.mark.parametrize("encoding", ENCODINGS)
def test_quicktok_is_used_where_it_is_installed_and_agrees(encoding: str) -> None:
    assert agrees(fast(encoding), _exact(encoding))
    assert counter_of(encoding)("hello world") == 2


@needs_quicktok
@given(st.text(max_size=400), st.sampled_from(ENCODINGS))
def test_quicktok_counts_any_text_as_tiktoken_does(text: str, encoding: str) -> None:
    assert fast(encoding)(text) == _exact(encoding)(text)


@needs_quicktok
@pytest.mark.parametrize("text", [" " * 200_000, "a" * 50_000, "=\n" * 20_000, "中" * 30_000])
def test_quicktok_counts_endless_runs_as_tiktoken_does(text: str) -> None:
    assert fast("o200k_base")(text) == _exact("o200k_base")(text)


def test_a_vocabulary_that_quicktok_does_not_have_is_counted_by_tiktoken() -> None:
    assert counter_of("p50k_base")("hello world") == 2


@pytest.mark.parametrize("wrong", range(1, len(CHECKED)))
def test_a_tokenizer_that_counts_one_checked_text_otherwise_is_not_used(wrong: int) -> None:
    exact = _exact("o200k_base")

    assert not agrees(lambda text: exact(text) + (text == CHECKED[wrong]), exact)


def test_a_tokenizer_that_raises_is_not_used() -> None:
    assert not agrees(lambda text: len(text) // 0, _exact("o200k_base"))
