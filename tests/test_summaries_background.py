"""Summaries in the background: requests go on while a model is asked, and a later one puts the summary in."""

from __future__ import annotations

import os
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import pytest
import summary_models
from hypothesis import given, settings
from hypothesis import strategies as st
from summary_runs import BODY, begun, chain, loaded, reads, summaries, texts

import elision
from elision import Chain, SentView
from elision.testing import call, result

ASKING = "trigger_steps: 8, keep_last_steps: 2, summarizer: call, background: true, target: 'summary_models:{}'"
DUE = 18
"""Messages of a run of :func:`reads` at which a summary is due: system, task, and eight steps."""


@pytest.fixture(autouse=True)
def _no_calls() -> Any:
    summary_models.forget()
    yield
    summary_models.forget()


def run(steps: int = 14) -> list[Any]:
    return reads(begun(), 1, steps).messages()


def steps_in(view: SentView) -> list[int]:
    return [number for number in range(1, 20) if f"I read {number}.py." in texts(view)]


def test_the_request_that_triggers_it_goes_on_and_a_later_one_puts_it_in_for_the_same_steps() -> None:
    messages = run()
    with chain(ASKING.format("held")).session() as session:
        before = [session.process(messages[:stop]) for stop in range(2, DUE + 5, 2)]
        summary_models.answers()
        after = session.process(messages[: DUE + 6])

    assert all(view.messages == list(view.history) for view in before)
    assert summaries(after)[0].startswith("[Summary of steps 2-6")
    assert steps_in(after) == [1, 7, 8, 9, 10, 11]
    assert len(summary_models.CALLS) == 1


def test_a_stateless_process_with_the_same_archive_has_the_same_view_and_asks_nobody(tmp_path: Path) -> None:
    messages = run()
    given = {"archive": str(tmp_path / "archive")}
    with chain(ASKING.format("held"), **given).session() as session:
        for stop in range(2, DUE + 3, 2):
            session.process(messages[:stop])
        summary_models.answers()
        views = [session.process(messages[:stop]) for stop in range(DUE + 4, DUE + 9, 2)]
    fresh = [chain(ASKING.format("held"), **given).process(messages[:stop]) for stop in range(DUE + 4, DUE + 9, 2)]

    assert [view.messages for view in fresh] == [view.messages for view in views]
    assert all(summaries(view) for view in views)
    assert len(summary_models.CALLS) == 1


def test_where_nobody_keeps_a_session_it_is_asked_for_at_once() -> None:
    view = chain(ASKING.format("good")).process(run())

    assert len(summaries(view)) == 1
    assert len(summary_models.CALLS) == 1


def test_after_a_crash_it_is_asked_for_again_and_comes_for_the_same_steps(tmp_path: Path) -> None:
    messages = run()
    given = {"archive": str(tmp_path / "archive")}
    crashed = chain(ASKING.format("held"), **given).session()
    for stop in range(2, DUE + 1, 2):
        crashed.process(messages[:stop])
    with chain(ASKING.format("held"), **given).session() as session:
        first = session.process(messages[: DUE + 4])
        summary_models.answers()
        view = session.process(messages[: DUE + 6])

    assert first.messages == messages[: DUE + 4]
    assert summaries(view)[0].startswith("[Summary of steps 2-6")


@pytest.mark.parametrize("model", ["held_and_failing", "held_and_too_long"])
def test_two_useless_runs_stop_it(model: str) -> None:
    messages = run()
    made = chain(ASKING.format(model))
    told = []
    with made.session() as session, warnings.catch_warnings():
        warnings.simplefilter("ignore", elision.ElisionWarning)
        for stop in range(2, len(messages) + 1, 2):
            view = session.process(messages[:stop])
            told.append(len(view.failures))
            summary_models.answers()

            assert view.messages == messages[:stop]
        fresh = made.process(messages)

    assert len(summary_models.CALLS) == (2 if model == "held_and_failing" else 4)
    assert told == [0] * 9 + [1] * 2 + [2] * 4
    assert "after 2 useless runs it is not tried again" in view.failures[-1].error
    assert [each.error for each in fresh.failures] == [each.error for each in view.failures]


def test_the_end_of_a_session_lets_go_of_what_is_being_asked() -> None:
    made = chain(ASKING.format("held_and_too_long"))
    with made.session() as session:
        session.process(run()[:DUE])
        summary_models.asked()
    summary_models.answers()

    assert len(summary_models.CALLS) == 1


def test_the_answer_that_a_session_did_not_wait_for_is_not_taken_in() -> None:
    made = chain(ASKING.format("held"))
    with made.session() as session:
        session.process(run()[:DUE])
        summary_models.asked()
    summary_models.answers()
    with made.session() as session:
        view = session.process(run()[: DUE + 2])
        summary_models.asked()

    assert summaries(view) == []
    assert len(summary_models.CALLS) == 2


def test_a_process_that_ends_while_a_model_is_asked_does_not_hang() -> None:
    script = (
        "from test_summaries_background import ASKING, DUE, run\nfrom summary_runs import chain\n"
        "session = chain(ASKING.format('held') + ', timeout_seconds: 3000').session()\n"
        "print(len(session.process(run()[:DUE]).messages))"
    )
    here = Path(__file__).parent
    path = os.pathsep.join([str(here.parent), str(here)])
    done = subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True,
        text=True,
        check=False,
        timeout=50,
        env={**os.environ, "PYTHONPATH": path},
    )

    assert (done.returncode, done.stdout.strip(), done.stderr) == (0, str(DUE), "")


def test_a_budget_is_kept_while_a_summary_is_being_made() -> None:
    made = loaded(f"[{{type: summarize, {ASKING.format('held')}}}, {{type: budget, max_tokens: 3000}}]")
    with made.session() as session:
        view = session.process(run())
        summary_models.asked()

    assert len(summary_models.CALLS) == 1
    assert 0 < view.tokens.after <= 3000 < view.tokens.before


def test_steps_that_the_host_has_rewritten_meanwhile_are_not_replaced_by_what_was_said_of_the_old_ones() -> None:
    messages = run()
    other = reads(begun(), 1, 4).step("I read 5.py.", call("read_file", path="src/5.py"), result(f"other\n{BODY}"))
    rewritten = reads(other, 6, 14).messages()
    with chain(ASKING.format("held")).session() as session:
        session.process(messages[:DUE])
        summary_models.answers()
        view = session.process(rewritten[: DUE + 2])
        back = session.process(messages[: DUE + 2])

    assert view.messages == rewritten[: DUE + 2]
    assert "answer 1" in summaries(back)[0]


def test_one_model_is_asked_at_a_time() -> None:
    asking = ASKING.format("held")
    made = loaded(f"[{{type: summarize, {asking}}}, {{type: summarize, {asking}, prompt: 'In short {{{{ first }}}}'}}]")
    with made.session() as session:
        for stop in (DUE, DUE + 2, DUE + 4):
            session.process(run()[:stop])
        summary_models.asked()

    assert len(summary_models.CALLS) == 1


def test_a_probe_is_asked_in_the_background_too() -> None:
    messages = run()
    with chain(ASKING.format("held_and_forgetful") + ", probe: true").session() as session:
        views = []
        for stop in range(DUE, DUE + 9, 2):
            views.append(session.process(messages[:stop]))
            summary_models.answers()

    assert [len(summaries(view)) for view in views] == [0, 0, 1, 1, 1]
    assert summaries(views[2])[0].rsplit("Word for word:\n", 1)[1] == "- 2.py"


def test_steps_of_which_one_may_not_go_any_longer_stay() -> None:
    """Another processor has taken one of them out meanwhile: what was asked for is about other steps."""
    made = loaded(
        f"[{{type: summarize, {ASKING.format('held')}}}, "
        "{type: recent_steps, keep_last_steps: 8, keep_first_steps: 1, schedule: every_step}]"
    )
    messages = run()
    with made.session() as session:
        for stop in range(2, 27, 2):
            session.process(messages[:stop])
        summary_models.answers()
        view = session.process(messages)

    assert summaries(view) == []
    assert made.process(messages).messages == view.messages


def test_what_is_asked_anew_about_an_earlier_step_is_as_it_was_sent() -> None:
    messages = run()
    made = chain(ASKING.format("held"))
    with made.session() as session:
        views = [session.process(messages[:stop]) for stop in range(2, DUE + 5, 2)]
        summary_models.answers()
        after = session.process(messages)
    again = [made.process(messages[:stop]) for stop in range(2, DUE + 5, 2)]

    assert [view.messages for view in again] == [view.messages for view in views]
    assert made.process(messages).messages == after.messages
    assert summaries(after)


def test_a_branch_has_its_own_place_for_the_same_summary() -> None:
    trunk, branch = run(), [*run()[: DUE + 2], *reads(begun(), 15, 19).messages()[2:]]
    made = chain(ASKING.format("held"))
    with made.session() as session:
        for stop in range(2, DUE + 7, 2):
            session.process(trunk[:stop])
        summary_models.answers()
        kept = session.process(trunk)
        first = session.process(branch[: DUE + 4])
        other = session.process(branch)

    assert summaries(first) == []
    assert summaries(other) == summaries(kept)
    assert made.process(branch).messages == other.messages
    assert made.process(trunk).messages == kept.messages


@settings(max_examples=25)
@given(st.lists(st.sampled_from(["first", "second", "answer"]), min_size=30, max_size=60))
def test_two_sessions_on_one_archive_agree_whoever_is_answered_first(events: list[str]) -> None:
    summary_models.forget()
    made = loaded(f"[{{type: summarize, {ASKING.format('held')}}}, {{type: task_notes}}]")
    messages = run(18)
    sessions = {"first": made.session(), "second": made.session()}
    stops = dict.fromkeys(sessions, 2)
    for event in events:
        if event == "answer":
            summary_models.answers()
        else:
            sessions[event].process(messages[: stops[event]])
            stops[event] = min(stops[event] + 2, len(messages) - 2)
    summary_models.answers()
    views = [sessions[name].process(messages) for name in ("first", "second", "first")]
    fresh = made.session().process(messages)

    assert views[2].messages == views[1].messages == fresh.messages


@settings(max_examples=25)
@given(
    st.lists(st.booleans(), min_size=26, max_size=26),
    st.sampled_from(["held", "held_and_failing", "held_and_forgetful"]),
    st.integers(0, 25),
)
def test_whenever_answers_come_a_fresh_fold_and_a_restarted_session_agree(
    comes: list[bool], model: str, restart: int
) -> None:
    summary_models.forget()
    asking = (
        "trigger_steps: 6, keep_last_steps: 2, max_tokens: 300, max_total_tokens: 700, summarizer: call, "
        f"background: true, target: 'summary_models:{model}'"
    )
    probe = ", probe: true" if model == "held_and_forgetful" else ""
    made: Chain = loaded(
        "[{type: clear_tool_results, keep: 3, schedule: {polling: 3}}, "
        f"{{type: summarize, {asking}{probe}}}, {{type: task_notes}}]"
    )
    messages = run(25)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", elision.ElisionWarning)
        session = made.session()
        for number, come in enumerate(comes):
            view = session.process(messages[: 2 + 2 * number])
            if come:
                summary_models.answers()
            if number == restart:
                session = made.session()
        again = session.process(messages)
        restarted = made.session().process(messages)

        assert again.messages == view.messages
        assert restarted.messages == view.messages
