"""``clear_thinking``: the thinking of old turns goes, from the oldest on, and never what the model wants back."""

from __future__ import annotations

import json

import pytest
from scheduled_runs import sent
from wire_rules import wire_faults

import elision
from elision import Chain
from elision.testing import (
    Conversation,
    Shape,
    call,
    check_processor,
    conversation,
    redacted_thinking,
    result,
    thinking,
)

MODEL = "claude-sonnet-4-20250514"
"""A model that wants the thinking of the newest step back, and no other."""


def chain(options: str = "schedule: every_step", more: str = "classification: none") -> Chain:
    return elision.loads(f"history_processors: [{{type: clear_thinking, {options}}}]\n{more}", archive="memory:")


def turns(count: int, shape: Shape = "anthropic", *, signature: str = "c2ln") -> Conversation:
    """Return so many turns of two steps: one with a call, then the answer."""
    run = conversation(shape)
    for number in range(count):
        run = run.user(f"Question {number}.")
        run = run.step(thinking(f"plan {number}.", signature=signature), call("read_file", path="a"), result("text"))
        run = run.step(thinking(f"sum {number}.", signature=signature), f"Answer {number}.")
    return run


def left(messages: object) -> list[str]:
    """Return the thinking that stands in messages, by its words."""
    told = json.dumps(messages)
    return [f"{word} {number}" for number in range(9) for word in ("plan", "sum") if f"{word} {number}." in told]


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ("keep_turns: 1", ["plan 2", "sum 2"]),
        ("keep_turns: 2", ["plan 1", "sum 1", "plan 2", "sum 2"]),
        ("keep_turns: 3", ["plan 0", "sum 0", "plan 1", "sum 1", "plan 2", "sum 2"]),
        ("keep_turns: all", ["plan 0", "sum 0", "plan 1", "sum 1", "plan 2", "sum 2"]),
    ],
)
def test_the_newest_turns_keep_their_thinking(options: str, expected: list[str]) -> None:
    view = chain(f"{options}, schedule: every_step").process(turns(3).messages(), model=MODEL)

    assert left(view.messages) == expected
    assert wire_faults("anthropic", view.messages) == []


@pytest.mark.parametrize("shape", ["openai", "anthropic", "gemini", "miniswe"])
def test_every_dialect_loses_old_thinking_and_nothing_else(shape: Shape) -> None:
    run = turns(3, shape, signature="" if shape == "gemini" else "c2ln")
    view = chain().process(run.messages(), dialect=run.dialect, model=MODEL)

    assert left(view.messages) == ["plan 2", "sum 2"]
    assert json.dumps(view.messages).count("Answer") == 3
    assert json.dumps(view.messages).count("read_file") >= 3


def test_a_step_of_sweagent_whose_action_has_no_observation_keeps_its_thinking() -> None:
    run = turns(3, "sweagent")
    view = chain().process(run.messages(), dialect=run.dialect, model=MODEL)

    assert left(view.messages) == ["sum 0", "sum 1", "plan 2", "sum 2"]


def test_a_turn_without_thinking_does_not_count() -> None:
    run = turns(2).user("Thanks.").step("You are welcome.").user("And now?").step("Nothing.")

    assert left(chain().process(run.messages(), model=MODEL).messages) == ["plan 1", "sum 1"]


def test_an_agent_with_a_single_task_keeps_all_its_thinking() -> None:
    run = conversation("anthropic").user("Fix it.")
    for number in range(6):
        run = run.step(thinking(f"plan {number}.", signature="c2ln"), call("read_file", path="a"), result("text"))

    assert chain().process(run.messages(), model=MODEL).edits == ()


def test_redacted_thinking_goes_with_the_rest() -> None:
    run = conversation("anthropic").user("Go.").step(redacted_thinking("c2VjcmV0"), "Done.").user("Again.")
    run = run.step(thinking("plan 1.", signature="c2ln"), "Done again.")

    view = chain().process(run.messages(), model=MODEL)

    assert view.messages[1] == {"role": "assistant", "content": [{"type": "text", "text": "Done."}]}


def test_a_message_that_is_nothing_but_thinking_keeps_it() -> None:
    alone = {"role": "assistant", "content": [{"type": "thinking", "thinking": "plan 0.", "signature": "c2ln"}]}
    run = conversation("anthropic").user("Go.").raw(alone).user("Again.")
    run = run.step(thinking("plan 1.", signature="c2ln"), "Done again.")

    view = chain().process(run.messages(), model=MODEL)

    assert view.messages[1]["content"][:1] == alone["content"]
    assert [refusal.rule for refusal in view.refusals] == ["clean_text"]


@pytest.mark.parametrize("beside", [{"type": "text", "text": " "}, {"type": "redacted_thinking", "data": "c2VjcmV0"}])
def test_no_message_is_left_blank_or_with_thinking_at_its_end(beside: dict[str, str]) -> None:
    blocks = [{"type": "thinking", "thinking": "plan 0.", "signature": "c2ln"}, beside]
    run = conversation("anthropic").user("Go.").raw({"role": "assistant", "content": blocks}).user("Again.")
    run = run.step(thinking("plan 1.", signature="c2ln"), "Done again.")

    view = chain().process(run.messages(), model=MODEL)

    assert view.edits == ()
    assert {refusal.rule for refusal in view.refusals} == {"clean_text"}


@pytest.mark.parametrize(
    ("model", "expected"),
    [
        ("claude-3-5-sonnet-20241022", ["plan 2", "sum 2"]),
        (MODEL, ["plan 2", "sum 2"]),
        ("deepseek-chat", [f"{word} {number}" for number in range(3) for word in ("plan", "sum")]),
        (None, [f"{word} {number}" for number in range(3) for word in ("plan", "sum")]),
    ],
)
def test_thinking_that_the_model_wants_back_stays(model: str | None, expected: list[str]) -> None:
    view = chain().process(turns(3).messages(), model=model)

    assert left(view.messages) == expected


def test_reasoning_items_of_responses_stay_with_what_follows_them() -> None:
    run = turns(3, "responses")
    view = chain().process(run.messages(), dialect=run.dialect, model=MODEL)

    assert view.edits == ()
    assert wire_faults("responses", view.messages) == []


def test_what_is_removed_can_be_recalled() -> None:
    made = chain()
    view = made.process(turns(2).messages(), model=MODEL)
    texts = [elision.recall(edit.ref, page_chars=None, archive=made.opened_archive).text for edit in view.edits]

    assert ["plan 0." in texts[0], "sum 0." in texts[1]] == [True, True]
    assert [(edit.action, edit.operation, edit.chars_before, edit.chars_after) for edit in view.edits] == [
        ("replace", "clear", 7, 0),
        ("replace", "clear", 6, 0),
    ]


def test_it_goes_from_the_oldest_on_and_waits_for_its_schedule() -> None:
    views = sent(chain("schedule: {polling: 4}"), turns(6, "openai", signature="").messages(), model=MODEL)
    stands = [left(view.messages) for view in views]
    all_of_it = [f"{word} {number}" for number in range(6) for word in ("plan", "sum")]

    assert all(found == all_of_it[all_of_it.index(found[0]) :][: len(found)] for found in stands if found)
    assert len({found[0] for found in stands if found}) < 6


def test_a_text_is_followed_into_thinking_that_went() -> None:
    found = elision.trace(chain(), turns(3).messages(), "plan 0.", model=MODEL)
    (place,) = found.places

    assert (found.visible, found.recallable) == (False, True)
    assert place.found_in == "thinking"
    assert place.gone_by is not None
    assert place.gone_by.processor == "clear_thinking"


def test_it_keeps_the_contract() -> None:
    check_processor(elision.processor_types()["clear_thinking"], max_examples=5, schedule="every_step")
