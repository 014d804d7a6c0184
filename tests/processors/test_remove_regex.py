"""``remove_regex``: what matches goes, from every message, and no message is left empty."""

from __future__ import annotations

from typing import Any

import pytest

import elision
from elision import ConfigError, ElisionWarning

CALL = {"id": "c", "type": "function", "function": {"name": "read_file", "arguments": '{"path": "<diff>x</diff>"}'}}
HISTORY: list[dict[str, Any]] = [
    {"role": "system", "content": "sys <diff>1</diff>"},
    {"role": "user", "content": "task <diff>2</diff>"},
    {
        "role": "assistant",
        "content": "look <diff>3</diff>",
        "tool_calls": [CALL],
        "reasoning_content": "<diff>4</diff>",
    },
    {"role": "tool", "tool_call_id": "c", "content": "out <diff>5\n6</diff> end"},
]


def process(history: list[Any], options: str = "") -> list[Any]:
    return elision.loads(f"history_processors: [{{type: remove_regex, {options}}}]").process(history).messages


def test_matches_go_from_every_message_and_calls_and_reasoning_stay() -> None:
    assert process(HISTORY) == [
        {"role": "system", "content": "sys "},
        {"role": "user", "content": "task "},
        {**HISTORY[2], "content": "look "},
        {**HISTORY[3], "content": "out  end"},
    ]


def test_the_last_messages_stay_as_they_are() -> None:
    sent = process([*HISTORY, {"role": "assistant", "content": "<diff>7</diff> done"}], "keep_last: 2")

    assert [m["content"] for m in sent] == ["sys ", "task ", "look ", HISTORY[3]["content"], "<diff>7</diff> done"]


def test_each_message_is_cut_once_it_has_left_the_last_ones_in_a_session_too() -> None:
    chain = elision.loads("history_processors: [{type: remove_regex, keep_last: 2}]")
    session = chain.session()
    history = [*HISTORY, {"role": "assistant", "content": "ok"}, {"role": "user", "content": "more <diff>8</diff>"}]
    session.process(history[:2])
    session.process(history[:4])

    assert session.process(history).messages == chain.process(history).messages


def test_list_content_is_cut_part_by_part_and_images_stay() -> None:
    image = {"type": "image_url", "image_url": {"url": "<diff>x</diff>"}}
    content = [{"type": "text", "text": "a<diff>b</diff>c", "extra": 1}, image]

    assert process([{"role": "user", "content": content}])[0]["content"] == [
        {"type": "text", "text": "ac", "extra": 1},
        image,
    ]


def test_a_part_that_would_be_empty_goes_where_others_remain() -> None:
    content = [{"type": "text", "text": "<diff>b</diff>"}, {"type": "text", "text": "rest"}]

    assert process([{"role": "user", "content": content}])[0]["content"] == [{"type": "text", "text": "rest"}]


@pytest.mark.parametrize(("text", "sent"), [("<diff>all of it</diff>", "(removed)"), ("abc", ".")])
def test_no_message_is_left_empty(text: str, sent: str) -> None:
    assert process([{"role": "user", "content": text}], "remove: ['.+']")[0]["content"] == sent


def test_patterns_are_removed_one_after_the_other_until_nothing_matches() -> None:
    sent = process([{"role": "user", "content": "x aabc aabb"}], "remove: [ab, ac]")

    assert sent[0]["content"] == "x  "


@pytest.mark.parametrize("content", ["", [{"no": "type"}], [{"type": "text"}]])
def test_odd_content_is_carried(content: Any) -> None:
    assert process([{"role": "user", "content": content}, *HISTORY[1:]])[0]["content"] == content


def test_a_bad_pattern_fails_when_the_chain_is_loaded() -> None:
    with pytest.raises(ConfigError, match=r"history_processors\[0\]\.remove.*is not a regular expression"):
        elision.loads("history_processors: [{type: remove_regex, remove: ['(']}]")


ENDLESS = "a" * 60 + "b"


@pytest.mark.parametrize("dialect", [None, "sweagent"])
def test_a_pattern_that_never_ends_is_stopped_and_the_request_goes_out(dialect: str | None) -> None:
    history = [{"role": "user", "content": ENDLESS}]
    chain = elision.loads("history_processors: [{type: remove_regex, remove: ['(a|aa)+$']}]")
    with pytest.warns(ElisionWarning, match=r"remove_regex: '\(a\|aa\)\+\$' was stopped .* text of 61 characters"):
        view = chain.process(history, dialect=dialect)

    assert view.messages == history
    assert view.failures == ()


def test_the_other_texts_are_cut_when_a_pattern_never_ends_on_one() -> None:
    parts = [{"type": "text", "text": ENDLESS}, {"type": "text", "text": "b aaa"}]
    history = [{"role": "user", "content": parts}, *HISTORY[2:], {"role": "user", "content": "go aa"}]
    with pytest.warns(ElisionWarning, match="text of 61 characters"):
        sent = process(history, "remove: ['(a|aa)+$']")

    assert sent[0]["content"] == [parts[0], {"type": "text", "text": "b "}]
    assert sent[-1]["content"] == "go "


def test_rounds_without_end_are_stopped_too() -> None:
    history = [{"role": "user", "content": "a" * 500_000 + "b" * 500_000}, {"role": "user", "content": "x ab"}]
    with pytest.warns(ElisionWarning, match="text of 1000000 characters"):
        sent = process(history, "remove: [ab]")

    assert sent == [history[0], {"role": "user", "content": "x "}]


def test_a_text_that_was_left_as_it_is_is_not_tried_again_in_a_session() -> None:
    history = [{"role": "user", "content": ENDLESS}]
    session = elision.loads("history_processors: [{type: remove_regex, remove: ['(a|aa)+$']}]").session()
    with pytest.warns(ElisionWarning):
        session.process(history)
    history += [{"role": "assistant", "content": "done"}]

    assert session.process(history).messages == history


def test_what_stands_for_an_emptied_text_is_left_alone() -> None:
    once = process([{"role": "user", "content": "letters only"}], "remove: ['[a-z ]+']")

    assert once[0]["content"] == "(removed)"
    assert process(once, "remove: ['[a-z ]+']") == once


def test_a_text_that_was_out_of_time_once_is_so_for_every_process_that_shares_the_archive() -> None:
    history = [{"role": "user", "content": ENDLESS}]
    archive = elision.open_archive("memory:", environ={})
    made = elision.loads("history_processors: [{type: remove_regex, remove: ['(a|aa)+$']}]")
    chain = elision.Chain(made.processors, archive=archive, classification=None)
    for _ in range(2):
        with pytest.warns(ElisionWarning, match="text of 61 characters"):
            assert chain.process(history).messages == history
    assert archive.stats().facts == 1
