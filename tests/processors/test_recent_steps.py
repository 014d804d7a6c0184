"""``recent_steps``: the first and the newest steps stay, those between are left out as a whole."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from table_runs import LONG, RECEIPT, begun, read, step_by_step

import elision
from elision.testing import Conversation, call, check_processor, result


def chain(options: str, more: str = "") -> elision.Chain:
    return elision.loads(f"history_processors: [{{type: recent_steps, {options}}}]\n{more}")


def run_of(count: int, shape: Any = "openai") -> Conversation:
    run = begun(shape)
    for number in range(1, count + 1):
        run = run.step(*read(f"{number}.py"))
    return run


def left(options: str, run: Conversation, more: str = "") -> list[str]:
    """Return the files whose reads are still in the view."""
    view = chain(options, more).process(run.messages(), dialect=run.dialect)
    text = repr(view.messages)
    return [name for number in range(1, 200) if f'"{(name := f"{number}.py")}' in text]


@pytest.mark.parametrize(
    ("first", "last", "stay"),
    [(1, 2, [1, 7, 8]), (0, 2, [7, 8]), (2, 1, [1, 2, 8]), (3, 5, [1, 2, 3, 4, 5, 6, 7, 8]), (9, 1, [*range(1, 9)])],
)
def test_the_first_and_the_newest_steps_stay(first: int, last: int, stay: list[int]) -> None:
    options = f"keep_first_steps: {first}, keep_last_steps: {last}, schedule: every_step"

    assert left(options, run_of(8)) == [f"{number}.py" for number in stay]


def test_a_step_goes_with_all_its_results_and_what_the_user_said_stays() -> None:
    run = begun().step(*read("1.py"), *read("2.py")).user("Go on.").step(*read("3.py")).step(*read("4.py"))
    view = chain("keep_first_steps: 0, keep_last_steps: 1, schedule: every_step").process(run.messages())

    assert [message["role"] for message in view.messages] == ["system", "user", "user", "assistant", "tool"]


def test_with_max_steps_it_shrinks_to_half_and_then_waits() -> None:
    views = step_by_step(chain("keep_first_steps: 1, max_steps: 8"), run_of(20))
    counts = [sum(message["role"] == "assistant" for message in view.messages) for view in views]

    assert counts[3::2] == [1, 2, 3, 4, 5, 6, 7, 8, 4, 5, 6, 7, 8, 4, 5, 6, 7, 8, 4, 5]


def test_between_two_rounds_each_view_extends_the_one_before() -> None:
    views = [view.messages for view in step_by_step(chain("max_steps: 10, shrink_to: 6"), run_of(30))][3::2]
    breaks = [i for i in range(1, len(views)) if views[i][: len(views[i - 1])] != views[i - 1]]

    assert breaks == [10, 15, 20, 25]


def test_a_step_with_a_receipt_stays_and_is_offered_once(monkeypatch: pytest.MonkeyPatch) -> None:
    offered: list[Any] = []
    made = elision.StepView.drop
    monkeypatch.setattr(elision.StepView, "drop", lambda self, **k: offered.append(1) or made(self, **k))
    run = begun()
    for _ in range(30):
        run = run.step(call("create_issue", title="x"), result(RECEIPT)).step(*read("1.py"))
    view = chain("keep_first_steps: 1, keep_last_steps: 1, schedule: every_step").process(run.messages())
    kept = sum("991" in str(message["content"]) for message in view.messages)

    assert (kept, len(view.edits), len(offered)) == (30, 29, 58)


def test_steps_that_the_table_keeps_do_not_count_for_max_steps() -> None:
    run = begun()
    for number in range(12):
        run = run.step(call("create_issue", title=f"{number}"), result(RECEIPT))
    for number in range(1, 20):
        run = run.step(*read(f"{number}.py"))
    views = step_by_step(chain("max_steps: 6, keep_first_steps: 0"), run)
    rounds = sorted({len(view.edits) for view in views})

    assert rounds == [0, 4, 8, 12, 16]


def test_a_step_that_failed_goes_when_the_same_call_has_succeeded() -> None:
    failed = call("read_file", path="1.py"), result(LONG, error=True)
    run = begun("anthropic").step(*failed).step(*read("2.py")).step(*read("3.py"))
    options = "keep_first_steps: 0, keep_last_steps: 1, schedule: every_step"

    assert left(options, run) == []
    assert [each.position for each in chain(options).process(run.messages()).edits] == [3]
    again = run.step(*read("1.py")).step(*read("4.py"))
    assert [each.position for each in chain(options).process(again.messages()).edits] == [3, 1, 5, 7]


def test_the_step_after_one_that_lacks_its_result_stays_where_results_are_told_by_their_place() -> None:
    run = begun("miniswe_text").step(call("bash", command="make"))
    for number in range(1, 5):
        run = run.step(*read(f"{number}.py"))
    options = "keep_first_steps: 0, keep_last_steps: 1, schedule: every_step"
    view = chain(options, "classification: none").process(run.messages())

    assert {each.rule for each in view.refusals} == {"newest_step_stays", "missing_stays_missing"}
    assert len(view.edits) == 2


def test_what_was_dropped_can_be_recalled() -> None:
    archive = elision.open_archive("memory:", environ={})
    recent = elision.processor_types()["recent_steps"](keep_first_steps=0, keep_last_steps=1, schedule="every_step")
    run = run_of(2)
    view = elision.Chain([recent], archive=archive).process(run.messages())
    (edit,) = view.edits

    assert LONG.splitlines()[0] in elision.recall(edit.ref, archive=archive).text


def test_steps_wait_for_the_schedule_of_the_chain() -> None:
    views = step_by_step(chain("keep_last_steps: 2", "schedule: {polling: 5}"), run_of(14))
    rounds = sorted({len(view.edits) for view in views})

    assert rounds[0] == 0
    assert min(after - before for before, after in pairwise(rounds)) >= 2


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ("shrink_to: 4", "shrink_to needs max_steps; add it, or write keep_last_steps"),
        (
            "max_steps: 9, keep_last_steps: 3",
            "keep_last_steps and max_steps exclude each other; write shrink_to instead",
        ),
        (
            "max_steps: 9, shrink_to: 10",
            "shrink_to (10) has to be more than keep_first_steps (1) and at most max_steps (9)",
        ),
        ("max_steps: 2", "shrink_to (1) has to be more than keep_first_steps (1) and at most max_steps (2)"),
    ],
)
def test_options_that_contradict_each_other_do_not_load(options: str, told: str) -> None:
    with pytest.raises(elision.ConfigError) as caught:
        chain(options)

    assert told in str(caught.value)


@pytest.mark.parametrize("options", [{"keep_first_steps": 0, "keep_last_steps": 1}, {"max_steps": 4}])
def test_it_keeps_the_contract(options: dict[str, int]) -> None:
    check_processor(elision.processor_types()["recent_steps"], max_examples=5, **options, schedule="every_step")
