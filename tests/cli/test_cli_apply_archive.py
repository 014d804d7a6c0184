"""``elision apply`` and the archive: originals go where the user says, and ``elision recall`` brings them back."""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from command_line import Run
from forked import Python

Elision = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def elision(tmp_path: Path, python: Python) -> Elision:
    """Run a command in a working directory of its own, with no word about the archive in the environment."""
    folder = tmp_path / "project"
    folder.mkdir()

    def start(*arguments: object, **env: str) -> Any:
        environ = {name: value for name, value in os.environ.items() if name != "ELISION_ARCHIVE"} | env
        return python("-m", "elision", *arguments, cwd=folder, env=environ)

    return start


def ref_in(text: str) -> str:
    return re.findall(r"ref ([0-9a-f]{12})\]", text)[0]


def test_what_apply_removed_is_recalled_from_the_folder_in_the_working_directory(
    elision: Elision, recorded: Path, chain: Path, messages: list[dict[str, Any]], tmp_path: Path
) -> None:
    applied = elision("apply", recorded, "--chain", chain)
    recalled = elision("recall", ref_in(applied.stdout))
    git = (tmp_path / "project" / ".elision" / ".gitignore").read_text(encoding="utf-8")

    assert recalled.stdout == messages[2]["content"]
    assert (recalled.returncode, recalled.stderr) == (0, "")
    assert git.split() == ["*"]


def test_the_option_wins_over_the_environment_and_that_over_the_chain(
    elision: Elision, recorded: Path, chain: Path, tmp_path: Path
) -> None:
    folders = [tmp_path / name for name in ("by_option", "by_environment", "by_chain")]
    chain.write_text(f"{chain.read_text(encoding='utf-8')}archive: {folders[2]}\n", encoding="utf-8")
    asked: list[tuple[tuple[object, ...], dict[str, str]]] = [
        (("--archive", folders[0]), {"ELISION_ARCHIVE": str(folders[1])}),
        ((), {"ELISION_ARCHIVE": str(folders[1])}),
        ((), {}),
    ]
    made = []
    for options, env in asked:
        elision("apply", recorded, "--chain", chain, *options, **env)
        made.append([folder.name for folder in folders if folder.exists()])

    assert made == [["by_option"], ["by_option", "by_environment"], ["by_option", "by_environment", "by_chain"]]
    assert not (tmp_path / "project" / ".elision").exists()


def test_the_output_of_a_view_processed_again_with_the_same_archive_does_not_change(
    run: Run, recorded: Path, chain: Path, tmp_path: Path
) -> None:
    archive = ("--archive", tmp_path / "archive")
    once = run("apply", recorded, "--chain", chain, *archive).stdout
    again = run("apply", "-", "--chain", chain, *archive, stdin=once).stdout

    assert again == once


def test_an_archive_of_no_known_kind_is_one_line(run: Run, recorded: Path, chain: Path) -> None:
    result = run("apply", recorded, "--chain", chain, "--archive", "s4://originals")

    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr.startswith("archive: there is no archive of the kind 's4'; there are: a folder, memory:, none")
    assert result.stderr.count("\n") == 1


def test_an_archive_that_cannot_be_written_is_a_warning_and_everything_is_sent(
    run: Run, recorded: Path, chain: Path, messages: list[dict[str, Any]], tmp_path: Path
) -> None:
    (tmp_path / "taken").write_text("a file", encoding="utf-8")
    result = run("apply", recorded, "--chain", chain, "--archive", tmp_path / "taken")

    assert result.exit_code == 0
    assert json.loads(result.stdout) == messages
    assert result.stderr.startswith(f"warning: {recorded}: run 0: {tmp_path / 'taken'}")
    assert "what it cannot keep stays in the request\n" in result.stderr


def test_without_an_archive_nothing_is_removed_and_a_note_says_why(
    run: Run, recorded: Path, chain: Path, messages: list[dict[str, Any]]
) -> None:
    result = run("apply", recorded, "--chain", chain, "--archive", "none")

    assert json.loads(result.stdout) == messages
    told = "nothing was removed: 4 of 4 refusals are by archived_first, such as: archive: none"
    assert f"note: {recorded}: run 0: {told}" in result.stderr


def test_unknown_results_are_named_in_a_note_and_counted_in_summary_and_report(
    run: Run, recorded: Path, chain: Path, tmp_path: Path
) -> None:
    recorded.write_text(recorded.read_text(encoding="utf-8").replace('"bash"', '"frobnicate"'), encoding="utf-8")
    report = tmp_path / "report.json"
    told = run("apply", recorded, "--chain", chain, "-o", tmp_path / "sent.json", "--report", report)
    (summary,) = json.loads(run("apply", recorded, "--chain", chain, "--json").stderr)["runs"]
    (reported,) = json.loads(report.read_text(encoding="utf-8"))["runs"]

    assert told.stderr == f"note: {recorded}: run 0: {summary['note']}\n"
    assert summary["note"].startswith("some results of 'frobnicate' stay in the request: the table 'default' has no")
    assert (summary["unknown"]["results"], summary["unknown"]["tools"]) == (6, ["frobnicate"])
    assert [reported[key] for key in ("note", "unknown")] == [summary[key] for key in ("note", "unknown")]
