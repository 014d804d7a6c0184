"""Faults that users met in other systems: summaries that fail, loop or grow, and receipts that they lose."""

from __future__ import annotations

import copy
import json
import warnings
from typing import Any

import pytest
import summary_models
from removed import lost
from shared_data import shared
from summary_runs import loaded, summaries, texts
from wire_rules import wire_faults

import elision
from elision import Chain, SentView

EACH = "trigger_messages: 6, keep_first_steps: 0, keep_last_steps: 1"
READS = (
    "{extends: default, rules: [{tool: get_file, class: static}, {tool: send_message, class: receipt}, "
    "{tool: lint, class: dynamic}]}"
)


@pytest.fixture(autouse=True)
def _no_calls() -> None:
    summary_models.CALLS.clear()


def case(number: str) -> dict[str, Any]:
    (found,) = shared("bugcases").glob(f"{number}-*.json")
    return dict(json.loads(found.read_text(encoding="utf-8")))


def chain(options: str) -> Chain:
    return loaded(f"[{{type: summarize, {options}}}]", f"classification: {READS}")


def put_through(found: dict[str, Any], made: Chain, **said: Any) -> SentView:
    """Run a chain over a case, twice: the stored history stays, the pairs hold, and all that is gone can be had."""
    messages = copy.deepcopy(found["messages"])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", elision.ElisionWarning)
        view = made.process(found["messages"], dialect=found["style"], **said)
        again = made.process(found["messages"], dialect=found["style"], **said)

    assert found["messages"] == messages
    assert wire_faults(found["style"], view.messages) == []
    assert lost(view, made.opened_archive) == {}
    assert again.messages == view.messages
    return view


def test_case_09_tool_only_history_still_shrinks() -> None:
    found = case("09")
    for message in found["messages"]:
        if message["role"] == "tool":
            message["content"] *= 60
    view = put_through(found, chain(EACH))

    assert len(view.messages) < len(found["messages"])
    assert view.messages[0] == found["messages"][0]


def test_case_30_injected_reminder_survives_summary() -> None:
    """What the user has said, reminders of the host's included, is never summed up."""
    found = case("30")
    found["messages"][4]["content"][0]["content"] *= 40
    view = put_through(found, chain("trigger_messages: 4, keep_first_steps: 0, keep_last_steps: 1"))
    reminder = "<reminder>Skills on hand: release, lint.</reminder>"

    assert json.dumps(view.messages).count(reminder) == 1
    assert summaries(view)


@pytest.mark.parametrize("clears", ["", "{type: clear_tool_results, keep: 2, schedule: every_step}, "])
def test_case_33_write_receipts_survive(clears: str) -> None:
    found = case("33")
    made = loaded(f"[{clears}{{type: summarize, {EACH}}}, {{type: task_notes}}]", f"classification: {READS}")
    view = put_through(found, made)
    (notes,) = (each for each in texts(view) if each.startswith("[Task notes"))

    assert summaries(view)
    assert found["messages"][2] in view.messages
    assert found["messages"][1] in view.messages
    assert "sent: id 991, 10:02" in notes.split("Done; do not do it again:")[1].split("Written but unverified")[0]
    assert "send_message" not in notes.split("Next step:")[1]


@pytest.mark.parametrize("model", ["raising", "empty", "blank"])
def test_case_35_failed_summary_changes_nothing(model: str) -> None:
    found = case("35")
    view = put_through(found, chain(f"{EACH}, summarizer: call, target: 'summary_models:{model}'"))

    assert view.messages == found["messages"]
    assert [failure.processor for failure in view.failures] == ["summarize"] * len(view.failures)
    assert view.failures
    assert len(summary_models.CALLS) <= 2


def test_case_37_threshold_below_fixed_overhead() -> None:
    found = case("37")
    messages = found["messages"]
    made = chain("trigger_tokens: 2000, summarizer: call, target: 'summary_models:good'")
    with made.session() as session, warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always", elision.ElisionWarning)
        for turn in range(10):
            messages = [
                *messages,
                {"role": "assistant", "content": f"{turn} o'clock"},
                {"role": "user", "content": "and now?"},
            ]
            view = session.process(messages)
            assert view.messages == messages

    assert len(summary_models.CALLS) <= 2
    assert ["the trigger is at 2000 tokens" in str(each.message) for each in told] == [True]


def test_case_38_summary_bigger_than_input() -> None:
    found = case("38")
    options = "trigger_messages: 3, keep_first_steps: 0, keep_last_steps: 1, summarizer: call"
    view = put_through(found, chain(f"{options}, target: 'summary_models:wordy'"))

    assert view.messages == found["messages"]
    assert "no fewer than what it would stand for" in view.failures[0].error


def test_case_42_trim_never_outruns_the_summary() -> None:
    """No summary runs behind the request's back: what goes and what stands for it come together."""
    found = case("42")
    view = put_through(found, chain(EACH))
    gone = [edit for edit in view.edits if edit.action == "drop"]

    assert gone
    assert all(edit.ref in "".join(summaries(view)) for edit in gone)
