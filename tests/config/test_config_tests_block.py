"""The key ``tests`` of chain files: what is read, what is wrong with it, and what `elision.check` makes of it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

import elision
from elision import CheckReport
from elision.config import lint_file
from elision.testing import call, conversation, result

Lines = Callable[[str], list[str]]
Check = Callable[..., CheckReport]

CHAIN = "history_processors: [{type: last_n_observations, n: 3}]\ntests:\n"


def recorded(shape: Any = "openai") -> list[Any]:
    talk = conversation(shape).system("You mend things.").user("Mend the build.")
    for number in range(5):
        reading = call("read_file", path=f"src/{number}.py", call_id=f"call_{number}")
        talk = talk.step(f"Look {number}.", reading, result(f"text of file {number} " * 20))
    talk = talk.step("Done.", call("write_file", path="src/0.py", call_id="write_0"), result("wrote 40 lines " * 9))
    for number in range(5, 9):
        talk = talk.step(call("read_file", path=f"src/{number}.py", call_id=f"call_{number}"), result("other " * 40))
    return talk.messages()


@pytest.fixture
def check(tmp_path: Path) -> Check:
    """Check a chain that has these tests beside the recorded history ``run.json``."""

    def checked(tests: str, head: str = CHAIN) -> CheckReport:
        (tmp_path / "run.json").write_text(json.dumps(recorded()), encoding="utf-8")
        (tmp_path / "runs.jsonl").write_text(
            "\n".join(json.dumps({"messages": recorded(shape)}) for shape in ("anthropic", "openai")), encoding="utf-8"
        )
        path = tmp_path / "chain.yaml"
        path.write_text(head + dedent(tests), encoding="utf-8")
        return elision.check(elision.load(path))

    return checked


def test_a_test_that_holds_passes(check: Check) -> None:
    report = check("""\
        - history: run.json
          expect:
            kept: [write_0, call_8]
            cleared: [call_0, call_1]
            changed: [call_2]
            contains: ["wrote 40 lines", "Mend the build.", "src/0.py"]
            lacks: ["text of file 0"]
            tokens_below: 1000
    """)

    assert report.problems == ()
    assert [(test.name, test.passed) for test in report.tests] == [("tests[0]", True)]


def test_everything_that_does_not_hold_is_a_line(check: Check, tmp_path: Path) -> None:
    report = check("""\
        - history: run.json
          expect:
            kept: [call_0]
            cleared: [write_0, call_8]
            dropped: [call_1]
            contains: ["text of file 0"]
            lacks: ["You mend things."]
            tokens_below: 10
    """)
    before = f"tests[0] ({tmp_path / 'run.json'}): "

    assert [line.removeprefix(before) for line in report.problems] == [
        "call_0: expected to be kept, but it is cleared (by last_n_observations)",
        (
            "write_0: expected to be cleared, but it is kept (class_allows refused last_n_observations: "
            "class receipt: clear never)"
        ),
        "call_8: expected to be cleared, but it is kept",
        "call_1: expected to be dropped, but it is cleared (by last_n_observations)",
        "contains: 'text of file 0' is not in what is sent",
        "lacks: 'You mend things.' is in what is sent",
        report.problems[-1].removeprefix(before),
    ]
    assert report.problems[-1].endswith("; expected fewer than 10")


def test_a_call_that_is_not_in_the_history_names_the_nearest_one(check: Check) -> None:
    report = check("- {history: run.json, expect: {kept: [wrote_0], cleared: [zzz]}}")

    assert [line.partition("run.json): ")[2] for line in report.problems] == [
        "kept: there is no call 'wrote_0' in this history; did you mean 'write_0'?",
        (
            "cleared: there is no call 'zzz' in this history; calls: call_0, call_1, call_2, call_3, call_4, call_5, "
            "call_6, call_7, call_8, write_0; correct it"
        ),
    ]


def test_a_run_and_a_dialect_can_be_chosen(check: Check) -> None:
    report = check("""\
        - {history: runs.jsonl, run: 0, from: anthropic, expect: {cleared: [call_0]}}
        - {history: runs.jsonl, run: 1, model: gpt-4o, expect: {kept: [call_8]}}
    """)

    assert [test.passed for test in report.tests] == [True, True]


@pytest.mark.parametrize(
    ("entry", "told"),
    [
        ("history: runs.jsonl", "it has 2 runs; say which one with 'run: 0' to 'run: 1'"),
        ("history: runs.jsonl, run: 7", "there is no run 7; it has 2, counted from 0"),
        ("history: .", "this is a folder; name a file in it"),
        ("history: chain.yaml", "not JSON (line 1, column 1: Expecting value); give a history as JSON or JSON Lines"),
        ("history: gone.json", "No such file or directory; name a readable file"),
    ],
)
def test_a_history_that_cannot_be_used_fails_its_test(check: Check, entry: str, told: str) -> None:
    report = check(f"- {{{entry}, expect: {{lacks: [x]}}}}")

    assert [line for line in report.problems if line.endswith(told)] == list(report.problems)
    assert len(report.problems) == 1


def test_a_history_is_found_from_the_folder_of_the_chain_file(
    check: Check, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")

    assert check("- {history: run.json, expect: {kept: [write_0]}}").passed


def test_a_history_that_is_not_there_is_a_warning_so_that_the_chain_can_be_used_without_it(tmp_path: Path) -> None:
    path = tmp_path / "chain.yaml"
    path.write_text(CHAIN + "  - {history: gone.json, expect: {kept: [a]}}\n", encoding="utf-8")

    assert elision.load(path).process([{"role": "user", "content": "Go."}]).messages
    (problem,) = lint_file(path)
    assert str(problem) == (
        f"{path}:3:15: tests[0].history: warning: there is no file 'gone.json', so this test fails; "
        "correct the path, or remove the test"
    )


def test_what_is_wrong_with_tests_is_said_where_it_is_written(problems: Lines) -> None:
    lines = problems("""\
        history_processors: []
        tests:
          - {histry: x.json, expect: {kep: [a]}}
          - {history: pyproject.toml, expect: {}}
          - {history: pyproject.toml, run: -1, expect: {kept: 5, tokens_below: 0}}
          - {history: pyproject.toml, from: opnai, expect: {lacks: [a]}}
          - just text
          - {history: pyproject.toml}
    """)

    assert lines == [
        "chain.yaml:3:5: tests[0]: a test needs the option 'history'; add 'history: …'",
        "chain.yaml:3:6: tests[0].histry: a test has no option 'histry'; did you mean 'history'?",
        "chain.yaml:3:31: tests[0].expect.kep: expect has no option 'kep'; did you mean 'kept'?",
        (
            "chain.yaml:4:39: tests[1].expect: a test that expects nothing tests nothing; "
            "add 'kept: [call_1]' or 'contains: [text]'"
        ),
        "chain.yaml:5:36: tests[2].run: run is -1; it must be at least 0; correct it or leave it out",
        "chain.yaml:5:55: tests[2].expect.kept: kept is 5; it must be a list; correct it or leave it out",
        (
            "chain.yaml:5:72: tests[2].expect.tokens_below: tokens_below is 0; it must be greater than 0; "
            "correct it or leave it out"
        ),
        "chain.yaml:6:37: tests[3].from: there is no dialect 'opnai'; did you mean 'openai'?",
        "chain.yaml:7:5: tests[4]: a test is a mapping, this is text; write '- history: …'",
        "chain.yaml:8:5: tests[5]: a test needs the option 'expect'; add 'expect: …'",
    ]


def test_tests_are_a_list(problems: Lines) -> None:
    assert problems("history_processors: []\ntests: {history: x.json}") == [
        "chain.yaml:2:8: tests: tests is a mapping; it must be a list; begin each test with '- history:'"
    ]


def test_a_chain_without_tests_has_none() -> None:
    assert elision.loads("history_processors: []\ntests:").tests == ()
