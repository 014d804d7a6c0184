"""Digests of results: decidable, locatable, reproducible, expirable, or the summary is not used."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError
from summary_runs import BODY, begun, chain, last, reads, summaries

from elision import Chain, SentView
from elision.summaries.digest import Digest
from elision.summaries.statements import rules_in
from elision.summaries.wording import exit_code, failing_tests, findings_in, identifiers_in
from elision.testing import call, result

FIT: dict[str, Any] = {
    "step": 3,
    "tool": "bash",
    "call": 'bash(command="make")',
    "status": "error",
    "exit_code": 2,
    "chars": 10,
    "sha256": "a" * 64,
    "ref": "0123456789ab",
    "classes": ("dynamic",),
}


@pytest.mark.parametrize(
    ("gate", "changes"),
    [
        ("decidable", {"exit_code": None, "findings": ()}),
        ("decidable", {"status": "maybe"}),
        ("locatable", {"ref": ""}),
        ("locatable", {"step": -1}),
        ("reproducible", {"call": ""}),
        ("reproducible", {"sha256": "abc"}),
    ],
)
def test_a_digest_that_is_not_decidable_locatable_or_reproducible_is_refused(gate: str, changes: Any) -> None:
    assert Digest(**FIT)

    with pytest.raises(ValidationError):
        Digest(**{**FIT, **changes})


def test_a_digest_without_its_classes_could_not_expire() -> None:
    with pytest.raises(ValidationError, match="classes"):
        Digest(**{name: value for name, value in FIT.items() if name != "classes"})


def test_a_result_that_has_been_read_again_since_is_said_to_be_out_of_date() -> None:
    run = (
        begun()
        .step(call("read_file", path="a.py"), result(BODY))
        .step(call("read_file", path="a.py"), result(f"2{BODY}"))
    )
    (text,) = summaries(last(chain("trigger_steps: 6, keep_first_steps: 0, keep_last_steps: 2"), reads(run, 3, 6)))
    lines = [line for line in text.splitlines() if 'path="a.py"' in line]

    assert ["out of date by now" in line for line in lines] == [True, False]


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("<returncode>1</returncode>\n<output>x</output>", 1),
        ("done\nExit code: 0", 0),
        ("process exited with code 127", 127),
        ("the exit is on the left", None),
    ],
)
def test_exit_codes_are_read_as_tools_write_them(text: str, code: int | None) -> None:
    assert exit_code(text) == code


def test_the_lines_that_tell_most_are_found_in_a_long_log() -> None:
    log = "begin\n" + "noise\n" * 5000 + "ERROR: disk full\n" + "noise\n" * 5000 + "12 passed, 1 failed in 3s"

    assert findings_in(log) == ["begin", "ERROR: disk full", "12 passed, 1 failed in 3s"]


def test_rules_ids_and_failing_tests_are_found_word_for_word() -> None:
    said = "I looked at src/a.py and ABC-123. Never push to main, unless v2 is set! Then commit 1f2e3d4c."

    assert rules_in(said) == ["Never push to main, unless v2 is set!"]
    assert identifiers_in(said) == ["src/a.py", "ABC-123", "1f2e3d4c"]
    assert failing_tests("x\nFAILED tests/test_a.py::test_b - no\n--- FAIL: TestC (0.1s)") == [
        "FAILED tests/test_a.py::test_b",
        "--- FAIL: TestC",
    ]


ALL = "trigger_steps: 6, keep_first_steps: 0, keep_last_steps: 2"
START = 1_780_000_000
"""2026-05-28 20:26:40 UTC."""


def timed(made: Chain, name: str, messages: list[Any]) -> list[SentView]:
    """Send a run step by step, one request an hour, and each time statelessly too."""
    views = []
    with made.session(name) as session:
        for number, stop in enumerate(range(2, len(messages) + 1, 2)):
            views.append(session.process(messages[:stop], now=START + 3600 * number))
            fresh = made.process(messages[:stop], now=START + 3600 * number)

            assert fresh.messages == views[-1].messages
    return views


def test_a_digest_says_when_its_step_was_first_seen_where_the_host_gives_the_time_and_which_session_has_it() -> None:
    view = timed(chain(ALL), "run-42", reads(begun(), 1, 8).messages())[-1]
    (text,) = summaries(view)
    times = [line.split("time ")[1][:20] for line in text.splitlines() if line.startswith("- step") and "time" in line]

    assert times == [f"2026-05-28T{hour}:26:40Z" for hour in (21, 22, 23)] + ["2026-05-29T00:26:40Z"]
    assert text.endswith("; session run-42.")


def test_a_time_of_the_messages_own_comes_before_that() -> None:
    messages = reads(begun(), 1, 8).messages()
    messages[3] = {**messages[3], "timestamp": "2020-02-02T00:00:00Z"}
    (text,) = summaries(timed(chain(ALL), "", messages)[-1])

    assert "time 2020-02-02T00:00:00Z" in text
    assert "time 2026-05-28T22:26:40Z" in text
    assert "session" not in text


def test_who_comes_later_with_other_times_and_another_name_says_the_same(tmp_path: Path) -> None:
    messages, path = reads(begun(), 1, 8).messages(), str(tmp_path / "archive")
    view = timed(chain(ALL, archive=path), "first", messages)[-1]
    made = chain(ALL, archive=path)
    with made.session("second") as session:
        later = session.process(messages, now=START + 999_999)

    assert later.messages == view.messages == made.process(messages).messages


def test_without_a_time_from_the_host_none_is_made_up() -> None:
    with chain(ALL).session("x") as session:
        (text,) = summaries(session.process(reads(begun(), 1, 8).messages()))

    assert "time" not in text.replace("times", "")


@pytest.mark.parametrize(
    ("facts", "told"),
    [
        ({"status": "ok", "exit_code": None, "lines": 1, "chars": 1}, " -> ok; 1 line, 1 char; "),
        ({"status": "ok", "exit_code": 0, "lines": 2, "chars": 12}, " -> ok, exit code 0; 2 lines, 12 chars; "),
        ({"status": "not said", "exit_code": None, "lines": 1, "chars": 9}, '"make"); 1 line, 9 chars; '),
        ({"status": "not said", "exit_code": None, "lines": 0, "chars": 0}, '"make"); empty; '),
    ],
)
def test_a_digest_says_one_of_a_thing_as_one_and_nothing_of_what_nobody_said(facts: Any, told: str) -> None:
    line = Digest(**{**FIT, "findings": ("built",) if facts["chars"] else (), **facts}).line(2)

    assert told in line
    assert "not said" not in line


def test_a_summary_of_one_step_says_so() -> None:
    made = chain("trigger_steps: 3, keep_first_steps: 0, keep_last_steps: 1")
    run = begun().step(call("read_file", path="a.py"), result(BODY))
    (text,) = summaries(last(made, reads(run, 2, 3)))

    assert text.startswith("[Summary of step")
    assert "steps 1-1" not in text
