from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from command_line import Plugin, Process, Run
from forked import Done, Python

from elision.cli import cli


@pytest.fixture
def run() -> Run:
    """Run a command in this process."""

    def invoke(*arguments: object, stdin: str | bytes | None = None) -> Result:
        return CliRunner().invoke(cli, [str(argument) for argument in arguments], input=stdin, prog_name="elision")

    return invoke


@pytest.fixture
def process(tmp_path: Path, python: Python) -> Process:
    """Run a command in a process of its own."""

    def start(*arguments: object, env: dict[str, str] | None = None) -> Done:
        environment = {**os.environ, "TMPDIR": str(tmp_path), **(env or {})}
        return python("-m", "elision", *arguments, cwd=tmp_path, env=environment)

    return start


@pytest.fixture
def plugin(tmp_path: Path) -> Plugin:
    """Install a plugin of a stranger; return the environment in which a process sees it."""

    def install(code: str) -> dict[str, str]:
        folder = tmp_path / "installed"
        info = folder / "stranger-1.0.dist-info"
        info.mkdir(parents=True)
        (folder / "stranger_plugin.py").write_text(code, encoding="utf-8")
        (info / "METADATA").write_text("Metadata-Version: 2.1\nName: stranger\nVersion: 1.0\n", encoding="utf-8")
        (info / "entry_points.txt").write_text("[elision]\nstranger = stranger_plugin\n", encoding="utf-8")
        return {"PYTHONPATH": str(folder)}

    return install


def history(results: int = 6, *, lines: int = 40) -> list[dict[str, Any]]:
    messages: list[dict[str, Any]] = [{"role": "user", "content": "Mend the build."}]
    for number in range(results):
        call = {
            "id": f"call_{number}",
            "type": "function",
            "function": {"name": "bash", "arguments": '{"command": "make"}'},
        }
        messages.append({"role": "assistant", "content": f"Attempt {number}.", "tool_calls": [call]})
        output = "\n".join(f"line {line} of attempt {number}" for line in range(lines))
        messages.append({"role": "tool", "tool_call_id": f"call_{number}", "content": output})
    return messages


@pytest.fixture
def messages() -> list[dict[str, Any]]:
    return history()


@pytest.fixture
def recorded(tmp_path: Path, messages: list[dict[str, Any]]) -> Path:
    path = tmp_path / "run.json"
    path.write_text(json.dumps(messages), encoding="utf-8")
    return path


@pytest.fixture
def two_runs(tmp_path: Path) -> Path:
    path = tmp_path / "runs.jsonl"
    runs = [{"messages": history(3)}, {"messages": [{"role": "user", "content": "Another."}, *history(4)[1:]]}]
    path.write_text("\n".join(map(json.dumps, runs)), encoding="utf-8")
    return path


@pytest.fixture
def chain(tmp_path: Path) -> Path:
    path = tmp_path / "chain.yaml"
    path.write_text("history_processors:\n  - type: last_n_observations\n    n: 2\n", encoding="utf-8")
    return path
