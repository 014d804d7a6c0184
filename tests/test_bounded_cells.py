"""Bounded cells of the table open as a run goes on, in a session and in calls without one alike."""

from __future__ import annotations

import pytest
from table_runs import (
    LONG,
    SKILL,
    begun,
    cleared,
    clearing,
    read,
    refused,
    step_by_step,
    write,
)

import elision
from elision.testing import call, result

WHEN_SUPERSEDED = {"extends": "default", "classes": {"static": {"cells": {"clear": {"when": "superseded"}}}}}


def test_what_is_read_again_later_may_go_and_the_newest_reading_stays() -> None:
    run = begun().step(*read("a")).step(*read("b")).step(*read("a")).step("Done.")
    views = step_by_step(clearing(classification=WHEN_SUPERSEDED), run)

    assert [cleared(view) for view in views] == [[]] * 7 + [["call_1"]] * 2
    assert refused(views[-1]) == {
        "call_2": "class static: clear only once the same resource has been read or written later",
        "call_3": "class static: clear only once the same resource has been read or written later",
    }


def test_what_is_written_later_may_go_and_the_record_of_the_write_stays() -> None:
    run = begun().step(*read("a")).step(*write("a")).step("Done.")
    views = step_by_step(clearing(classification=WHEN_SUPERSEDED), run)

    assert [cleared(view) for view in views[-3:]] == [[], ["call_1"], ["call_1"]]
    assert refused(views[-1]) == {"call_2": "class receipt: clear never"}


def test_a_failed_write_does_not_supersede() -> None:
    run = begun("anthropic").step(*read("a")).step(*write("a", error=True)).step(*read("b")).step("Done.")
    views = step_by_step(clearing(classification=WHEN_SUPERSEDED), run)

    assert [cleared(view) for view in views] == [[]] * len(views)


def test_a_failed_reading_does_not_supersede() -> None:
    failed = (call("read_file", path="a"), result("no such file", error=True))
    run = begun("anthropic").step(*read("a")).step(*failed).step(*read("b")).step("Done.")
    views = step_by_step(clearing(classification=WHEN_SUPERSEDED), run)

    assert [cleared(view) for view in views] == [[]] * len(views)


def test_another_part_of_a_file_supersedes_nothing_and_the_whole_supersedes_every_part() -> None:
    run = begun().step(*read("a", offset=0)).step(*read("a", offset=100)).step(*read("a", offset=0)).step(*read("a"))
    views = step_by_step(clearing(classification=WHEN_SUPERSEDED), run.step("Done."))

    assert [cleared(view) for view in views[3::2]] == [[], [], ["call_1"], ["call_1", "call_2", "call_3"]]


@pytest.mark.parametrize("other", ["./a", "src/../a", "/repo/a"])
def test_another_name_of_a_file_is_never_worse_than_another_file(other: str) -> None:
    run = begun().step(*read("a")).step(*read(other)).step(*read("b")).step("Done.")
    view = clearing(classification=WHEN_SUPERSEDED).process(run.messages())

    assert "call_2" not in cleared(view)


def test_results_of_one_batch_are_superseded_by_the_later_of_them() -> None:
    both = (call("read_file", path="a"), call("write_file", path="a"))
    run = begun().step(*both, result(LONG), result("written")).step(*read("b")).step("Done.")
    views = step_by_step(clearing(classification=WHEN_SUPERSEDED), run)

    assert cleared(views[-1]) == ["call_1"]


def test_an_error_stays_until_the_same_call_succeeds_and_then_goes_like_its_call() -> None:
    failed = (call("read_file", path="a"), result(LONG, error=True))
    run = begun("anthropic").step(*failed).step(*read("b")).step(*failed).step(*read("a")).step("Done.")
    views = step_by_step(clearing(), run)

    assert [cleared(view) for view in views[2::2]] == [[], [], ["call_2"], ["call_2", "call_1", "call_3"]]
    assert set(refused(views[4])) == {"call_1"}


def test_a_resolved_write_stays_a_receipt() -> None:
    run = begun("anthropic").step(*write("a", error=True)).step(*write("a")).step(*read("b")).step("Done.")
    view = clearing().process(run.messages(), dialect="anthropic")

    assert cleared(view) == ["call_3"]
    assert refused(view) == {"call_1": "class receipt: clear never", "call_2": "class receipt: clear never"}


def test_what_a_class_keeps_for_some_steps_goes_when_it_is_older() -> None:
    table = {"extends": "default", "classes": {"static": {"cells": {"clear": {"after_steps": 2}}}}}
    run = begun().step(*read("a")).step(*read("b")).step(*read("c")).step(*read("d")).step("Done.")
    views = step_by_step(clearing(classification=table), run)

    assert [cleared(view) for view in views[3::2]] == [[], [], ["call_1"], ["call_1", "call_2"]]
    assert refused(views[-1]) == {"call_4": "class static: clear only after 2 steps; this is 1 step old"}


def test_exempt_content_still_costs_per_class_budgets_when_several_skills_together_exceed_the_window() -> None:
    """The newest skills stay word for word; older ones become placeholders with version and how to reload them."""
    table = {"extends": "default", "classes": {"skill": {"cells": {"clear": {"max_tokens": 400}}}}}
    run = begun()
    for name in "abcd":
        run = run.step(call("read_file", path=f"skills/{name}/SKILL.md"), result(f"{name}: {SKILL}"))
    views = step_by_step(clearing(classification=table), run.step("Done."))
    results = [message["content"] for message in views[-1].messages if message["role"] == "tool"]

    assert [cleared(view) for view in views[3::2]] == [[], [], ["call_1"], ["call_1", "call_2"]]
    assert results[2:] == [f"{name}: {SKILL}" for name in "cd"]
    for text, edit in zip(results[:2], views[-1].edits, strict=True):
        assert f'version "{edit.ref}"; call it again to reload it' in text


def test_the_budget_of_a_class_counts_each_class_for_itself() -> None:
    table = {"extends": "default", "classes": {"skill": {"cells": {"clear": {"max_tokens": 400}}}}}
    run = begun().step(call("read_file", path="skills/a/SKILL.md"), result(SKILL))
    for name in "bcdef":
        run = run.step(*read(name))
    view = clearing(classification=table).process(run.step("Done.").messages())

    assert "call_1" not in cleared(view)


def test_what_was_refused_and_is_made_later_is_no_longer_reported_as_refused() -> None:
    run = begun().step(*read("a")).step(*read("b")).step(*read("a")).step("Done.")
    with clearing(classification=WHEN_SUPERSEDED).session("run") as session:
        views = [session.process(run.messages()[:stop]) for stop in range(1, len(run.messages()) + 1)]
    both = {edit.call_id for edit in views[-1].edits} & {each.call_id for each in views[-1].refusals}

    assert both == set()


@pytest.mark.parametrize("processor", ["clear_tool_results, keep: 0", "recent_steps, keep_last_steps: 1", "supersede"])
@pytest.mark.parametrize(
    ("table", "tool"),
    [("default", "todo_read"), ("default", "get_todo_list"), ("claude_code", "TaskList"), ("deepagents", "read_todos")],
)
def test_of_the_agents_own_state_the_newest_reading_stays_however_old_it_is(
    processor: str, table: str, tool: str
) -> None:
    chain = elision.loads(
        f"history_processors: [{{type: {processor}}}]\nschedule: every_step\nclassification: {table}", archive="memory:"
    )
    run = begun()
    for number in range(3):
        run = run.step(call(tool), result(f"{number}: [ ] mend the loader\n" * 9))
    for number in range(9):
        run = run.step(*read(f"{number}.py"))
    views = step_by_step(chain, run.step(*read("last.py")))

    assert "2: [ ] mend the loader" in repr(views[-1].messages)
    assert ("1: [ ] mend the loader" in repr(views[-1].messages)) is (processor == "supersede")
