from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest
from command_line import Plugin, Process, Run
from comparable import comparable

import elision
from elision.registry import plugins

KINDS = ("processors", "dialects", "chains", "tables", "profiles", "hosts", "templates", "plugins")


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_is_a_table_and_json_with_the_same_names(run: Run, kind: str) -> None:
    table, data = run("list", kind), run("list", kind, "--json")
    names = [entry["name"] for entry in json.loads(data.stdout)]

    assert (table.exit_code, data.exit_code) == (0, 0)
    assert names
    assert [name for name in names if name not in table.stdout] == []


def test_without_a_kind_everything_is_listed(run: Run) -> None:
    assert tuple(json.loads(run("list", "--json").stdout)) == KINDS


def test_processors_are_listed_with_stage_operation_touches_cost_and_plugin(run: Run) -> None:
    entries = {entry["name"]: entry for entry in json.loads(run("list", "processors", "--json").stdout)}

    assert set(entries) == set(plugins().processors())
    assert entries["last_n_observations"] == {
        "name": "last_n_observations",
        "stage": "history",
        "operation": "clear",
        "touches": [],
        "cost": plugins().processors()["last_n_observations"].cost,
        "plugin": "builtin",
    }


def test_an_unknown_kind_is_a_usage_error_that_names_the_kinds(run: Run) -> None:
    result = run("list", "procesors")

    assert result.exit_code == 2
    assert "processors" in result.stderr


def test_a_table_off_a_terminal_has_one_line_for_each_entry(process: Process) -> None:
    done = process("list", "processors", env={"COLUMNS": "20"})
    lines = [line.split()[0] for line in done.stdout.splitlines() if line.strip()]

    assert lines[-len(plugins().processors()) :] == sorted(plugins().processors())


@pytest.mark.parametrize("columns", [80, 40])
def test_a_table_on_a_narrow_terminal_keeps_every_name_whole_and_cuts_nothing(columns: int) -> None:
    terminal, stdout = pty.openpty()
    environment = {**os.environ, "COLUMNS": str(columns), "TERM": "dumb", "NO_COLOR": "1"}
    command = [sys.executable, "-m", "elision", "list", "processors"]
    with subprocess.Popen(command, stdout=stdout, env=environment) as listing:
        os.close(stdout)
        printed = everything(terminal)
    names = [line.split()[0] for line in printed.splitlines() if line[:1].isalpha()]

    assert listing.returncode == 0
    assert [name for name in plugins().processors() if name not in names] == []
    assert "…" not in printed


def everything(terminal: int) -> str:
    """Read what was printed on a terminal; at its end, Linux gives an error."""
    printed = b""
    with suppress(OSError):
        while data := os.read(terminal, 65536):
            printed += data
    os.close(terminal)
    return printed.decode()


def test_a_processor_is_shown_with_its_docstring_and_all_options(run: Run) -> None:
    shown = run("show", "last_n_observations")
    entry = json.loads(run("show", "last_n_observations", "--json").stdout)["processor"]
    options = {option["name"]: option for option in entry["options"]}

    assert shown.exit_code == 0
    assert "Elide all but the last" in shown.stdout
    assert "Observations between two rounds of eliding; " in shown.stdout
    assert (options["polling"]["type"], options["polling"]["default"]) == ("integer > 0 | auto", 1)
    assert options["n"]["required"]


@pytest.mark.parametrize("name", sorted(plugins().processors()))
def test_every_processor_can_be_shown(run: Run, name: str) -> None:
    result = run("show", name)

    assert result.exit_code == 0
    assert f"processor {name}" in result.stdout


@pytest.mark.parametrize("dialect", [dialect.name for dialect in plugins().dialects()])
def test_every_dialect_can_be_shown(run: Run, dialect: str) -> None:
    result = run("show", "dialect", dialect)

    assert result.exit_code == 0
    assert result.stdout.startswith(f"{dialect} (")


def test_a_chain_is_shown_with_every_default_and_loads_again(run: Run, chain: Path) -> None:
    result = run("show", chain)
    again = elision.loads(result.stdout)

    assert result.exit_code == 0
    assert "polling: 1" in result.stdout
    assert "classification: default\narchive: .elision\nstored_policy: none\n" in result.stdout
    assert comparable(again) == comparable(elision.load(chain))


def test_a_sweagent_style_config_is_shown_as_a_chain_that_does_the_same(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "config.yaml"
    path.write_text(
        "agent:\n  history_processors:\n    - {type: last_n_observations, n: 5}\n    - {type: cache_control}\n",
        encoding="utf-8",
    )

    assert comparable(elision.loads(run("show", path).stdout)) == comparable(elision.load(path))


def test_a_name_that_several_kinds_have_is_shown_for_each(run: Run) -> None:
    result = run("show", "last_n_observations", "--json")

    assert set(json.loads(result.stdout)) == {"processor", "chain"}


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("last_n_observation", "last_n_observations"),
        ("Last-N-Observations", "last_n_observations"),
        ("mini-swe-agent", "miniswe"),
        ("SWE-agent", "sweagent"),
    ],
)
def test_an_unknown_name_gets_the_nearest_one(run: Run, name: str, meant: str) -> None:
    result = run("show", name)

    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr.endswith(f"did you mean {meant!r}?\n")


@pytest.mark.parametrize("name", sorted(plugins().hosts()))
def test_a_host_is_shown_by_what_its_module_says_without_importing_it(process: Process, name: str) -> None:
    done = process("show", name, "--json")

    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)["host"]["about"]


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("raise RuntimeError('no\\nluck')", "cannot be loaded"),
        ("import elision\n@elision.hookimpl\ndef elision_procesors(): return []", "did you mean 'elision_processors'?"),
        ("import elision\n@elision.hookimpl\ndef elision_processors(): return 1 / 0", "elision_processors failed"),
    ],
    ids=["import", "misspelt hook", "hook raises"],
)
def test_a_broken_plugin_is_one_line_that_names_it(process: Process, plugin: Plugin, code: str, said: str) -> None:
    done = process("list", env=plugin(code))

    assert (done.returncode, done.stdout) == (1, "")
    assert "'stranger'" in done.stderr
    assert said in done.stderr
    assert done.stderr.count("\n") == 1


def test_third_party_plugins_can_be_switched_off(process: Process, plugin: Plugin) -> None:
    done = process("list", "plugins", "--json", env={**plugin("raise RuntimeError('no')"), "ELISION_PLUGINS": ""})

    assert done.returncode == 0
    assert [entry["name"] for entry in json.loads(done.stdout)] == ["builtin"]


def test_a_plugin_of_a_stranger_is_listed_with_what_it_offers(process: Process, plugin: Plugin) -> None:
    code = "import elision\n@elision.hookimpl\ndef elision_templates(): return {'own': 'gone: {{ tool }}'}"
    done = process("list", "templates", "--json", env=plugin(code))

    assert {"name": "own", "source": "gone: {{ tool }}", "plugin": "stranger"} in json.loads(done.stdout)
