"""``elision.completion`` where a provider, or a caller, does what it should not."""

from __future__ import annotations

import json
from typing import Any

import pytest
from transport_troubles import SHAPES, seen_in_trouble

from elision.transport.overflow import Overflow, sizes_in


@pytest.fixture(scope="module")
def seen() -> dict[str, Any]:
    return seen_in_trouble()


def test_what_pydantic_says_of_litellms_classes_is_not_shown(seen: dict[str, Any]) -> None:
    assert "TypedDict" not in seen["stderr"]


def test_a_stream_that_begins_with_an_error_is_handled_like_a_refusal(seen: dict[str, Any]) -> None:
    said, (first, second) = seen["streams"]["too long"]

    assert said == "Done."
    assert second < first
    assert seen["streams"]["failed"][0] == "Done."
    assert seen["streams"]["waited"] == ["Done.", 2]


def test_a_provider_that_does_not_say_what_was_used_is_not_taken_to_have_said_it(seen: dict[str, Any]) -> None:
    assert seen["streams"]["no usage"] == ["Done.", 0, 0]


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("a text for an error", ["Done.", 2]),
        ("a form of its own", ["Done.", 2]),
        ("a proxy", ["Done.", 2]),
        ("over all of a minute", ["Done.", 2]),
        ("not alone too large", ["RateLimitError", 1]),
    ],
)
def test_a_refusal_as_too_long_is_known_whatever_its_form(seen: dict[str, Any], name: str, found: list[Any]) -> None:
    assert seen["bodies"][name] == found


def test_one_that_is_too_long_is_not_sent_again_as_it_is_however_many_retries_there_are(seen: dict[str, Any]) -> None:
    assert seen["retries"]["too long 1"] == ["", 2]
    assert seen["retries"]["too long 9"] == ["OverBudgetError", 2]


def test_other_failures_are_retried(seen: dict[str, Any]) -> None:
    said, requests = seen["retries"]["failed 9"]

    assert seen["retries"]["failed 1"] == ["", 2]
    assert said == "InternalServerError"
    assert requests >= 3, "litellm and its client each count for themselves"


def test_a_key_is_never_sent_to_another_provider(seen: dict[str, Any]) -> None:
    assert seen["keys"]["bare"] == ["sk-of-openai", "sk-of-openai", None, "g"]


def test_a_key_is_never_sent_to_another_address_either_nor_one_in_a_header(seen: dict[str, Any]) -> None:
    first, *others = seen["keys"]["elsewhere"]

    assert first == ["sk-of-openai", {"Authorization": "Bearer sk-of-openai", "X-Trace": "1"}]
    assert others == [[None, {"X-Trace": "1"}]] * 2


def test_at_one_address_all_fallbacks_have_its_key(seen: dict[str, Any]) -> None:
    assert seen["keys"]["at one address"] == ["sk-of-openai", "sk-of-openai", "sk-of-openai", "g"]


def test_fallbacks_that_cannot_be_used_are_an_error_that_shows_no_key(seen: dict[str, Any]) -> None:
    unnamed, one, text = seen["keys"]["wrong"]

    assert "names no model" in unnamed
    assert "sk-secret" not in unnamed
    assert "give a list" in one
    assert "give a list" in text


def test_calls_that_a_provider_would_refuse_leave_as_all_take_them(seen: dict[str, Any]) -> None:
    sent = {model: seen["calls"][model] for model in SHAPES}

    assert list(sent.values()) == [[7]] * len(SHAPES)


def test_what_is_no_object_is_quoted_in_one(seen: dict[str, Any]) -> None:
    (cut,), (listed, null, empty, nan), (mapping,) = (
        [each["function"]["arguments"] for each in seen["calls"][name][0]]
        for name in ("cut off", "no object", "a mapping")
    )

    assert json.loads(cut) == {"arguments": '{"path": "a.p'}
    assert [json.loads(each) for each in (listed, null, empty)] == [{"arguments": "[1]"}, {}, {}]
    assert json.loads(nan) == {"arguments": '{"a": NaN}'}
    assert json.loads(mapping) == {"path": "é"}


def test_an_id_is_short_and_each_once_but_for_the_provider_that_signs_in_it(seen: dict[str, Any]) -> None:
    ((shortened,), (signed,)) = seen["calls"]["Gemini's id"]

    assert len(shortened["id"]) <= 40
    assert len(signed["id"]) > 1400
    for name in ("empty ids", "the same id"):
        assert len({each["id"] for each in seen["calls"][name][0]} - {""}) == 2


def test_without_a_chain_the_provider_may_manage_the_context(seen: dict[str, Any]) -> None:
    assert seen["owners"]["no chain"] == {"edits": [{"type": "clear_tool_uses_20250919"}]}


def test_what_asks_the_provider_is_taken_out_of_extra_body_too(seen: dict[str, Any]) -> None:
    assert seen["owners"]["in a body"] == {"top_k": 1}


def test_a_wrong_argument_is_an_error_that_names_it(seen: dict[str, Any]) -> None:
    said = seen["callers"]

    assert [each.split(":")[0] for each in said] == ["InputError"] * 5
    assert [each.split()[2] for each in said] == ["messages", "messages", "chain", "session", "session"]


def test_an_answer_that_cannot_be_taken_in_is_given_and_asked_for_once(seen: dict[str, Any]) -> None:
    found = seen["unhindered"]

    assert (found["said"], found["requests"]) == ("One.", 1)
    assert "could not be taken in" in found["told"][0]


@pytest.mark.parametrize(
    ("told", "expected"),
    [
        ("Request too large for gpt-4.1 (TPM): Limit 30000, Requested 45000.", (45000, 30000)),
        ("prompt token count of 130000 exceeds the limit of 128000", (130000, 128000)),
        ("input token count is 1200000 but model only supports up to 1048576.", (1200000, 1048576)),
        ("`inputs` must have less than 4096 tokens. Given: 5000", (5000, 4096)),
    ],
)
def test_the_sizes_in_further_errors_are_read(told: str, expected: tuple[int, int]) -> None:
    assert sizes_in(told) == Overflow(*expected)
