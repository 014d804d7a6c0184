"""A result without a status that reads as a failure takes the place of no good one."""

from __future__ import annotations

import pytest

import elision
from elision.failed_text import points_back, reads_as_failure
from elision.testing import call, conversation, result

GOOD = "a line of the file, as it was read\n" * 40


@pytest.mark.parametrize(
    "text",
    [
        "Error: cannot open a.py",
        "ERROR: no such table",
        "[ERROR] nothing there",
        "Error while reading a.py",
        "error reading a.py: Permission denied",
        "<error>File does not exist.</error>",
        "<tool_use_error>File does not exist.</tool_use_error>",
        "FileNotFoundError: [Errno 2] No such file or directory: 'a.py'",
        'Traceback (most recent call last):\n  File "x"\nOSError: gone',
        "cat: a.py: No such file or directory",
        "bash: line 1: foo: command not found",
        "ls: cannot access 'x': No such file or directory",
        "fatal: not a git repository",
        '{"error": "not found"}',
        '{"error": {"code": 404}}',
        '{"isError": true, "content": []}',
        "<returncode>1</returncode>\n<output>\n</output>",
        "\n[exit code 2]",
        "Exit code: 127\n",
        "nothing\nCommand exited with code 1",
        "request timed out after 30 s",
        "ENOENT: no such file or directory, open 'a.py'",
        "MCP error -32602: Invalid params",
        "Failed to read file: a.py",
        "Could not find file 'a.py'",
        "The tool execution failed with the following error:\n<error>\nx</error>",
        "The user doesn't want to proceed with this tool use.",
        "[Request interrupted by user for tool use]",
        "File does not exist.",
        "File not found: a.py",
        "Access to this path is denied",
        "404 Not Found",
        "HTTP 403: Forbidden",
        "curl: (6) Could not resolve host: example.org",
        '{"success": false, "message": "no"}',
        '{"code": 404, "message": "none"}',
        "zsh: command not found: foo",
        "nothing\n[The command completed with exit code 1.]",
        "Wall time: 0.1 seconds\nProcess exited with code 2\nOutput:\n",
    ],
)
def test_a_failure_is_read(text: str) -> None:
    assert reads_as_failure(text, query=True)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "class Error:\n    pass",
        "errors.py\nmain.py",
        "Errors are raised by the loader.",
        "def f():\n    raise ValueError('x')",
        "12: Error handling is described below",
        '{"errors": [], "data": 1}',
        '{"error": null, "data": 1}',
        '{"error": "", "data": 1}',
        "<returncode>0</returncode>\n<output>Error: in a log</output>",
        "exit code 0",
        "import sys\nsys.exit(1)",
        "README: how to install",
        "a.py:12: return code of the process",
        "#!/bin/sh\nif true; then\n  exit 1\nfi\nexit 1",
        "int main() {\n    exit(1);\n}",
        "returncode = 1\nprint(returncode)",
        "job:\n  exit_code: 1\n  name: x",
        "exit status 1 means that it failed",
        "[\n exit code 1\n]",
        "a list (\n  exit code 2\n)",
        '{"errors": 0, "warnings": 3}',
        '{"errors": [ ]}',
        "timeout: 30\nretries: 3",
        GOOD,
    ],
)
def test_what_is_no_failure_for_certain_is_none(text: str) -> None:
    assert not reads_as_failure(text, query=True)


def test_tests_that_fail_are_what_is_true_now() -> None:
    assert not reads_as_failure("Traceback (most recent call last):\n...", query=False)
    assert not reads_as_failure("3 failed\n[exit code 1]", query=False)
    assert reads_as_failure("Error: the page cannot be fetched", query=False)


@pytest.mark.parametrize(("tool", "arguments"), [("read_file", {"path": "a.py"}), ("bash", {"command": "cat a.py"})])
def test_a_good_reading_stays_when_it_is_tried_again_in_vain_and_goes_when_it_is_read_again(
    tool: str, arguments: dict[str, str]
) -> None:
    chain = elision.loads("history_processors: [{type: supersede}]\nschedule: every_step", archive="memory:")
    run = conversation().user("Go.").step(call(tool, **arguments), result(f"1 {GOOD}"))
    failed = run.step(call(tool, **arguments), result("cat: a.py: No such file or directory"))
    again = failed.step(call(tool, **arguments), result(f"2 {GOOD}"))

    assert chain.process(failed.step("I see.").messages()).edits == ()
    assert [edit.position for edit in chain.process(again.step("I see.").messages()).edits][:1] == [2]


UNCHANGED = [
    "File unchanged since last read. The earlier result is still current: refer to that instead of re-reading.",
    "[File a.py unchanged since last read]",
    "The file has not been modified since it was last read.",
    "Content unchanged.",
    "Unchanged since the last call.",
    "Not modified since 2026-11-30",
    "304 Not Modified",
    '{"unchanged": true, "path": "a.py"}',
]


@pytest.mark.parametrize("text", UNCHANGED)
def test_what_points_back_at_an_earlier_reading_takes_its_place_not(text: str) -> None:
    history = conversation("openai").user("Go.")
    history = history.step(call("read_file", path="a.py"), result(GOOD)).step(
        call("read_file", path="a.py"), result(text)
    )
    history = history.step(call("ls"), result("a.py"))
    view = elision.loads("{history_processors: [{type: supersede}], schedule: every_step}", archive="memory:").process(
        history.messages()
    )

    assert points_back(text)
    assert view.messages == history.messages()


@pytest.mark.parametrize(
    "text",
    [
        "",
        "x = 1",
        "files: 3 changed",
        "unchanged = True\n",
        "The file is not modified by this tool. " * 20,
        "3040 rows",
    ],
)
def test_what_was_read_does_not_point_back(text: str) -> None:
    assert not points_back(text)


def test_a_later_reading_supersedes_both() -> None:
    history = conversation("openai").user("Go.")
    for content in (GOOD, UNCHANGED[0], GOOD.upper(), "a.py"):
        history = history.step(call("read_file", path="a.py"), result(content))
    history = history.step(call("ls"), result("a.py"))
    view = elision.loads("{history_processors: [{type: supersede}], schedule: every_step}", archive="memory:").process(
        history.messages()
    )

    assert "removed" in view.messages[2]["content"]
