"""What the people who asked for summaries expect of them, each check under its own words."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import summary_models
from summary_runs import BODY, CONSTRAINT, begun, chain, last, loaded, reads, seen, sent, summaries, texts
from wire_rules import wire_faults

import elision
from elision.testing import Conversation, call, result

ASKING = "trigger_steps: 8, keep_last_steps: 2, summarizer: call, target: 'summary_models:{}', timeout_seconds: 0.05"
EXCEPTION = "You may touch the release branch once, for tag v2.1 only."


@pytest.fixture(autouse=True)
def _no_calls() -> Any:
    summary_models.CALLS.clear()
    yield
    summary_models.HELD.set()
    summary_models.HELD.clear()


def in_one_session(made: elision.Chain, messages: list[Any]) -> list[elision.SentView]:
    with made.session() as session:
        return [session.process(messages[:stop]) for stop in range(2, len(messages) + 1, 2)]


@pytest.mark.parametrize(
    ("model", "told", "calls"),
    [
        ("raising", "raised RuntimeError: the model is away", 2),
        ("empty", "gave nothing", 2),
        ("blank", "gave nothing", 2),
        ("wordy", "what summary_models:wordy gave has 40000 tokens, no fewer than what it would stand for", 2),
        ("endless", "what summary_models:endless gave has 200000 tokens, no fewer than what it would stand for", 2),
        ("late", "took more than 0.05 seconds", 2),
        ("too_long", "maximum context length", 4),
    ],
)
def test_a_model_that_fails_returns_nothing_returns_more_takes_too_long_or_rejects_the_request_as_too_long(
    model: str, told: str, calls: int
) -> None:
    run = reads(begun(), 1, 20)
    messages = run.messages()
    made = chain(ASKING.format(model))
    with pytest.warns(elision.ElisionWarning, match=told):
        views = in_one_session(made, messages)
    view = views[-1]

    assert all(each.messages == list(each.history) for each in views)
    assert len(summary_models.CALLS) == calls
    assert any("after 2 useless runs it is not tried again" in failure.error for failure in view.failures)


def test_a_fresh_process_never_asks_again_and_has_the_same_view(tmp_path: Path) -> None:
    run = reads(begun(), 1, 12).messages()
    options, path = ASKING.format("good"), str(tmp_path / "archive")
    first = chain(options, archive=path).process(run)
    asked = len(summary_models.CALLS)
    again = chain(options, archive=path).process(run)

    assert (asked, len(summary_models.CALLS)) == (1, 1)
    assert again.messages == first.messages
    assert summaries(first)


def test_a_failure_is_not_asked_for_again_after_a_restart_either(tmp_path: Path) -> None:
    run = reads(begun(), 1, 12).messages()
    for _ in range(2):
        with pytest.warns(elision.ElisionWarning, match="the model is away"):
            view = chain(ASKING.format("raising"), archive=str(tmp_path / "archive")).process(run)

    assert (len(summary_models.CALLS), view.messages) == (2, run)


def test_a_request_that_is_too_long_is_tried_once_more_and_strictly_smaller() -> None:
    view = last(chain(ASKING.format("long_once") + ", max_input_tokens: 2000"), reads(begun(), 1, 9, BODY * 9))
    first, second = summary_models.CALLS

    assert summaries(view)
    assert len(second) < len(first)


@pytest.mark.parametrize("fact", ["2026-03-02 04:05", "1,237 rows", "the ninth shard is colder"])
def test_a_fact_that_only_stands_in_step_3s_result_asked_for_after_a_forced_summary(fact: str) -> None:
    run = reads(begun(), 1, 2).step(call("read_file", path="report.txt"), result(f"{BODY}loaded {fact} in all\n{BODY}"))
    made = chain("trigger_steps: 8, keep_first_steps: 0, keep_last_steps: 2")
    view = last(made, reads(run, 4, 9))
    (text,) = summaries(view)
    line = next(line for line in text.splitlines() if "report.txt" in line)
    ref = line.rsplit("ref ", 1)[1]
    found = elision.recall(ref, archive=made.opened_archive, grep=fact.split(maxsplit=1)[0])

    assert fact not in "".join(each for each in texts(view) if each != text)
    assert fact in text or fact in found.text
    assert fact in json.dumps(made.opened_archive.get(ref).content)


def long_run() -> Conversation:
    run = reads(begun(), 1, 3).step(call("create_issue", title="slow loader"), result("Issue 991-A was created"))
    run = run.step(
        "I must not rename load_all, since 3 callers use it.", call("read_file", path="use.py"), result(BODY)
    )
    return reads(reads(run, 6, 12).user(EXCEPTION), 13, 40)


@pytest.mark.parametrize("more", ["", ", max_tokens: 500, max_total_tokens: 900"])
def test_a_constraint_an_exception_a_receipt_id_and_a_negation_survive_three_successive_summaries_word_for_word(
    more: str,
) -> None:
    views = sent(chain(f"trigger_steps: 9, keep_last_steps: 2{more}"), long_run())
    rounds = [view for before, view in pairwise(views) if summaries(before) != summaries(view)]

    assert len(rounds) >= 3
    for view in rounds[2:]:
        found = texts(view)
        assert any(CONSTRAINT in text for text in found)
        assert EXCEPTION in found
        assert "Issue 991-A was created" in found
        assert any("I must not rename load_all, since 3 callers use it." in text for text in found)


def test_always_from_the_originals_also_where_one_summary_takes_the_place_of_others() -> None:
    view = last(chain("trigger_steps: 9, keep_last_steps: 2, max_tokens: 500, max_total_tokens: 900"), long_run())
    merged = summaries(view)[0]

    assert merged.count("[Summary of steps") == 1
    assert "I must not rename load_all" in merged


def test_stop_and_resume_after_a_summary(tmp_path: Path) -> None:
    run, path = long_run().messages(), str(tmp_path / "archive")
    made = chain("trigger_steps: 9, keep_last_steps: 2", archive=path)
    with made.session("run") as session:
        for stop in range(2, 41, 2):
            before = session.process(run[:stop])
    resumed = chain("trigger_steps: 9, keep_last_steps: 2", archive=path)
    with resumed.session("run") as session:
        again = session.process(run[:40])
        after = session.process(run)

    assert summaries(before)
    assert again.messages == before.messages
    assert after.messages == made.process(run).messages


def test_two_stage_clear_then_summarise_keeps_receipts_and_pairs() -> None:
    made = loaded(
        "[{type: clear_tool_results, keep: 3, schedule: {polling: 3}}, "
        "{type: summarize, trigger_steps: 9, keep_last_steps: 2}]"
    )
    view = last(made, long_run())

    assert "Issue 991-A was created" in texts(view)
    assert wire_faults("openai", view.messages) == []


def test_kill_during_a_summary_after_restart_the_view_is_valid_and_nothing_is_lost(tmp_path: Path) -> None:
    script = Path(__file__).parent / "killed_summaries.py"
    done = subprocess.run(
        [sys.executable, str(script), str(tmp_path), "6", "7"],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(Path(__file__).parents[1]), str(script.parent)])},
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout.splitlines()[-1])

    assert found == {"lost": [], "unlike": [], "problems": [], "without": []}


def test_nothing_of_a_summary_stands_while_the_archive_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    run = reads(begun(), 1, 10).messages()
    made = chain("trigger_steps: 8, keep_last_steps: 2")
    archive = made.opened_archive
    stored = type(archive).put_all

    def full(*_: Any, **__: Any) -> Any:
        raise elision.ArchiveError("the disk is full")

    with made.session() as session:
        monkeypatch.setattr(type(archive), "put_all", full)
        with pytest.warns(elision.ElisionWarning, match="the disk is full"):
            view = session.process(run)
        monkeypatch.setattr(type(archive), "put_all", stored)
        after = session.process(run)

    assert (view.messages, seen(view).count("[Summary of")) == (run, 0)
    assert after.messages == chain("trigger_steps: 8, keep_last_steps: 2").process(run).messages
    assert summaries(after)
