"""``elision apply --to``: what is written in another dialect, and what is said of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from command_line import Run

PLACEHOLDER = '[bash(command="make"): '
PROMPT = "You mend builds."


@pytest.fixture
def prompted(tmp_path: Path, messages: list[dict[str, Any]]) -> Path:
    """A run that begins with a system prompt."""
    path = tmp_path / "prompted.json"
    path.write_text(json.dumps([{"role": "system", "content": PROMPT}, *messages]), encoding="utf-8")
    return path


def test_a_history_can_be_written_in_another_dialect(run: Run, recorded: Path, chain: Path) -> None:
    sent = json.loads(run("apply", recorded, "--chain", chain, "--to", "anthropic").stdout)

    assert sent[1]["content"][1]["type"] == "tool_use"
    assert sent[2]["content"][0]["content"].startswith(PLACEHOLDER)


def test_what_has_no_place_in_the_other_dialect_is_named(run: Run, chain: Path, tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    content = [{"type": "text", "text": "Hear this."}, {"type": "input_audio", "input_audio": {}}]
    path.write_text(json.dumps([{"role": "user", "content": content}]), encoding="utf-8")
    result = run("apply", path, "--chain", chain, "--to", "anthropic")

    assert json.loads(result.stdout) == [{"role": "user", "content": "Hear this."}]
    assert result.stderr.startswith(f"warning: {path}: run 0: input_audio (opaque): 1 left out")


def test_the_summary_names_the_dialect_and_has_the_sizes_before_after_and_as_written(
    run: Run, prompted: Path, chain: Path, tmp_path: Path
) -> None:
    result = run("apply", prompted, "--chain", chain, "--to", "anthropic", "-o", tmp_path / "sent.json")
    title, header, _, *rows = result.stdout.splitlines()

    assert title == f"{prompted} (openai, written as anthropic)"
    assert header.split() == ["before", "after", "change", "written"]
    assert rows[0].split() == ["messages", "14", "14", "+0.0", "%", "13"]


def test_the_figures_of_what_was_written_are_in_the_summary_as_json(
    run: Run, prompted: Path, chain: Path, tmp_path: Path
) -> None:
    out = tmp_path / "sent.json"
    result = run("apply", prompted, "--chain", chain, "--to", "anthropic", "-o", out, "--json")
    (figures,) = json.loads(result.stdout)["runs"]

    assert figures["dialect"] == "openai"
    assert figures["written"]["dialect"] == "anthropic"
    assert figures["written"]["messages"] == len(json.loads(out.read_text(encoding="utf-8")))
    assert figures["written"]["characters"] == figures["characters"]["after"] - len(PROMPT)
    assert figures["written"]["system"]["characters"] == len(PROMPT)


@pytest.mark.parametrize("more", [(), ("--to", "openai")], ids=["as it is", "the same"])
def test_what_is_written_as_it_is_has_no_figures_of_its_own(
    run: Run, prompted: Path, chain: Path, more: tuple[str, ...]
) -> None:
    result = run("apply", prompted, "--chain", chain, "--json", *more)
    (figures,) = json.loads(result.stderr)["runs"]

    assert figures["written"] is None
    assert figures["lost"] == []


def test_the_system_prompt_that_is_left_out_is_named_with_its_size_and_where_to_get_it(
    run: Run, prompted: Path, chain: Path, tmp_path: Path
) -> None:
    report = tmp_path / "report.json"
    without, reported = (
        run("apply", prompted, "--chain", chain, "--to", "anthropic", *more) for more in ((), ("--report", report))
    )

    assert f"warning: {prompted}: run 0: system prompt (16 characters, " in without.stderr
    assert "left out; in anthropic it stands beside the messages; --report R" in without.stderr
    assert f"it is runs[0].system in {report}" in reported.stderr
    assert json.loads(report.read_text(encoding="utf-8"))["runs"][0]["system"] == PROMPT
    assert [message["role"] for message in json.loads(without.stdout)][:2] == ["user", "assistant"]


def test_of_several_runs_the_summary_has_a_column_for_what_was_written(run: Run, two_runs: Path, chain: Path) -> None:
    result = run("apply", two_runs, "--chain", chain, "--all", "--to", "anthropic")
    total = next(line for line in result.stderr.splitlines() if line.startswith("total"))

    assert "2 runs (written as anthropic)" in result.stderr
    assert result.stderr.count("written  ") >= 2
    assert total.split()[1:4] == ["16", "16", "16"]


def test_what_was_mended_for_the_other_wire_is_counted(run: Run, chain: Path, tmp_path: Path) -> None:
    path = tmp_path / "run.traj"
    call = {"id": "a", "type": "function", "function": {"name": "ls", "arguments": "{}"}}
    items = [
        {"role": "user", "content": "Go.", "agent": "main"},
        {"role": "assistant", "content": "", "tool_calls": [call], "agent": "main"},
    ]
    path.write_text(json.dumps({"history": items}), encoding="utf-8")
    result = run("apply", path, "--chain", chain, "--to", "openai", "-o", tmp_path / "sent.json")

    assert "(sweagent, written as openai)" in result.stdout
    assert "repaired: 1" in result.stdout


def test_messages_and_report_cannot_go_to_one_file(run: Run, recorded: Path, chain: Path, tmp_path: Path) -> None:
    there = tmp_path / "there.json"
    there.write_text("old", encoding="utf-8")
    link = tmp_path / "link.json"
    link.symlink_to(there)
    pairs = [(tmp_path / "new.json", tmp_path / "." / "new.json"), (there, link)]
    results = [run("apply", recorded, "--chain", chain, "-o", out, "--report", report) for out, report in pairs]

    assert [(result.exit_code, result.stdout) for result in results] == [(2, ""), (2, "")]
    assert all("name the same file" in result.stderr for result in results)
    assert (there.read_text(encoding="utf-8"), (tmp_path / "new.json").exists()) == ("old", False)


def test_a_dialect_that_does_not_fit_the_input_is_refused_with_the_one_that_does(
    run: Run, recorded: Path, chain: Path
) -> None:
    result = run("apply", recorded, "--chain", chain, "--from", "anthropic")

    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr == (
        f"{recorded}: dialect: 'anthropic' was named, but message 1 (role 'assistant', keys role, content, tool_calls) "
        "does not fit it; 'openai' fits; give --from openai (in Python and in chains dialect), or leave it out\n"
    )
