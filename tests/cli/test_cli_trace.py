from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

import pytest
from command_line import Process, Run
from doc_blocks import ROOT, blocks

from elision.testing import call, conversation, result

ID = "ORDER-4711"
LOG = "a line of output that is read once\n" * 40


def history(tool: str = "read_file", text: str = ID) -> list[Any]:
    found = conversation("openai").user("Go.").step(call(tool, path="a"), result(f"{LOG}{text}"))
    for number in range(4):
        found = found.step(call("read_file", path=f"{number}.py"), result(LOG))
    return found.messages()


@pytest.fixture
def written(tmp_path: Path) -> Path:
    path = tmp_path / "written.json"
    path.write_text(json.dumps(history()), encoding="utf-8")
    return path


def test_what_is_gone_but_can_be_recalled_is_told_with_step_processor_and_ref(
    run: Run, written: Path, chain: Path
) -> None:
    done = run("trace", written, "--chain", chain, "--find", ID)
    data = json.loads(run("trace", written, "--chain", chain, "--find", ID, "--json").stdout)
    ref = data["places"][0]["ref"]

    assert done.exit_code == 0, done.output
    assert done.stdout.splitlines()[-1] == f"gone since step 3, by last_n_observations (clear); recallable: {ref}"
    assert f"   clear; class static; older than the last 2 observations; ref {ref}\n" in done.stdout
    assert done.stdout.splitlines()[-2] == "note: originals were kept in memory only; --archive FOLDER keeps them"
    assert (data["gone_at"], data["visible"], data["recallable"], data["chain"]) == (3, False, True, str(chain))


def test_what_is_kept_is_told_with_the_class_and_the_rule_that_kept_it(run: Run, tmp_path: Path, chain: Path) -> None:
    path = tmp_path / "receipt.json"
    path.write_text(json.dumps(history("create_order")), encoding="utf-8")
    done = run("trace", path, "--chain", chain, "--find", ID)

    assert done.exit_code == 0
    assert "guard   refused       1   last_n_observations; clear; rule class_allows; class receipt: clear never" in (
        done.stdout
    )
    assert done.stdout.endswith("visible: 1 time(s) in the last request, at 1 of 1 place(s)\n")


def test_what_cannot_be_brought_back_exits_with_1(run: Run, written: Path, tmp_path: Path) -> None:
    path = tmp_path / "forgetful.yaml"
    path.write_text("history_processors: [{type: last_n_observations, n: 2}]\nstored_policy: full\n", encoding="utf-8")
    done = run("trace", written, "--chain", path, "--find", ID)

    assert done.exit_code == 1
    assert done.stdout.endswith("gone since step 3, by last_n_observations (clear); nothing brings it back\n")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--find", "ORDER-4712"), "find: 'ORDER-4712' stands in no text, thinking, call or result of this history"),
        (("--find", ""), "find: there is no text to look for"),
        (("--find", ID, "--from", "opnai"), "did you mean 'openai'?"),
        (("--find", ID, "--run", "3"), "there is no run 3"),
    ],
)
def test_what_is_wrong_is_one_line(run: Run, written: Path, chain: Path, arguments: tuple[str, ...], said: str) -> None:
    done = run("trace", written, "--chain", chain, *arguments)

    assert (done.exit_code, done.stdout) == (1, "")
    assert said in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_folder_with_several_runs_is_refused(run: Run, written: Path, chain: Path) -> None:
    (written.parent / "again.json").write_text(written.read_text(encoding="utf-8"), encoding="utf-8")
    done = run("trace", written.parent, "--chain", chain, "--find", ID)

    assert done.exit_code == 1
    assert "2 runs in this folder; one is followed; name a file" in done.stderr


def test_the_standard_input_is_read(run: Run, written: Path, chain: Path) -> None:
    done = run("trace", "-", "--chain", chain, "--find", ID, stdin=written.read_bytes())

    assert done.exit_code == 0
    assert done.stdout.startswith(f"-: run 0 (openai): {ID} under ")


def test_a_text_with_control_characters_is_found_and_shown_escaped(run: Run, tmp_path: Path, chain: Path) -> None:
    hostile = f"{ID}\n\x1b[2J\u202e"
    path = tmp_path / "hostile.json"
    path.write_text(json.dumps(history(text=hostile)), encoding="utf-8")
    done = run("trace", path, "--chain", chain, "--find", hostile)

    assert done.exit_code == 0
    assert done.stdout.splitlines()[0].endswith(rf": {ID}\n\x1b[2J\u202e under {chain}, 6 requests")
    assert not {"\x1b", "\u202e"} & set(done.stdout)


def test_a_trace_leaves_nothing_behind_unless_an_archive_is_named(process: Process, written: Path, chain: Path) -> None:
    chain.write_text(f"{chain.read_text(encoding='utf-8')}archive: kept\n", encoding="utf-8")
    folder = written.parent
    before = sorted(folder.iterdir())
    arguments = ("trace", written, "--chain", chain, "--find", ID)
    silent = process(*arguments, env={"ELISION_ARCHIVE": ""})
    after = sorted(folder.iterdir())
    named = process(*arguments, "--archive", "mine", "--json", env={"ELISION_ARCHIVE": ""})
    shown = process(*arguments, "--archive", "mine", env={"ELISION_ARCHIVE": ""})
    ref = json.loads(named.stdout)["places"][0]["ref"]
    recalled = process("recall", ref, "--archive", "mine")

    assert (silent.returncode, after) == (0, before)
    assert (folder / "mine").is_dir()
    assert recalled.stdout == f"{LOG}{ID}"
    assert ("in memory only" in silent.stdout, "in memory only" in shown.stdout) == (True, False)


def test_a_chain_that_keeps_nothing_still_removes_nothing(process: Process, written: Path, chain: Path) -> None:
    chain.write_text(f"{chain.read_text(encoding='utf-8')}archive: none\n", encoding="utf-8")
    done = process("trace", written, "--chain", chain, "--find", ID, env={"ELISION_ARCHIVE": ""})

    assert done.returncode == 0
    assert "archive   refused" in done.stdout
    assert done.stdout.endswith("visible: 1 time(s) in the last request, at 1 of 1 place(s)\n")


def test_a_processor_that_raises_is_a_warning(run: Run, written: Path, tmp_path: Path) -> None:
    path = tmp_path / "raising.yaml"
    path.write_text("history_processors: [{type: call, target: 'json:loads'}]\n", encoding="utf-8")
    done = run("trace", written, "--chain", path, "--find", ID)

    assert done.exit_code == 0
    assert done.stderr.startswith("warning: call raised TypeError: ")


def test_the_command_on_its_page_prints_what_is_shown(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    page = (ROOT / "docs" / "trace.md").read_text(encoding="utf-8")
    command, shown, *_ = blocks(page, "sh")[0].text, blocks(page, "")[0].text
    monkeypatch.chdir(ROOT)
    done = run(*shlex.split(command)[1:])

    assert (done.stdout, done.exit_code) == (shown, 0)
