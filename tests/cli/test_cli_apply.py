from __future__ import annotations

import json
import os
import stat
from pathlib import Path
from typing import Any

import pytest
from command_line import Process, Run

PLACEHOLDER = '[bash(command="make"): '


def elided(messages: list[dict[str, Any]]) -> list[int]:
    return [position for position, message in enumerate(messages) if message["content"].startswith(PLACEHOLDER)]


def test_messages_go_to_stdout_and_the_summary_to_stderr(run: Run, recorded: Path, chain: Path) -> None:
    result = run("apply", recorded, "--chain", chain)

    assert result.exit_code == 0
    assert elided(json.loads(result.stdout)) == [2, 4, 6, 8]
    assert "before" in result.stderr
    assert "last_n_observations" in result.stderr


def test_messages_that_no_edit_touched_come_out_as_they_went_in(
    run: Run, recorded: Path, chain: Path, messages: list[dict[str, Any]]
) -> None:
    sent = json.loads(run("apply", recorded, "--chain", chain).stdout)

    assert [sent[position] for position in (0, 1, 9, 10, 11, 12)] == [
        messages[position] for position in (0, 1, 9, 10, 11, 12)
    ]


def test_with_an_output_file_the_summary_goes_to_stdout(run: Run, recorded: Path, chain: Path, tmp_path: Path) -> None:
    out = tmp_path / "sent.json"
    result = run("apply", recorded, "--chain", chain, "-o", out)

    assert (result.exit_code, result.stderr) == (0, "")
    assert elided(json.loads(out.read_text(encoding="utf-8"))) == [2, 4, 6, 8]
    assert "characters" in result.stdout


def test_the_summary_as_json_has_the_figures_of_the_table(
    run: Run, recorded: Path, chain: Path, tmp_path: Path
) -> None:
    result = run("apply", recorded, "--chain", chain, "-o", tmp_path / "sent.json", "--json")
    (figures,) = json.loads(result.stdout)["runs"]

    assert figures["messages"] == {"before": 13, "after": 13}
    assert figures["edits"] == {"last_n_observations": 4}
    assert figures["tokens"]["after"] < figures["tokens"]["before"]
    assert figures["characters"]["after"] < figures["characters"]["before"]


def test_without_an_output_file_the_summary_as_json_is_all_of_stderr(run: Run, recorded: Path, chain: Path) -> None:
    result = run("apply", recorded, "--chain", chain, "--json")

    assert len(json.loads(result.stdout)) == 13
    assert json.loads(result.stderr)["runs"][0]["dialect"] == "openai"


def test_the_report_lists_every_edit(run: Run, recorded: Path, chain: Path, tmp_path: Path) -> None:
    report = tmp_path / "report.json"
    run("apply", recorded, "--chain", chain, "--report", report)
    (figures,) = json.loads(report.read_text(encoding="utf-8"))["runs"]

    assert [edit["position"] for edit in figures["edits"]] == [2, 4, 6, 8]
    assert figures["refusals"] == []


def test_a_history_is_read_from_the_standard_input(run: Run, chain: Path, messages: list[dict[str, Any]]) -> None:
    result = run("apply", "-", "--chain", chain, stdin=json.dumps(messages))

    assert elided(json.loads(result.stdout)) == [2, 4, 6, 8]


def test_a_file_with_many_runs_wants_a_choice(run: Run, two_runs: Path, chain: Path) -> None:
    result = run("apply", two_runs, "--chain", chain)

    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr == f"{two_runs}: 2 runs; choose one with --run 0 to 1, or take --all\n"


def test_one_run_of_many_is_one_array(run: Run, two_runs: Path, chain: Path) -> None:
    result = run("apply", two_runs, "--chain", chain, "--run", 1)

    assert json.loads(result.stdout)[0]["content"] == "Another."


def test_a_run_that_is_not_there_is_named_with_the_number_of_runs(run: Run, two_runs: Path, chain: Path) -> None:
    result = run("apply", two_runs, "--chain", chain, "--run", 2)

    assert result.exit_code == 1
    assert result.stderr == f"{two_runs}: there is no run 2; it has 2, counted from 0\n"


def test_all_runs_are_an_array_of_arrays(run: Run, two_runs: Path, chain: Path) -> None:
    result = run("apply", two_runs, "--chain", chain, "--all")

    assert [len(messages) for messages in json.loads(result.stdout)] == [7, 9]


def test_run_and_all_exclude_each_other(run: Run, two_runs: Path, chain: Path) -> None:
    result = run("apply", two_runs, "--chain", chain, "--all", "--run", 0)

    assert result.exit_code == 2
    assert "exclude each other" in result.stderr


def test_a_folder_gives_its_histories_names_broken_ones_and_counts_other_files(
    run: Run, recorded: Path, chain: Path
) -> None:
    folder = recorded.parent
    for name in ("notes.md", "a.traj", "b.json", "c.jsonl"):
        (folder / name).write_text("not a history", encoding="utf-8")
    result = run("apply", folder, "--chain", chain)
    skipped = [line for line in result.stderr.splitlines() if line.startswith("skipped: ")]

    assert result.exit_code == 0
    assert [len(messages) for messages in json.loads(result.stdout)] == [13]
    assert [line.split(":")[1].strip() for line in skipped[:-1]] == [
        str(folder / name) for name in ("a.traj", "b.json", "c.jsonl")
    ]
    assert skipped[-1] == f"skipped: {folder}: files that hold no history and are not .json, .jsonl, .traj: 2"


def test_a_history_in_a_folder_is_read_whatever_its_name_is(run: Run, recorded: Path, chain: Path) -> None:
    recorded.rename(recorded.with_name("run.log"))
    result = run("apply", recorded.parent, "--chain", chain)

    assert [len(messages) for messages in json.loads(result.stdout)] == [13]


def test_a_folder_without_a_history_is_an_error(run: Run, chain: Path, tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    result = run("apply", empty, "--chain", chain)

    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr.startswith(f"{empty}: no file in this folder is a history")


def test_all_wrong_inputs_are_named_at_once_and_nothing_is_written(
    run: Run, recorded: Path, chain: Path, tmp_path: Path
) -> None:
    out = tmp_path / "sent.json"
    result = run("apply", tmp_path / "gone.json", recorded, tmp_path / "away.json", "--chain", chain, "-o", out)

    assert result.exit_code == 1
    assert [line.split(":")[0] for line in result.stderr.splitlines()] == [
        str(tmp_path / "gone.json"),
        str(tmp_path / "away.json"),
    ]
    assert not out.exists()


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "the file is empty"),
        (b" \n", "the file is empty"),
        (b"\x00\xff\xfe\x80binary", "not a text file"),
        (b"history: [", "not JSON"),
        (b'{"a": 1}', "no list of messages found"),
        (b"[1, 2]", "item 0 is a number; a message is an object with the keys role and content"),
        (b"[]", "the list of messages is empty"),
        (b'{"messages": []}', "the list of messages is empty"),
        (b'["x"]', "item 0 is a string"),
        (b'{"messages": [{"role": "user", "content": "go"}, null]}', "messages: item 1 is null"),
        (b'[{"rol": "user"}]', "item 0 has the key 'rol'; did you mean 'role'?"),
        (b'[{"role": 5, "content": "hi"}]', "item 0 has a role that is a number"),
        (b'{"message": []}', "it has the key 'message'; did you mean 'messages'?"),
        (b'[{"role": "usr", "content": "hi"}]', "has the role 'usr'; did you mean 'user'?"),
        (b'[{"role": "user", "contents": "hi"}]', "has the key 'contents'; did you mean 'content'?"),
        (b'"text"', "no list of messages found"),
        (b'[{"role": "martian", "content": "hi"}]', "has the role 'martian'; roles: assistant, system, tool, user"),
        (b"[" * 100_000, "not JSON"),
    ],
    ids=lambda value: repr(value)[:60],
)
def test_a_file_that_is_no_history_is_one_line(
    run: Run, chain: Path, tmp_path: Path, content: bytes, said: str
) -> None:
    path = tmp_path / "odd.json"
    path.write_bytes(content)
    result = run("apply", path, "--chain", chain)

    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr.startswith(f"{path}: ")
    assert said in result.stderr
    assert result.stderr.count("\n") == 1


def test_a_missing_file_is_one_line(run: Run, chain: Path, tmp_path: Path) -> None:
    result = run("apply", tmp_path / "gone.json", "--chain", chain)

    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr == f"{tmp_path / 'gone.json'}: No such file or directory; name a readable file\n"


def test_a_file_of_200_megabytes_is_one_line(run: Run, chain: Path, tmp_path: Path) -> None:
    path = tmp_path / "large.json"
    with path.open("wb") as stream:
        stream.truncate(200_000_000)
    result = run("apply", path, "--chain", chain)

    assert (result.exit_code, result.stdout) == (1, "")
    assert "200,000,000 bytes; at most" in result.stderr
    assert result.stderr.count("\n") == 1


@pytest.mark.parametrize(
    "content", [b"", b"\x00\xff\x80", b"[: }", b"just text"], ids=["empty", "binary", "bad", "text"]
)
def test_a_chain_that_cannot_be_read_is_one_line(run: Run, recorded: Path, tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "odd.yaml"
    path.write_bytes(content)
    result = run("apply", recorded, "--chain", path)

    assert (result.exit_code, result.stdout) == (1, "")
    assert str(path) in result.stderr
    assert result.stderr.count("\n") == 1


def test_a_chain_that_is_not_there_is_one_line(run: Run, recorded: Path, tmp_path: Path) -> None:
    result = run("apply", recorded, "--chain", tmp_path / "gone.yaml")

    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr.count("\n") == 1


def test_an_unknown_dialect_gets_the_nearest_name(run: Run, recorded: Path, chain: Path) -> None:
    result = run("apply", recorded, "--chain", chain, "--to", "opnai")

    assert result.exit_code == 1
    assert result.stderr == "dialect: there is no dialect 'opnai'; did you mean 'openai'?\n"


def test_the_input_is_never_overwritten(run: Run, recorded: Path, chain: Path) -> None:
    before = recorded.read_bytes()
    link = recorded.with_name("link.json")
    link.symlink_to(recorded)
    results = [
        run("apply", recorded, "--chain", chain, option, out)
        for option in ("-o", "--report")
        for out in (recorded, link)
    ]

    assert [result.exit_code for result in results] == [1, 1, 1, 1]
    assert all("never overwritten" in result.stderr for result in results)
    assert recorded.read_bytes() == before


def test_an_output_that_cannot_be_written_is_one_line(run: Run, recorded: Path, chain: Path, tmp_path: Path) -> None:
    places = [tmp_path, tmp_path / "gone" / "sent.json"]
    results = [run("apply", recorded, "--chain", chain, "-o", out) for out in places]

    assert [(result.exit_code, result.stderr.count("\n")) for result in results] == [(1, 1), (1, 1)]
    assert [result.stderr.startswith(f"{out}: ") for result, out in zip(results, places, strict=True)] == [True, True]


def test_an_output_file_is_replaced_as_a_whole_and_keeps_its_mode(
    run: Run, recorded: Path, chain: Path, tmp_path: Path
) -> None:
    out = tmp_path / "sent.json"
    out.write_text("old", encoding="utf-8")
    out.chmod(0o640)
    run("apply", recorded, "--chain", chain, "-o", out)

    assert stat.S_IMODE(out.stat().st_mode) == 0o640
    assert len(json.loads(out.read_text(encoding="utf-8"))) == 13
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []


def test_a_device_is_written_to_and_not_replaced(run: Run, recorded: Path, chain: Path, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    result = run("apply", recorded, "--chain", chain, "-o", pipe)
    received = os.read(reader, 1_000_000)
    os.close(reader)

    assert result.exit_code == 0
    assert len(json.loads(received)) == 13
    assert stat.S_ISFIFO(pipe.stat().st_mode)


def test_lone_surrogates_survive_as_json_escapes(run: Run, chain: Path, tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    path.write_text('[{"role": "user", "content": "Mend it.", "note": "\\ud800 é"}]', encoding="utf-8")
    result = run("apply", path, "--chain", chain)

    assert result.exit_code == 0
    assert json.loads(result.stdout)[0]["note"] == "\ud800 é"


def test_markup_in_a_file_name_is_printed_as_it_stands(run: Run, recorded: Path, chain: Path) -> None:
    odd = recorded.rename(recorded.with_name("run[bold]x[bold].json"))
    result = run("apply", odd, "--chain", chain)

    assert result.exit_code == 0
    assert "run[bold]x[bold].json" in result.stderr


def test_control_characters_in_a_file_name_do_not_reach_the_terminal(run: Run, chain: Path, tmp_path: Path) -> None:
    result = run("apply", tmp_path / "a\x1b[31mb\nc.json", "--chain", chain)

    assert result.exit_code == 1
    assert "\x1b" not in result.stderr
    assert result.stderr.count("\n") == 1


def test_a_processor_that_fails_is_named_and_the_rest_goes_out(
    run: Run, recorded: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "broken_target.py").write_text("def fail(history):\n    raise ValueError('no')\n", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    chain = tmp_path / "call.yaml"
    chain.write_text("history_processors:\n  - {type: call, target: 'broken_target:fail'}\n", encoding="utf-8")
    result = run("apply", recorded, "--chain", chain)

    assert result.exit_code == 0
    assert len(json.loads(result.stdout)) == 13
    assert result.stderr.startswith(f"warning: {recorded}: run 0: call raised ")


def test_streams_are_apart_and_have_no_colours_in_a_real_process(process: Process, recorded: Path, chain: Path) -> None:
    done = process("apply", recorded, "--chain", chain, env={"FORCE_COLOR": "1"})

    assert done.returncode == 0
    assert len(json.loads(done.stdout)) == 13
    assert "tokens" in done.stderr
    assert "\x1b" not in done.stderr


def test_a_config_with_several_agents_wants_an_attempt(run: Run, recorded: Path, tmp_path: Path) -> None:
    config = tmp_path / "retry.yaml"
    config.write_text(
        "agent:\n  type: retry\n  agent_configs:\n"
        "    - history_processors: [{type: last_n_observations, n: 5}]\n"
        "    - history_processors: [{type: last_n_observations, n: 2}]\n",
        encoding="utf-8",
    )
    without, second = (run("apply", recorded, "--chain", config, *more) for more in ((), ("--attempt", 1)))

    assert (without.exit_code, without.stderr.count("\n")) == (1, 1)
    assert "choose --attempt 0 or --attempt 1 (in Python attempt=)" in without.stderr
    assert [
        position for position, message in enumerate(json.loads(second.stdout)) if "lines omitted" in message["content"]
    ] == [2, 4, 6, 8]


def test_a_path_that_is_too_long_is_one_line(run: Run, recorded: Path, chain: Path) -> None:
    long = "x" * 5000
    done = [
        run("apply", long, "--chain", chain),
        run("apply", recorded, "--chain", chain, "-o", long),
        run("apply", recorded, "--chain", chain, "-o", f"{long}y", "--report", long),
        run("show", long),
    ]

    assert [(result.exit_code, result.stderr.count("\n")) for result in done] == [(1, 1)] * len(done)


@pytest.mark.parametrize("name", ["loop", "loop/x"])
@pytest.mark.parametrize("option", ["-o", "--report"])
def test_a_link_that_leads_in_a_circle_is_one_line_and_stays(
    run: Run, recorded: Path, tmp_path: Path, *, option: str, name: str
) -> None:
    loop = tmp_path / "loop"
    loop.symlink_to(loop)
    result = run("apply", recorded, "--chain", "default", option, tmp_path / name)

    assert (result.exit_code, result.stderr.count("\n")) == (1, 1)
    assert result.stderr.startswith(f"{tmp_path / name}: ")
    assert loop.is_symlink()


def test_a_report_to_the_standard_output_is_a_usage_error(
    run: Run, recorded: Path, chain: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    result = run("apply", recorded, "--chain", chain, "--report", "-")

    assert result.exit_code == 2
    assert "--report takes a file" in result.stderr
    assert not Path("-").exists()
