"""``task_notes``: one message says what has to be known to go on; it changes only when the prefix breaks anyway."""

from __future__ import annotations

from itertools import pairwise, takewhile

import pytest
from summary_runs import BODY, begun, last, loaded, reads, sent, texts

import elision
from elision import SentView
from elision.testing import call, check_processor, result

BOTH = "[{type: summarize, trigger_steps: 9, keep_last_steps: 2}, {type: task_notes}]"
SKILL = "# How we deploy\nOnly on Mondays.\n"


def notes(view: SentView) -> list[str]:
    return [text for text in texts(view) if text.startswith("[Task notes")]


def field(text: str, name: str) -> str:
    """Return what stands under one of the fields."""
    rest = text.split(f"\n{name}", 1)[1].split(":", 1)[1]
    first, *lines = rest.splitlines()
    kept = [first, *takewhile(lambda line: line.startswith("- "), lines)]
    return "\n".join(kept).strip()


def test_task_notes_goal_skills_and_versions_rules_done_written_but_unverified_next_step_and_originals() -> None:
    run = begun().step(call("read_file", path="skills/deploy/SKILL.md"), result(SKILL))
    run = run.step(call("create_issue", title="slow"), result("Issue 991 was created"))
    run = run.step(call("write_file", path="src/a.py"), result("written"))
    run = run.step(call("bash", command="pytest -q"), result("3 passed"))
    run = reads(run.step(call("write_file", path="src/b.py"), result("written")), 1, 9)
    (text,) = notes(last(loaded(BOTH), run))

    assert field(text, "Goal") == "Mend the loader. Never touch the release branch."
    assert field(text, "Skills").startswith("skills/deploy/SKILL.md, version ")
    assert field(text, "Rules") == "- Never touch the release branch."
    assert 'step 2: create_issue(title="slow"): Issue 991 was created' in field(text, "Done")
    assert field(text, "Written but unverified") == "src/b.py"
    assert field(text, "Next step") == "go on from step 13, which is done; there you said: I read 8.py."
    assert "archive" in field(text, "Originals")


def test_there_is_one_message_and_it_changes_only_at_breaks() -> None:
    views = sent(loaded(BOTH), reads(begun(), 1, 30))
    breaks = [
        number
        for number, (before, view) in enumerate(pairwise(views), 1)
        if view.messages[: len(before.messages)] != before.messages
    ]
    changes = [number for number, (before, view) in enumerate(pairwise(views), 1) if notes(before) != notes(view)]

    assert breaks == [9, 15, 21, 27]
    assert changes == breaks
    assert max(len(notes(view)) for view in views) == 1


def test_the_prefix_before_the_break_stands() -> None:
    plain = sent(loaded("[{type: summarize, trigger_steps: 9, keep_last_steps: 2}]"), reads(begun(), 1, 30))
    noted = sent(loaded(BOTH), reads(begun(), 1, 30))

    def common(views: list[SentView]) -> list[int]:
        found = []
        for before, view in pairwise(views):
            pairs = zip(before.messages, view.messages, strict=False)
            found.append(next((at for at, (old, new) in enumerate(pairs) if old != new), -1))
        return found

    assert common(noted) == common(plain)


def test_clearing_is_a_break_too() -> None:
    made = loaded("[{type: clear_tool_results, keep: 2, schedule: {polling: 4}}, {type: task_notes}]")
    views = sent(made, reads(begun(), 1, 12))
    first = next(
        number
        for number, view in enumerate(views)
        if any("chars removed" in text or text.startswith("[read_file") for text in texts(view))
    )

    assert [bool(notes(view)) for view in views[first - 1 : first + 1]] == [False, True]


def test_the_user_changes_a_rule() -> None:
    run = reads(begun(task="Always write in tabs."), 1, 4).user("From now on you must write in spaces.")
    (text,) = notes(last(loaded(BOTH), reads(run, 5, 10)))

    assert field(text, "Rules").splitlines() == ["- Always write in tabs.", "- From now on you must write in spaces."]
    assert "the newer one holds" in text


def test_the_user_cancels_a_request() -> None:
    run = reads(begun(task="Mend the loader."), 1, 4).user("Also rename the module.").step("I rename it soon.")
    run = reads(run.user("Cancel the renaming."), 5, 8)
    (text,) = notes(last(loaded(BOTH), run))

    assert field(text, "Since then the user said").splitlines() == [
        "- Also rename the module.",
        "- Cancel the renaming.",
    ]
    assert "rename" not in field(text, "Next step")


def test_what_the_user_said_last_is_the_next_step_where_nobody_has_answered_it() -> None:
    made = loaded("[{type: recent_steps, keep_last_steps: 2, schedule: every_step}, {type: task_notes}]")
    run = reads(begun(), 1, 5).user("Stop, and mend b.py.").step(call("read_file", path="b.py"), result(BODY))
    (text,) = notes(last(made, run))

    assert field(text, "Next step") == "what the user said last: Stop, and mend b.py."


def test_a_plan_that_has_been_carried_out_does_not_come_back_as_the_next_step() -> None:
    made = loaded("[{type: recent_steps, keep_last_steps: 2, schedule: every_step}, {type: task_notes}]")
    run = begun().step("I will audit the loader.", call("read_file", path="loader.py"), result(BODY))
    run = run.step(call("write_file", path="audit.md"), result("written"))
    for number in range(3):
        run = run.step(call("read_file", path=f"{number}.py"), result(BODY))
    (text,) = notes(last(made, run))

    assert field(text, "Next step") == "go on from step 5; in step 1, which is done, you said: I will audit the loader."
    assert "audit.md" in field(text, "Done")


def test_a_write_that_failed_is_not_listed_as_done() -> None:
    made = loaded("[{type: recent_steps, keep_last_steps: 2, schedule: every_step}, {type: task_notes}]")
    run = begun("anthropic").step(call("write_file", path="a.py"), result("Permission denied", error=True))
    run = run.step(call("bash", command="git commit -m x"), result("nothing to commit\n(exit code: 1)"))
    (text,) = notes(last(made, reads(run, 1, 4)))

    assert field(text, "Done") == "- nothing on record"
    assert field(text, "Written but unverified") == "nothing"


@pytest.mark.parametrize(
    ("printed", "unverified"),
    [
        ("1 failed, 4 passed in 0.3s", "a.py"),
        ("FAILED tests/test_a.py::test_b", "a.py"),
        ("Traceback (most recent call last):\nKeyError: 1", "a.py"),
        ("5 passed, 0 failed in 0.3s", "nothing"),
        ("Success: no issues found", "nothing"),
    ],
)
def test_what_reads_as_failed_verifies_nothing_where_nobody_says_the_status(printed: str, unverified: str) -> None:
    made = loaded("[{type: recent_steps, keep_last_steps: 2, schedule: every_step}, {type: task_notes}]")
    run = begun().step(call("write_file", path="a.py"), result("wrote a.py"))
    run = run.step(call("bash", command="pytest -q"), result(printed))
    (text,) = notes(last(made, reads(run, 1, 4)))

    assert field(text, "Written but unverified") == unverified


def test_without_a_break_there_are_no_notes() -> None:
    run = reads(begun(), 1, 9)

    assert last(loaded("[{type: task_notes}]"), run).messages == run.messages()


def test_processing_what_was_sent_changes_nothing() -> None:
    made = loaded(BOTH)
    for view in sent(made, reads(begun(), 1, 20)):
        assert made.process(view.messages).messages == view.messages


def test_a_template_that_cannot_be_used_is_refused() -> None:
    with pytest.raises((elision.ConfigError, ValueError), match="there is no variable 'nothing'"):
        loaded("[{type: task_notes, template: '{{ nothing }}'}]")


def test_the_contract() -> None:
    check_processor(elision.processor_types()["task_notes"], max_examples=5)
