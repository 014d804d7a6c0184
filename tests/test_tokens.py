"""Texts are counted exactly, whatever they hold, in pieces that no tokenizer finds hard."""

from __future__ import annotations

import json
import threading
from pathlib import Path
from typing import Any

import pytest
import tiktoken
from hypothesis import given
from hypothesis import strategies as st

from elision.profiles import profile_for
from elision.tokens import count_text
from elision.tokens.memory import Memory
from elision.tokens.runs import UNCUT, WINDOW, pieces
from elision.tokens.vocabularies import offline_vocabularies

FAMILY = "\U0001f469\u200d\U0001f469\u200d\U0001f467\u200d\U0001f466"
JAPANESE = "今日は東京で会議があります。資料を準備してください。"
ENDLESS = {
    "spaces": " ",
    "one letter": "a",
    "signs": "=",
    "line breaks": "\n",
    "windows line breaks": "\r\n",
    "slashes and line breaks": "/\n",
    "control characters": "\x1c=",
    "zero width joiners": "\u200d",
    "one ideograph": "中",
    "emoji families": FAMILY,
    "box drawing": "─",
    "thai": "สวัสดีครับ",
    "combining marks": "e\u0301",
    "base64 without digits": "QUJDREVGRhJSktMTUPUFFSU/RVVldYWVo",
}


@pytest.fixture
def exact(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return tiktoken's own o200k_base, which Elision has no part in."""
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(offline_vocabularies()))
    return tiktoken.get_encoding("o200k_base")


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("", 0),
        ("hello world", 2),
        ("<|endoftext|>", 7),
        ("\ud800", 1),
        ("\ud83d\ude00", 1),
        (" " * 200_000, 1563),
        (FAMILY, 11),
        (JAPANESE, 13),
    ],
    ids=["empty", "english", "special token", "lone surrogate", "split pair", "200,000 spaces", "family", "japanese"],
)
def test_a_text_has_the_tokens_of_its_vocabulary(text: str, tokens: int) -> None:
    assert count_text(text, "gpt-4o") == tokens


@pytest.mark.parametrize("text", ["<|endoftext|>", "\ud800 a", FAMILY, JAPANESE, "a" * 5000, JAPANESE * 300])
def test_a_text_counts_as_tiktoken_counts_it(text: str, exact: Any) -> None:
    assert count_text(text) == len(exact.encode_ordinary(text))


@given(st.text(st.characters(codec=None), max_size=300))
def test_any_text_at_all_is_counted_as_tiktoken_counts_it(text: str) -> None:
    from elision.tokens.vocabularies import _loaded

    assert count_text(text, "gpt-4o") == len(_loaded("o200k_base").encode_ordinary(text))


@pytest.mark.parametrize("unit", ENDLESS.values(), ids=ENDLESS)
@pytest.mark.parametrize("before", ["", "abc ", "x\ny"])
def test_an_endless_run_is_counted_in_short_pieces_to_within_two_tokens_a_cut(
    unit: str, before: str, exact: Any
) -> None:
    text = before + unit * (60_000 // len(unit))
    found = list(pieces(text))

    assert "".join(found) == text
    assert max(map(len, found)) <= 2 * UNCUT
    assert abs(count_text(text) - len(exact.encode_ordinary(text))) <= 2 * (len(found) - 1)


@pytest.mark.parametrize("unit", ["word " * 9, JAPANESE, '{"key":[1,2,{"a":null}]},', "aB/" * 20, "x=1;\n"])
def test_text_with_breaks_is_never_cut_where_that_would_change_the_count(unit: str, exact: Any) -> None:
    text = unit * (50_000 // len(unit))

    assert count_text(text) == len(exact.encode_ordinary(text))


@given(st.text(st.sampled_from("ab,'1 \n\r/=中。"), min_size=1, max_size=8), st.integers(0, 3 * UNCUT))
def test_the_pieces_of_a_text_are_the_text(unit: str, length: int) -> None:
    text = (unit * (length // len(unit) + 1))[:length]
    found = list(pieces(text))

    assert "".join(found) == text
    assert len(found) <= 1 + length // WINDOW


@pytest.mark.parametrize("model", ["claude-sonnet-4-5", "claude-opus-4-7", "deepseek-chat", "gemini-2.5-pro"])
def test_a_family_without_a_vocabulary_has_the_factor_of_its_profile(model: str) -> None:
    text = JAPANESE * 40

    assert count_text(text, model) == round(count_text(text) * profile_for(model).tokens.factor)


def test_an_older_model_has_its_own_vocabulary() -> None:
    assert (count_text(JAPANESE, "gpt-4-turbo"), count_text(JAPANESE, "gpt-4o")) == (26, 13)


def test_a_memory_is_bounded_and_forgets_what_was_not_asked_for_longest() -> None:
    memory = Memory(entries=3)
    for number in range(3):
        memory.put(bytes([number]), number)
    memory.get(b"\x00")
    memory.put(b"\x03", 3)

    assert [memory.get(bytes([number])) for number in range(4)] == [0, None, 2, 3]


def test_a_memory_that_many_threads_fill_stays_within_its_bound() -> None:
    memory = Memory(entries=50)
    wrong: list[int] = []

    def work(own: int) -> None:
        for number in range(2_000):
            key = str(number * own % 97)
            memory.put(key.encode(), int(key))
            wrong.extend(found for found in [memory.get(key.encode())] if found not in (None, int(key)))

    threads = [threading.Thread(target=work, args=(own,)) for own in range(1, 9)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(memory) == 50
    assert wrong == []


def test_vocabularies_are_read_from_a_package_and_not_from_the_network(monkeypatch: pytest.MonkeyPatch) -> None:
    folder = offline_vocabularies()

    assert folder is not None
    assert {each.stat().st_size for each in Path(folder).iterdir() if len(each.name) == 40} >= {1_681_126, 3_613_922}


def test_json_is_counted_with_its_signs_unescaped() -> None:
    text = json.dumps({"q": JAPANESE}, ensure_ascii=False)

    assert count_text(text) < count_text(json.dumps({"q": JAPANESE}))
