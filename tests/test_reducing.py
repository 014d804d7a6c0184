"""What is made of a long text, whatever is in it: shorter, valid, and the same when it is made again."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from elision import Slimming, Text, Truncation, slim_content, truncate_content


def cut(text: str, **options: Any) -> str:
    """What is left of one text, or the text."""
    made = truncate_content((Text(text),), Truncation(**options), way_back=lambda: "recall 3f9a1c0b77de")
    if made is None:
        return text
    (piece,) = made
    assert isinstance(piece, Text)
    return piece.text


@pytest.mark.parametrize(
    "text",
    [" " * 200_000, "a" + "\u0301" * 200_000, "\n" * 200_000, "x" * 200_000, "\u200d" * 100_000, "\x1b[0m" * 50_000],
    ids=["spaces", "one character", "line ends", "one word", "joiners", "colours"],
)
def test_hostile_texts_end_up_short_and_valid(text: str) -> None:
    once = cut(text, threshold_tokens=100)

    assert len(once) < 10_000
    assert once.strip()
    assert cut(once, threshold_tokens=100) == once


def test_a_result_of_50_mb_is_cut() -> None:
    text = "some words here and there 12345 error\n" * 1_400_000

    assert len(cut(text)) < 20_000
    assert len(cut("[" + text + "]")) < 20_000


PIECES = [
    "a",
    "b",
    " ",
    "\n",
    "\r",
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    '"',
    "\\",
    "1",
    "e\u0301",
    "\u200d",
    "\U0001f469",
    "error",
    "\ud83d",
]
TEXTS = st.lists(st.sampled_from(PIECES), max_size=200).map("".join)


@given(TEXTS, st.integers(1, 60), st.integers(0, 80), st.integers(0, 80), st.integers(0, 3))
def test_any_text_becomes_shorter_or_stays_and_is_cut_once(
    text: str, tokens: int, head: int, tail: int, errors: int
) -> None:
    how = {"threshold_tokens": tokens, "head_chars": head, "tail_chars": tail, "keep_error_lines": errors}
    once = cut(text, **how)

    assert once == text or len(once) < len(text)
    assert cut(once, **how) == once


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=12,
)


@given(VALUES, st.booleans(), st.sampled_from([None, 2]), st.integers(5, 60))
def test_json_in_json_out(value: Any, ascii_only: bool, indent: int | None, tokens: int) -> None:
    document = json.dumps(value, ensure_ascii=ascii_only, indent=indent)

    json.loads(cut(document, threshold_tokens=tokens, head_chars=40, tail_chars=20))


@given(
    st.lists(st.dictionaries(TEXTS, TEXTS, max_size=3), min_size=2, max_size=30),
    st.sampled_from(["\n", "\r\n"]),
    st.integers(20, 200),
    st.integers(0, 200),
    st.integers(0, 200),
)
def test_lines_of_json_stay_such_or_become_an_object(
    values: list[Any], end: str, tokens: int, head: int, tail: int
) -> None:
    text = end.join(json.dumps(value) for value in values)
    left = cut(text, threshold_tokens=tokens, head_chars=head, tail_chars=tail)

    assert all(isinstance(json.loads(line), dict) for line in left.split("\n"))


@pytest.mark.parametrize("text", ["[1," * 20_000, "]" * 60_000, "{" * 60_000, '{"a":' * 20_000, '"' * 60_000])
def test_what_only_begins_like_json_is_cut_and_has_no_records(text: str) -> None:
    assert len(cut(text)) < len(text)
    assert slim_content((Text(text),), Slimming()) is None


def test_a_text_of_50_mb_that_looks_like_json_is_not_read_as_such() -> None:
    text = "[" + '{"id":1,"name":"x"},' * 2_500_000 + "1]"

    assert slim_content((Text(text),), Slimming()) is None
    assert json.loads(cut(text))["truncated"] is True


def test_what_a_pattern_has_no_time_for_is_agreed_on_so_that_all_processes_cut_alike() -> None:
    told: list[tuple[str, str]] = []

    def first_found(about: str, found: str) -> str:
        told.append((about, found))
        return found

    text = ("a" * 40 + "b\n") * 3000
    how = Truncation(threshold_tokens=500, head_chars=100, tail_chars=100, error_pattern=r"(a|aa)+$")
    made = truncate_content((Text(text),), how, first_found=first_found)

    assert made is not None
    assert "among them" not in str(made)
    assert [(about.split("\0")[:2], found) for about, found in told] == [(["error_pattern", "(a|aa)+$"], "out of time")]


@pytest.mark.parametrize("hole", ["\0" * 900_000, "\0" * 5000, "\0" * 16])
def test_the_tail_of_a_log_with_a_hole_in_it_stays(hole: str) -> None:
    log = "compiling\n" * 4000
    made = cut(f"begun\n{hole}\n{log}FATAL: disk full\n", threshold_tokens=500)

    assert made.startswith(f"begun\n[{len(hole)} NUL chars left out; recall 3f9a1c0b77de]\n")
    assert made.endswith("FATAL: disk full\n")
    assert "\0" not in made
