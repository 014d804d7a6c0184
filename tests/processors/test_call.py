"""``call``: functions of the user's own, old-style callables included, behind the same guard."""

from __future__ import annotations

import copy
import sys
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

import pytest

import elision
from elision import ConfigError, ElisionWarning, SentView, View

CALLS = [{"id": n, "type": "function", "function": {"name": n, "arguments": "{}"}} for n in "ab"]
HISTORY: list[dict[str, Any]] = [
    {"role": "system", "content": "You are an agent."},
    {"role": "user", "content": "Fix it."},
    {"role": "assistant", "content": "ok", "tool_calls": CALLS},
    {"role": "tool", "tool_call_id": "a", "content": "first result", "odd": 1},
    {"role": "tool", "tool_call_id": "b", "content": "second result"},
    {"role": "assistant", "content": "now", "tool_calls": CALLS[:1]},
    {"role": "tool", "tool_call_id": "a", "content": "newest result"},
]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[..., Any]], SentView]:
    def run(function: Callable[..., Any]) -> SentView:
        module = ModuleType("users_own")
        module.__dict__["function"] = function
        monkeypatch.setitem(sys.modules, "users_own", module)
        before = copy.deepcopy(HISTORY)
        chain = "{classification: none, history_processors: [{type: call, target: 'users_own:function'}]}"
        view = elision.loads(chain).process(HISTORY)
        assert before == HISTORY
        return view

    return run


Run = Callable[[Callable[..., Any]], SentView]


def test_a_function_of_the_view_gives_edits(run: Run) -> None:
    def plan(view: View) -> Iterator[elision.Edit]:
        yield view.observations[0].replace("short")

    assert run(plan).messages[3] == {**HISTORY[3], "content": "short"}


def test_what_an_old_style_callable_changed_is_replaced_and_the_rest_are_the_host_s_objects(run: Run) -> None:
    def shorten(history: list[Any]) -> list[Any]:
        history[3]["content"] = "short"
        return history

    sent = run(shorten).messages

    assert sent[3] == {**HISTORY[3], "content": "short"}
    assert all(sent[i] is HISTORY[i] for i in (0, 1, 2, 4, 5, 6))


def test_new_objects_with_the_same_meaning_change_nothing(run: Run) -> None:
    sent = run(lambda history: [dict(message) for message in history]).messages

    assert all(message is held for message, held in zip(sent, HISTORY, strict=True))


def test_new_objects_with_other_content_are_replacements(run: Run) -> None:
    def upper(history: list[Any]) -> list[Any]:
        return [{**m, "content": m["content"].upper()} if m["role"] == "tool" else m for m in history]

    assert [m["content"] for m in run(upper).messages if m["role"] == "tool"] == [
        "FIRST RESULT",
        "SECOND RESULT",
        "NEWEST RESULT",
    ]


def test_a_step_that_is_gone_as_a_whole_is_dropped(run: Run) -> None:
    assert run(lambda history: [*history[:2], *history[5:]]).messages == [*HISTORY[:2], *HISTORY[5:]]


def test_half_a_step_stays_whole_and_so_does_the_task(run: Run) -> None:
    view = run(lambda history: history[4:])

    assert view.messages == HISTORY
    assert {refusal.reason for refusal in view.refusals} == {
        "a message goes only with its whole step; system and user messages stay"
    }


def test_a_new_user_message_is_inserted_where_it_stands(run: Run) -> None:
    note = {"role": "user", "content": "remember"}

    assert run(lambda history: [*history[:2], note, *history[2:]]).messages == [*HISTORY[:2], note, *HISTORY[2:]]


def test_a_message_added_at_the_end_is_sent_last(run: Run) -> None:
    note = {"role": "user", "content": "remember"}

    assert run(lambda history: [*history, note]).messages == [*HISTORY, note]


def test_growth_is_refused(run: Run) -> None:
    def grow(history: list[Any]) -> list[Any]:
        history[3]["content"] += " and more"
        return history

    view = run(grow)

    assert view.messages == HISTORY
    assert [refusal.rule for refusal in view.refusals] == ["never_grows"]


MADE_UP = {"role": "tool", "tool_call_id": "z", "content": "made up"}


@pytest.mark.parametrize("returned", [None, "text", {}, [7], [MADE_UP]])
def test_what_is_no_history_is_reported_and_the_request_goes_out(run: Run, returned: Any) -> None:
    with pytest.warns(ElisionWarning, match="call raised"):
        view = run(lambda history: returned)

    assert view.messages == HISTORY


def test_an_empty_list_loses_nothing_but_closed_steps(run: Run) -> None:
    assert run(lambda history: []).messages == [*HISTORY[:2], *HISTORY[5:]]


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("nothing", "is not of the form package.module:name"),
        ("no_such_module_here:f", "cannot be imported"),
        ("json:no_such_name", "cannot be imported"),
        ("json:__name__", "is a str, not a function"),
    ],
)
def test_a_target_that_is_no_function_does_not_load(target: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        elision.loads(f"history_processors: [{{type: call, target: '{target}'}}]")


def test_a_long_history_is_matched_message_by_message(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    count = 3000
    built: list[dict[str, Any]] = [{"role": "user", "content": "Fix it."}]
    for number in range(count):
        call = {"id": f"c{number}", "type": "function", "function": {"name": "b", "arguments": "{}"}}
        built.append({"role": "assistant", "content": None, "tool_calls": [call]})
        built.append({"role": "tool", "tool_call_id": f"c{number}", "content": f"result {number}"})
    monkeypatch.setitem(globals(), "HISTORY", built)

    def hint(history: list[Any]) -> list[Any]:
        asked = {"role": "user", "content": "Go on."}
        return [
            each for message in copy.deepcopy(history) for each in ([asked] * ("tool_calls" in message) + [message])
        ]

    assert run(lambda history: history).messages == built
    assert len(run(lambda history: copy.deepcopy(history[:1] + history[count + 1 :])).messages) == count + 1
    assert len(run(hint).messages) == len(built) + count
