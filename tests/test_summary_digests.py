"""Digests of results: decidable, locatable, reproducible, expirable, or the summary is not used."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError
from summary_runs import BODY, begun, chain, last, reads, summaries

from elision.summaries.digest import Digest
from elision.summaries.wording import exit_code, failing_tests, findings_in, identifiers_in, rules_in
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
