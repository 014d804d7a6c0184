from __future__ import annotations

import os
import re
import signal
import stat
import subprocess
import sys
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest
from command_line import Plugin, Process, Run

import elision
from elision.cli.group import COMMANDS


def test_help_names_every_command_and_says_of_each_what_its_own_help_says(run: Run) -> None:
    commands = {name: import_module(module).command for name, (module, _) in COMMANDS.items()}

    assert {name: command.help.partition("\n")[0] for name, command in commands.items()} == {
        name: sentence for name, (_, sentence) in COMMANDS.items()
    }
    assert [name for name in COMMANDS if f"  {name} " not in run("--help").stdout] == []


@pytest.mark.parametrize("name", [name for name in COMMANDS if name != "sweagent"])
def test_every_command_has_help(run: Run, name: str) -> None:
    result = run(name, "--help")

    assert result.exit_code == 0
    assert result.stdout.startswith(f"Usage: elision {name}")


def test_the_version_is_that_of_the_package(run: Run) -> None:
    assert run("--version").stdout == f"elision, version {elision.__version__}\n"


@pytest.mark.parametrize(("name", "meant"), [("aply", "apply"), ("lnit", "lint"), ("Show", "show")])
def test_an_unknown_command_is_a_usage_error_with_the_nearest_name(run: Run, name: str, meant: str) -> None:
    result = run(name)

    assert result.exit_code == 2
    assert f"did you mean {meant!r}?" in result.stderr


def test_an_unknown_option_is_a_usage_error(run: Run, chain: Path) -> None:
    assert run("apply", "-", "--chain", chain, "--too", "openai").exit_code == 2


def test_help_imports_no_command_and_nothing_heavy(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "elision", "--help"], capture_output=True, text=True, check=True
    )
    heavy = {"rich", "yaml", "jinja2", "pydantic", "litellm", "tiktoken", "elision.cli.apply", "elision.cli.show"}

    assert heavy & imported(done.stderr) == set()


def test_importing_elision_loads_neither_litellm_nor_tiktoken() -> None:
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-c", "import elision"], capture_output=True, text=True, check=True
    )

    assert "elision" in imported(done.stderr)
    assert {"litellm", "tiktoken"} & imported(done.stderr) == set()


def imported(log: str) -> set[str]:
    return {line.rpartition("|")[2].strip() for line in log.splitlines()}


def test_importing_the_command_line_prints_nothing() -> None:
    code = "import elision.cli, elision.__main__"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert (done.stdout, done.stderr) == ("", "")


def test_a_bug_is_one_line_that_names_a_private_log_with_the_traceback(
    process: Process, plugin: Plugin, recorded: Path, chain: Path
) -> None:
    environment = plugin(dialect_that("raise ZeroDivisionError('first\\nsecond')"))
    done = process("apply", recorded, "--chain", chain, env=environment)
    found = re.search(r"the traceback is in (\S+\.log); report it", done.stderr)

    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (3, "", 1)
    assert found is not None
    assert "ZeroDivisionError" in Path(found[1]).read_text(encoding="utf-8")
    assert stat.S_IMODE(Path(found[1]).stat().st_mode) == 0o600


def test_an_interrupt_is_quiet_and_exits_with_130(
    process: Process, plugin: Plugin, recorded: Path, chain: Path
) -> None:
    # A process that a shell has started in the background ignores interrupts, and so do its children.
    heard = "signal.signal(signal.SIGINT, signal.default_int_handler)"
    environment = plugin(dialect_that(f"import os, signal; {heard}; os.kill(os.getpid(), signal.SIGINT)"))
    done = process("apply", recorded, "--chain", chain, env=environment)

    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")


def dialect_that(does: str) -> str:
    """Write a plugin with a dialect that does something when it is asked whether it knows a history."""
    return f"""
import elision

class Odd(elision.Dialect):
    name = "odd"
    def recognises(self, messages, document):
        {does}
        return 0
    def parse(self, raw, history): ...
    def patch(self, message, patch): ...
    def build(self, message): ...

@elision.hookimpl
def elision_dialects():
    return [Odd()]
"""


def test_arguments_go_to_sweagent_as_they_are_and_its_exit_code_comes_back(process: Process, tmp_path: Path) -> None:
    (tmp_path / "sweagent" / "agent").mkdir(parents=True)
    (tmp_path / "sweagent" / "run").mkdir()
    for package in ("", "agent", "run"):
        (tmp_path / "sweagent" / package / "__init__.py").write_text("", encoding="utf-8")
    (tmp_path / "sweagent" / "agent" / "history_processors.py").write_text(STAND_IN_UNION, encoding="utf-8")
    (tmp_path / "sweagent" / "run" / "run.py").write_text("def main(argv): print(argv); return 7", encoding="utf-8")
    arguments = ["run", "--help", "--agent.x=1", "--", "-v", "--version"]
    done = process("sweagent", *arguments, env={"PYTHONPATH": str(tmp_path)})

    assert (done.returncode, done.stdout) == (7, f"{arguments}\n"), done.stderr


STAND_IN_UNION = """
from typing import Annotated, Literal
from pydantic import BaseModel, Field

class One(BaseModel):
    type: Literal["default"] = "default"

class Two(BaseModel):
    type: Literal["cache_control"] = "cache_control"

HistoryProcessor = Annotated[One | Two, Field(discriminator="type")]
"""


def test_without_sweagent_there_is_one_line(process: Process) -> None:
    if find_spec("sweagent") is not None:
        pytest.skip("SWE-agent is installed here")
    done = process("sweagent", "run")

    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (1, "", 1)
    assert "install SWE-agent" in done.stderr


def test_a_reader_that_goes_away_is_no_error_message(tmp_path: Path) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(
        [sys.executable, "-m", "elision", "schema"], stdout=writing, stderr=subprocess.PIPE, text=True, check=False
    )
    os.close(writing)

    assert (done.returncode, done.stderr) == (128 + signal.SIGPIPE, "")


def test_a_full_disk_is_one_line() -> None:
    full = Path("/dev/full")
    if not full.exists():
        pytest.skip("this system has no /dev/full")
    with full.open("w") as stdout:
        done = subprocess.run(
            [sys.executable, "-m", "elision", "schema"], stdout=stdout, stderr=subprocess.PIPE, text=True, check=False
        )

    assert done.returncode == 1
    assert done.stderr.startswith("standard output: No space left on device")
    assert done.stderr.count("\n") == 1


def test_a_terminal_that_knows_only_ascii_is_no_reason_to_fail(process: Process) -> None:
    done = process("list", "processors", env={"PYTHONIOENCODING": "ascii"})

    assert (done.returncode, done.stderr) == (0, "")


def test_a_device_without_an_end_is_read_up_to_the_bound(
    run: Run, chain: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("elision.documents.MAX_BYTES", 1000)
    result = run("apply", "/dev/zero", "--chain", chain)

    assert result.exit_code == 1
    assert result.stderr == ("/dev/zero: more than 1,000 bytes, the most that is read at once; split the file\n")
