"""``elision check`` on the command line, and the page about it."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from command_line import Plugin, Process, Run
from doc_blocks import ROOT, blocks

PAGE = (ROOT / "docs" / "check.md").read_text(encoding="utf-8")

TIDY = '''
from typing import ClassVar, Literal
from elision import Processor, hookimpl

class Tidy(Processor):
    """Blank the middle of what was written."""

    stage: ClassVar = "entry"
    operation: ClassVar = "redact"
    type: Literal["tidy"] = "tidy"

    def plan(self, view):
        for observation in view.observations:
            if "receipt" in observation.classes:
                yield observation.replace(observation.text[:60] + " … " + observation.text[-60:])

@hookimpl
def elision_processors():
    return [Tidy]
'''


def test_the_example_on_the_page_prints_what_is_shown(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    (tmp_path / "chain.yaml").write_text(blocks(PAGE, "yaml")[0].text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    done = run("check", "--chain", "chain.yaml")
    shown = blocks(PAGE, "")[0].text

    assert shown == f"$ elision check --chain chain.yaml\n{done.stdout}"
    assert (done.exit_code, done.stderr) == (0, "")


def test_a_plugin_that_cuts_receipts_fails_in_one_line_each(process: Process, plugin: Plugin, tmp_path: Path) -> None:
    (tmp_path / "chain.yaml").write_text("history_processors: [{type: tidy}]\n", encoding="utf-8")
    done = process("check", "--chain", "chain.yaml", env=plugin(TIDY))
    (line, other) = (line for line in done.stdout.splitlines() if " took it out: " in line)
    shown = next(block.text for block in blocks(PAGE, "") if block.text.startswith("receipt"))

    assert (done.returncode, done.stderr) == (1, "")
    assert other.startswith("error, receipt, middle, step ")
    assert line.partition("; ref ")[0] == shown.partition("; ref ")[0]
    assert done.stdout.splitlines()[-1].endswith(": 2 problem(s)")


def test_json_has_every_canary_and_every_test(run: Run, chain: Path, recorded: Path) -> None:
    tests = f"tests:\n  - {{history: {recorded.name}, expect: {{kept: [call_0]}}}}\n"
    chain.write_text(chain.read_text(encoding="utf-8") + tests, encoding="utf-8")
    done = run("check", "--chain", chain, "--json")
    found = json.loads(done.stdout)

    assert done.exit_code == 1
    assert (found["passed"], found["dialects"]) == (False, ["openai", "anthropic"])
    assert {canary["state"] for canary in found["canaries"]} == {"kept", "removed"}
    assert [test["passed"] for test in found["tests"]] == [False]
    assert found["problems"] == [f"tests[0] ({recorded}): {line}" for line in found["tests"][0]["problems"]]


def test_a_test_that_fails_is_a_line_and_exit_code_1(run: Run, chain: Path, recorded: Path) -> None:
    tests = f"tests:\n  - {{history: {recorded.name}, expect: {{cleared: [call_5]}}}}\n"
    chain.write_text(chain.read_text(encoding="utf-8") + tests, encoding="utf-8")
    done = run("check", "--chain", chain)

    assert done.exit_code == 1
    assert f"tests[0] ({recorded}): failed\n" in done.stdout
    assert f"tests[0] ({recorded}): call_5: expected to be cleared, but it is kept\n" in done.stdout


def test_an_archive_can_be_tried(run: Run, tmp_path: Path) -> None:
    done = run("check", "--chain", "last_n_observations", "--archive", tmp_path / "tried")

    assert done.exit_code == 0
    assert run("archive", "verify", "--archive", tmp_path / "tried").stdout.endswith(": clean\n")


def test_a_chain_that_does_not_load_is_exit_code_1_without_a_check(run: Run, tmp_path: Path) -> None:
    (tmp_path / "chain.yaml").write_text("history_processors: [{type: nope}]\n", encoding="utf-8")
    done = run("check", "--chain", tmp_path / "chain.yaml")

    assert (done.exit_code, done.stdout) == (1, "")
    assert "there is no processor 'nope'" in done.stderr


def test_one_of_several_attempts_is_chosen(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "retry.yaml"
    path.write_text(
        "agent: {type: retry, agent_configs: [{history_processors: [{type: last_n_observations, n: 3}]}, {}]}\n",
        encoding="utf-8",
    )

    assert run("check", "--chain", path).exit_code == 1
    assert " removed " in run("check", "--chain", path, "--attempt", 0).stdout
    assert " removed " not in run("check", "--chain", path, "--attempt", 1).stdout
