"""The example agent does its task on real files, under every shipped chain, with every shape of request."""

from __future__ import annotations

import json
import re
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from elision.config import shipped_chains
from elision.testing import ModelServer, call, reply

EXAMPLES = Path(__file__).parents[1] / "examples"
STEPS = 12

sys.path.append(str(EXAMPLES))
agent: Any = import_module("agent")
script: Any = import_module("agent_script")


@pytest.mark.parametrize("shape", script.MODELS)
@pytest.mark.parametrize("chain", shipped_chains())
def test_the_example_agent_finishes_its_task_under_every_shipped_chain_with_every_provider_shape(
    chain: str, shape: str
) -> None:
    found = script.played(chain, shape, STEPS)

    assert found.invalid == ()
    assert found.done
    assert found.cost > 0


def test_what_a_chain_has_taken_out_is_recalled_when_it_is_needed() -> None:
    whole = script.played("cache_control", "openai", STEPS)
    by_age = script.played("turn_end", "openai", STEPS)

    assert (whole.recalls, by_age.recalls) == (0, 3)
    assert by_age.done
    assert by_age.input_tokens < whole.input_tokens


def test_a_run_that_repeats_comes_to_the_same() -> None:
    one, other = (script.played("default", "anthropic", STEPS) for _ in range(2))

    assert (one.steps, one.input_tokens, one.read_tokens, one.cost) == (
        other.steps,
        other.input_tokens,
        other.read_tokens,
        other.cost,
    )


def test_a_model_that_is_named_works_in_the_folder_that_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    steps = [
        reply(call("write_file", path="a/b.txt", content="one\ntwo\n"), call("shell", command="wc -l < a/b.txt")),
        reply(
            call("search", path=".", pattern="^tw"), call("read_file", path="../x"), call("read_file", path="a/c.txt")
        ),
        "Done.",
    ]
    with ModelServer(steps) as server:
        monkeypatch.setenv("OPENAI_API_BASE", server.base_url("openai"))
        monkeypatch.setenv("OPENAI_API_KEY", "none")
        monkeypatch.setattr(
            sys, "argv", ["agent.py", "--model", "gpt-4.1", "--folder", str(tmp_path), "--chain", "turn_end", "Count."]
        )
        ended = agent.main()
    sent = server.requests[-1]["messages"]
    results = [message["content"] for message in sent if message["role"] == "tool"]

    assert ended == 0
    assert capsys.readouterr().out.startswith("Done.\n[3 steps, ")
    assert (tmp_path / "a" / "b.txt").read_text(encoding="utf-8") == "one\ntwo\n"
    assert [result.split()[0] for result in results[:2]] == ["wrote", "2"]
    assert results[2] == "a/b.txt:2: two"
    assert "outside the folder" in results[3]
    assert results[4].startswith("error: FileNotFoundError")


def test_the_command_in_the_readme_prints_the_table(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    readme = (EXAMPLES.parent / "README.md").read_text(encoding="utf-8")
    (command,) = re.findall(r"^\.venv/bin/python examples/(agent\.py .*)$", readme, re.MULTILINE)
    monkeypatch.setattr(sys, "argv", command.split())
    ended = agent.main()
    head, *rows = capsys.readouterr().out.splitlines()

    assert ended == 0
    assert head.split() == ["chain", "shape", "steps", "input", "tokens", "cache", "hits", "cost", "recalls", "done"]
    assert [row.split()[1] for row in rows] == list(script.MODELS)
    assert {row.split()[-1] for row in rows} == {"yes"}


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--chain", "defalt"], "did you mean 'default'?"),
        (["--chain", "defalt", "--steps", "5"], "did you mean 'default'?"),
        (["--chain", "default", "--steps", "3"], "--steps: 3 are too few; the scripted task has 11 at least"),
        (["--chain", "default", "--shape", "opnai"], "--shape: there is no 'opnai'; shapes are openai, anthropic"),
        (["--model", "gpt-4.1", "--chain", "defalt"], "did you mean 'default'?"),
        (["--model", "gpt-4.1", "--folder", "nowhere"], "No such file or directory: 'nowhere'"),
        (["--model", "nobody/nothing"], "You passed model=nobody/nothing"),
        (["--model", "gpt-4.1"], "set the `OPENAI_API_KEY`"),
    ],
)
def test_what_cannot_be_run_is_told_in_one_line_before_anything_is_run(
    arguments: list[str], told: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.setattr(sys, "argv", ["agent.py", *arguments])
    with pytest.raises(SystemExit) as ended:
        agent.main()

    assert told in str(ended.value.code)
    assert capsys.readouterr().out == ""


def test_one_shape_and_a_chain_with_a_long_name_are_one_aligned_row(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    chain = tmp_path / "a_chain_whose_name_is_longer_than_most.yaml"
    chain.write_text("history_processors: []\n", encoding="utf-8")
    monkeypatch.setattr(sys, "argv", ["agent.py", "--chain", str(chain), "--shape", "openai", "--steps", "11"])
    ended = agent.main()
    head, row = capsys.readouterr().out.splitlines()

    assert (ended, row.split()[:3]) == (0, [chain.name, "openai", "11"])
    assert head.index("shape") == row.index("openai")


def test_more_steps_are_a_longer_run() -> None:
    steps = [script.played("cache_control", "openai", wanted).steps for wanted in (11, 14, 17)]

    assert steps == [11, 14, 17]


def test_a_real_run_that_is_stopped_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with ModelServer([reply(call("shell", command="ls"))] * 3) as server:
        monkeypatch.setenv("OPENAI_API_BASE", server.base_url("openai"))
        monkeypatch.setenv("OPENAI_API_KEY", "none")
        monkeypatch.setattr(
            sys, "argv", ["agent.py", "--model", "gpt-4.1", "--folder", str(tmp_path), "--steps", "2", "Look."]
        )
        ended = agent.main()

    assert ended == 1
    assert "[2 steps, stopped by --steps, {'shell': 2}]" in capsys.readouterr().out


def test_the_agent_is_one_short_file() -> None:
    assert len((EXAMPLES / "agent.py").read_text(encoding="utf-8").splitlines()) < 150


def test_the_table_shows_what_was_refused_and_says_that_the_run_failed(capsys: pytest.CaptureFixture[str]) -> None:
    failed = script.Figures("default", "openai", True, 3, 10, 0, 0.1, 0, ("keys: unknown",), 1.0)
    stopped = script.Figures("default", "openai", False, 3, 10, 0, 0.1, 0, (), 1.0, "it had come to no end")
    found = script.table([failed, stopped])
    lines = capsys.readouterr().out.splitlines()

    assert found == [failed, stopped]
    assert lines[-2] == "  refused: keys: unknown"
    assert lines[-1].endswith("NO: it had come to no end")


def test_the_bench_prints_and_writes_its_figures(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    figures = tmp_path / "figures.json"
    monkeypatch.syspath_prepend(str(EXAMPLES.parent / "bench"))
    argv = ["agent_run.py", "--quick", "--jobs", "1", "--chain", "turn_end", "--json", str(figures)]
    monkeypatch.setattr(sys, "argv", argv)
    ended = import_module("agent_run").main()

    assert ended == 0
    assert f"{len(script.MODELS)} runs of 15 steps, 0 failed" in capsys.readouterr().out
    assert [each["shape"] for each in json.loads(figures.read_text(encoding="utf-8"))] == list(script.MODELS)
