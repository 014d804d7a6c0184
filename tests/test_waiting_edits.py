"""What scheduled processors propose is made in time, whatever kind of edit it is, and is weighed as what it saves."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar, Literal

import pytest
from scheduled_runs import breaks, cleared, reads, sent

import elision
from elision import Chain, ConfigError, Edit, Operation, Polling, Processor, Schedule, Trigger, View, open_archive


class Notes(Processor):
    """Tags each old result, and notes before its step that it is old."""

    operation: ClassVar[Operation] = "clear"
    scheduled: ClassVar[bool] = True

    type: Literal["notes"] = "notes"
    tags: bool = False

    def plan(self, view: View) -> Iterator[Edit]:
        for observation in view.older_observations(1):
            if self.tags:
                yield view.tag(observation, "old")
            else:
                position = observation.address.position
                yield view.insert(f"Result {position} is old.", before=view.message(position - 1))


class Wordy(Processor):
    """Puts words in the place of results that have as many characters, and more tokens."""

    operation: ClassVar[Operation] = "clear"
    scheduled: ClassVar[bool] = True

    type: Literal["wordy"] = "wordy"

    def plan(self, view: View) -> Iterator[Edit]:
        for observation in view.older_observations(1):
            yield observation.replace("q7 Zx;" * (len(observation.text) // 6), reason="wordy")


def chain(*processors: Processor, schedule: Schedule) -> Chain:
    return Chain(processors, schedule=schedule, classification=None, archive=open_archive("memory:", environ={}))


def built_in(written: str) -> tuple[Processor, ...]:
    return tuple(elision.loads(f"history_processors: [{written}]").processors)


@pytest.mark.parametrize("schedule", ["break_even", Polling(polling=3)])
def test_tags_of_a_scheduled_processor_are_made_at_once(schedule: Schedule) -> None:
    views = sent(chain(Notes(tags=True), schedule=schedule), reads(*[100] * 5).messages())
    tagged = [len([edit for edit in view.edits if edit.action == "tag"]) for view in views]

    assert tagged == [0, 0, 1, 2, 3, 4]


def test_messages_that_a_scheduled_processor_inserts_wait_and_are_made() -> None:
    views = sent(chain(Notes(), schedule=Polling(polling=3)), reads(*[100] * 5).messages())
    said = [[message["content"] for message in view.messages if message["role"] == "user"][1:] for view in views]
    made = [f"Result {position} is old." for position in (2, 4, 6)]

    assert said == [[], [], [], [], made, made]


def test_a_step_that_goes_whole_and_its_result_that_goes_too_are_saved_once() -> None:
    drops = "{type: recent_steps, keep_last_steps: 2, keep_first_steps: 0}"
    both = built_in(f"{drops}, {{type: clear_tool_results, keep: 2}}")
    messages = reads(*[1000] * 4).messages()
    least = {size: breaks(sent(chain(*both, schedule=gate(size)), messages)) for size in (1900, 2200)}

    assert least == {1900: [4], 2200: []}


def gate(tokens: int) -> Trigger:
    return Trigger(trigger_share=0.0001, clear_at_least_tokens=tokens)


def test_an_edit_that_would_save_no_tokens_is_refused_where_tokens_are_counted() -> None:
    views = sent(chain(Wordy(), schedule="break_even"), reads(*[100] * 4).messages())
    refused = {(refusal.rule, refusal.reason.split(",")[0]) for refusal in views[-1].refusals}

    assert refused == {("never_grows", "it would save no tokens")}
    assert views[-1].edits == ()


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ("break_evn", "there is no schedule 'break_evn'; did you mean 'break_even'?"),
        ("often", "there is no schedule 'often'; schedules are: break_even, every_step"),
        ({"pollling": 3}, "pollling"),
        (None, "a schedule is a name or a mapping, this is empty"),
        (7, "a schedule is a name or a mapping, this is 7"),
    ],
)
def test_a_chain_that_is_made_in_python_checks_its_schedule(given: object, told: str) -> None:
    with pytest.raises(ConfigError, match=r"^chain: schedule") as wrong:
        Chain([], schedule=given)  # type: ignore[arg-type]

    assert told in str(wrong.value)


def test_a_schedule_may_be_given_as_it_is_written_in_a_file() -> None:
    made = Chain(built_in("{type: clear_tool_results, keep: 1}"), schedule={"polling": 2}, archive="memory:")  # type: ignore[arg-type]

    assert made.schedule == Polling(polling=2)


@pytest.mark.parametrize("order", ["oldest", "newest", "largest", "score"])
@pytest.mark.parametrize("schedule", ["break_even", Polling(polling="auto"), Polling(polling=2), gate(0)])
def test_what_clear_at_most_tokens_leaves_is_left_when_the_view_is_processed_again(
    order: str, schedule: Schedule
) -> None:
    made = chain(
        *built_in(f"{{type: clear_tool_results, keep: 1, clear_at_most_tokens: 300, order: {order}}}"),
        schedule=schedule,
    )
    messages = reads(*[300, 80, 500, 200, 90, 700, 150] * 3).messages()
    for view in sent(made, messages):
        assert made.process(view.messages).messages == view.messages
    assert len(cleared(view)) > 2


def test_a_view_says_how_many_edits_wait_and_for_which_schedule() -> None:
    history = reads(*[400] * 4).messages()
    session = chain(*built_in("{type: clear_tool_results, keep: 1}"), schedule=Polling(polling=9)).session()

    view = session.process(history)

    assert [(each.schedule, each.edits) for each in view.waiting] == [("polling: 9", 3)]
    assert view.note.startswith("nothing is removed yet: 3 edits wait for the schedule polling: 9 (")
    assert session.view is view


def test_what_waits_for_break_even_is_counted_in_tokens() -> None:
    history = reads(*[900] * 5).messages()

    view = chain(*built_in("{type: clear_tool_results, keep: 4}"), schedule="break_even").process(
        history, model="claude-sonnet-4-5"
    )

    (waiting,) = view.waiting
    assert waiting.edits == 1
    assert waiting.tokens > 400
    assert "1 edit waits for the schedule break_even (" in view.note


def test_nothing_waits_once_it_is_made() -> None:
    history = reads(*[400] * 4).messages()

    view = chain(*built_in("{type: clear_tool_results, keep: 1}"), schedule="every_step").process(history)

    assert view.removed
    assert view.waiting == ()
    assert not view.note
