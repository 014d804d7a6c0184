from __future__ import annotations

import json
from pathlib import Path

from command_line import Plugin, Process, Run

import elision


def test_a_sound_chain_is_named_as_one_without_problems(run: Run, chain: Path) -> None:
    result = run("lint", chain)

    assert (result.exit_code, result.stdout, result.stderr) == (0, f"{chain}: no problems\n", "")


def test_a_sound_chain_as_json_is_an_empty_list(run: Run, chain: Path) -> None:
    result = run("lint", chain, "--json")

    assert (result.exit_code, json.loads(result.stdout)) == (0, [])


def test_beside_a_chain_with_problems_a_sound_one_is_still_named(run: Run, chain: Path, tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.yaml"
    wrong.write_text("history_processors:\n  - type: nothing\n", encoding="utf-8")
    result = run("lint", wrong, chain)
    first, last = result.stdout.splitlines()

    assert result.exit_code == 1
    assert first.startswith(f"{wrong}:2:")
    assert last == f"{chain}: no problems"


def test_a_shipped_chain_is_found_by_its_name(run: Run) -> None:
    result = run("lint", "last_n_observations")

    assert "error" not in result.stdout
    assert result.exit_code == 0


def test_all_problems_of_all_files_are_located_one_a_line(run: Run, tmp_path: Path) -> None:
    paths = [tmp_path / "first.yaml", tmp_path / "second.yaml"]
    paths[0].write_text("history_processors:\n  - type: last_n_observation\n    n: 2\n", encoding="utf-8")
    paths[1].write_text("history_processors:\n  - type: last_n_observations\n    n: 0\n    m: 1\n", encoding="utf-8")
    result = run("lint", *paths)
    places = [line.split(": ")[0].split(":")[:2] for line in result.stdout.splitlines()]

    assert (result.exit_code, result.stderr) == (1, "")
    assert places == [[str(paths[0]), "2"], [str(paths[1]), "3"], [str(paths[1]), "4"]]
    assert "did you mean 'last_n_observations'?" in result.stdout


def test_problems_as_json_have_their_places(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "chain.yaml"
    path.write_text("history_processors:\n  - type: last_n_observation\n    n: 2\n", encoding="utf-8")
    result = run("lint", path, "--json")
    (problem,) = json.loads(result.stdout)

    assert result.exit_code == 1
    assert (problem["source"], problem["line"], problem["severity"]) == (str(path), 2, "error")


def test_a_missing_chain_is_one_line(run: Run, tmp_path: Path) -> None:
    result = run("lint", tmp_path / "gone.yaml")

    assert result.exit_code == 1
    assert (result.stdout + result.stderr).count("\n") == 1
    assert str(tmp_path / "gone.yaml") in result.stdout + result.stderr


def test_the_schema_is_printed_as_json(run: Run) -> None:
    result = run("schema")

    assert result.exit_code == 0
    assert "history_processors" in json.dumps(json.loads(result.stdout))


def test_a_chain_that_lints_loads(run: Run, chain: Path) -> None:
    assert run("lint", chain).exit_code == 0
    assert [processor.type_name for processor in elision.load(chain).processors] == ["last_n_observations"]


def test_what_needs_a_ledger_is_named_where_the_archive_has_none_for_other_processes(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "chain.yaml"
    path.write_text(
        "history_processors: [{type: clear_tool_results}, {type: dedupe, schedule: every_step}, {type: supersede}]\n"
        "archive: 'memory:'\n",
        encoding="utf-8",
    )
    result = run("lint", path)

    assert result.exit_code == 0
    assert result.stdout.startswith(
        f"{path}:2:1: archive: note: an archive in memory has no ledger for other processes: clear_tool_results and "
        "supersede, which go by prices and tokens"
    )


def test_a_template_that_two_plugins_offer_names_both_and_tells_nobody_to_mend_a_built_in(
    process: Process, plugin: Plugin, tmp_path: Path
) -> None:
    code = "import elision\n@elision.hookimpl\ndef elision_templates(): return {'compact': 'gone: {{ tool }}'}"
    file = tmp_path / "chain.yaml"
    file.write_text("history_processors: [{type: clear_tool_results, placeholder: head}]", encoding="utf-8")
    done = process("lint", str(file), env=plugin(code))

    assert done.returncode == 1
    assert (
        "plugins 'builtin' and 'stranger': both offer 'compact' through elision_templates; names are unique; rename "
        "one, or switch third-party plugins off with ELISION_PLUGINS="
    ) in done.stdout + done.stderr
    assert "mend plugin" not in done.stdout + done.stderr
