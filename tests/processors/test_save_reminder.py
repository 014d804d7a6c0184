"""``save_reminder``: a little before something goes, the model is told once to write down what it needs."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from summary_runs import begun, last, loaded, reads, sent, summaries, texts

import elision
from elision import SentView
from elision.testing import check_processor

LIMIT = "trigger_messages: 20"
BOTH = f"[{{type: summarize, {LIMIT}, keep_last_steps: 2}}, {{type: save_reminder, {LIMIT}, at_share: 0.7}}]"
WIRES: Any = ("openai", "anthropic", "responses", "gemini")


def reminders(view: SentView) -> list[str]:
    return [text for text in texts(view) if text.startswith("[Reminder")]


@pytest.mark.parametrize("shape", WIRES)
def test_before_a_clear_the_model_can_be_reminded_to_write_down_what_it_needs(shape: Any) -> None:
    views = sent(loaded(BOTH), reads(begun(shape), 1, 12))
    reminded = next(number for number, view in enumerate(views) if reminders(view))
    summed = next(number for number, view in enumerate(views) if summaries(view))

    assert summed - 4 <= reminded < summed
    assert "Write down now" in reminders(views[reminded])[0]


def test_it_says_so_once_and_what_it_said_stays_where_it_was() -> None:
    views = sent(loaded(f"[{{type: save_reminder, {LIMIT}}}]"), reads(begun(), 1, 30))

    assert max(len(reminders(view)) for view in views) == 1
    assert all(view.messages[: len(before.messages)] == before.messages for before, view in pairwise(views))


def test_it_comes_again_before_the_next_summary() -> None:
    view = last(loaded(BOTH), reads(begun(), 1, 25))

    assert len(reminders(view)) >= 2


def test_it_says_what_goes_in_the_chains_own_words() -> None:
    options = f"{LIMIT}, what: old test logs, template: 'Save {{{{ what }}}}.'"
    view = last(loaded(f"[{{type: save_reminder, {options}}}]"), reads(begun(), 1, 12))

    assert "Save old test logs." in texts(view)


def test_processing_what_was_sent_changes_nothing() -> None:
    made = loaded(BOTH)
    for view in sent(made, reads(begun(), 1, 25)):
        assert made.process(view.messages).messages == view.messages


@pytest.mark.parametrize(
    ("options", "told"),
    [("what: ' '", "what is empty"), ("template: remindr", "did you mean 'reminder'"), ("at_share: 2", "at_share")],
)
def test_options_that_cannot_be_used_are_refused(options: str, told: str) -> None:
    with pytest.raises((elision.ConfigError, ValueError), match=told):
        loaded(f"[{{type: save_reminder, {options}}}]")


def test_it_stands_behind_the_summary_that_it_warns_of() -> None:
    with pytest.raises(elision.ConfigError, match="comes too late"):
        loaded(f"[{{type: save_reminder}}, {{type: summarize, {LIMIT}}}]")


def test_the_contract() -> None:
    check_processor(elision.processor_types()["save_reminder"], max_examples=5, trigger_messages=3)
