"""Record the sample agent run of this folder.

The agent is a script, not a model: `run_script.toml` holds its messages and its
tool calls, and `run_tools.json` the schemas of the tools. The tools are real.
They work on a copy of `sample_repo/` in a temporary folder. What they return is
recorded as it is, except that machine paths and test timings are rewritten so
that every recording is the same.

    python examples/record_run.py            write examples/sample_run.json
    python examples/record_run.py --check    exit 1 if that file is out of date

The script needs git, a POSIX shell and nothing outside the standard library.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

HERE = Path(__file__).resolve().parent
SAMPLE_REPO = HERE / "sample_repo"
SCRIPT_FILE = HERE / "run_script.toml"
TOOLS_FILE = HERE / "run_tools.json"
OUTPUT_FILE = HERE / "sample_run.json"

MODEL = "gpt-4o"
FIRST_COMMIT_TIME = 1714986000  # 2024-05-06 09:00 UTC; each step adds one minute
MAX_MATCHES = 100
TIMEOUT_SECONDS = 120


@dataclass(frozen=True)
class Result:
    """What a tool returned, and whether it did what was asked."""

    text: str
    ok: bool = True


class ToolError(Exception):
    """A request that a tool cannot carry out."""


class Workspace:
    """A copy of the sample repository and the tools that work on it."""

    def __init__(self, base: Path) -> None:
        self.root = base / "repo"
        self.step = 0
        self._base = base
        self._tools: dict[str, Callable[..., Result]] = {
            tool.__name__: tool
            for tool in (
                self.shell,
                self.run_tests,
                self.read_file,
                self.search,
                self.list_dir,
                self.write_file,
                self.edit_file,
            )
        }
        for source in sorted(SAMPLE_REPO.rglob("*")):
            if source.is_file() and "__pycache__" not in source.parts:
                target = self.root / source.relative_to(SAMPLE_REPO)
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(source.read_bytes())
        python = base / "bin" / "python"
        python.parent.mkdir()
        python.write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n', encoding="utf-8")
        python.chmod(0o755)

    def call(self, name: str, arguments: dict[str, Any]) -> Result:
        """Run one tool; every exception becomes an error result."""
        try:
            result = self._tools[name](**arguments)
        except ToolError as error:
            result = Result(f"Error: {error}", ok=False)
        except Exception as error:  # noqa: BLE001 - an agent sees every failure as text
            result = Result(f"Error: {type(error).__name__}: {error}", ok=False)
        return Result(self._normalise(result.text), result.ok)

    # -- the tools ---------------------------------------------------------

    def shell(self, command: str) -> Result:
        """Run a command; the exit code is shown when it is not zero."""
        done = subprocess.run(
            ["/bin/sh", "-c", command],
            cwd=self.root,
            env=self._environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            timeout=TIMEOUT_SECONDS,
            check=False,
        )
        text = done.stdout.rstrip("\n") or "(no output)"
        if done.returncode:
            return Result(f"{text}\n[exit code {done.returncode}]", ok=False)
        return Result(text)

    def run_tests(self, args: str) -> Result:
        """Run unittest, on all tests when no arguments are given."""
        return self.shell(f"python -m unittest {args or 'discover -s tests -t .'}")

    def read_file(self, path: str, start: int = 1, end: int | None = None) -> Result:
        """Return the lines of a file with their numbers."""
        lines = self._read(path).splitlines()
        last = min(end or len(lines), len(lines))
        head = f"{path} (lines {start}-{last} of {len(lines)})"
        return Result("\n".join([head, *_numbered(lines, start, last)]))

    def search(self, pattern: str, path: str) -> Result:
        """Return the matching lines as `path:line: text`."""
        top = self._resolve(path)
        wanted = re.compile(pattern)
        found: list[str] = []
        for file in [top] if top.is_file() else sorted(top.rglob("*")):
            name = file.relative_to(self.root)
            if not file.is_file() or ".git" in name.parts:
                continue
            for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), start=1):
                if wanted.search(line):
                    found.append(f"{name.as_posix()}:{number}: {line}")
        if len(found) > MAX_MATCHES:
            found[MAX_MATCHES:] = [f"({len(found) - MAX_MATCHES} more matches)"]
        return Result("\n".join(found) or "no matches")

    def list_dir(self, path: str) -> Result:
        """Return the entries of a folder; files come with their size."""
        entries = sorted(self._resolve(path).iterdir(), key=lambda entry: entry.name)
        return Result(
            "\n".join(
                f"{entry.name}/" if entry.is_dir() else f"{entry.name}  {entry.stat().st_size}" for entry in entries
            )
        )

    def write_file(self, path: str, content: str) -> Result:
        """Write a whole file."""
        target = self._resolve(path)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(content, encoding="utf-8")
        return Result(f"Wrote {path}: {len(content.splitlines())} lines")

    def edit_file(self, path: str, old: str, new: str) -> Result:
        """Replace one piece of text and show the changed lines."""
        text = self._read(path)
        count = text.count(old)
        if count == 0:
            raise ToolError(f"old text not found in {path}; the file was not changed")
        if count > 1:
            raise ToolError(f"old text occurs {count} times in {path}; it must be unique")
        first = text[: text.index(old)].count("\n") + 1
        changed = text.replace(old, new)
        self._resolve(path).write_text(changed, encoding="utf-8")
        lines = changed.splitlines()
        last = min(first + new.count("\n") + 2, len(lines))
        head = f"Edited {path}. The file now reads:"
        return Result("\n".join([head, *_numbered(lines, max(1, first - 3), last)]))

    # -- helpers -----------------------------------------------------------

    def _resolve(self, path: str) -> Path:
        """Return the real path of a file of the repository."""
        target = (self.root / path).resolve()
        if not target.is_relative_to(self.root):
            raise ToolError(f"{path} is outside the repository")
        return target

    def _read(self, path: str) -> str:
        """Return the text of a file of the repository."""
        target = self._resolve(path)
        if not target.is_file():
            raise ToolError(f"{path} does not exist")
        return target.read_text(encoding="utf-8")

    def _environment(self) -> dict[str, str]:
        """Return a fixed environment for the commands."""
        env = {
            "PATH": f"{self._base / 'bin'}{os.pathsep}{os.environ.get('PATH', os.defpath)}",
            "HOME": str(self._base),
            "TMPDIR": str(self._base),
            "LC_ALL": "C",
            "TZ": "UTC",
            "COLUMNS": "80",
            "PYTHONHASHSEED": "0",
            "PYTHONUTF8": "1",
            "PYTHONDONTWRITEBYTECODE": "1",
            "PYTHONNODEBUGRANGES": "1",
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CEILING_DIRECTORIES": str(self._base),
            "GIT_PAGER": "cat",
        }
        for who in ("AUTHOR", "COMMITTER"):
            env[f"GIT_{who}_NAME"] = "Sample Agent"
            env[f"GIT_{who}_EMAIL"] = "agent@example.com"
            env[f"GIT_{who}_DATE"] = f"{FIRST_COMMIT_TIME + 60 * self.step} +0000"
        return env

    def _normalise(self, text: str) -> str:
        """Rewrite what depends on the machine: paths and test timings."""
        stdlib = Path(sysconfig.get_path("stdlib"))
        for path, name in (
            (self.root, "/repo"),
            (sys.executable, "python"),
            (stdlib, "/usr/lib/python3"),
            (stdlib.resolve(), "/usr/lib/python3"),
            (self._base, "/home/agent"),
        ):
            text = text.replace(str(path), name)
        return re.sub(r"^(Ran \d+ tests?) in [\d.]+s$", r"\1 in 0.003s", text, flags=re.MULTILINE)


def _numbered(lines: list[str], start: int, end: int) -> list[str]:
    """Return lines `start` to `end`, each with its number in front."""
    return [f"{number:>5}  {lines[number - 1]}" for number in range(start, end + 1)]


def take_turn(workspace: Workspace, turn: dict[str, Any], first_id: int) -> list[dict[str, Any]]:
    """Return the messages of one turn of the script, with the real results.

    A call that is marked `fails = true` must fail and every other call must
    succeed; otherwise the script no longer fits the sample repository.
    """
    message: dict[str, Any] = {"role": turn.get("role", "assistant"), "content": turn["text"]}
    calls: list[dict[str, Any]] = []
    results: list[dict[str, Any]] = []
    for number, call in enumerate(turn.get("calls", []), start=first_id):
        arguments = {key: value for key, value in call.items() if key not in ("tool", "fails")}
        result = workspace.call(call["tool"], arguments)
        if result.ok == call.get("fails", False):
            sys.exit(f"call {number} ({call['tool']}) did not go as planned:\n{result.text}")
        function = {
            "name": call["tool"],
            "arguments": json.dumps(arguments, ensure_ascii=False),
        }
        calls.append({"id": f"call_{number:03d}", "type": "function", "function": function})
        results.append({"role": "tool", "tool_call_id": f"call_{number:03d}", "content": result.text})
    if calls:
        message["tool_calls"] = calls
    return [message, *results]


def record() -> str:
    """Play the whole script and return the run as JSON text."""
    script = tomllib.loads(SCRIPT_FILE.read_text(encoding="utf-8"))
    messages: list[dict[str, Any]] = []
    base = Path(tempfile.mkdtemp(prefix="record-run-")).resolve()
    try:
        workspace = Workspace(base)
        next_id = 1
        for turn in script["turns"]:
            messages += take_turn(workspace, turn, next_id)
            next_id += len(turn.get("calls", []))
            workspace.step += 1
    finally:
        shutil.rmtree(base)
    tools = json.loads(TOOLS_FILE.read_text(encoding="utf-8"))
    run = {"model": MODEL, "messages": messages, "tools": tools}
    return json.dumps(run, indent=1, ensure_ascii=False) + "\n"


def main() -> int:
    """Write the recorded run, or compare it with the committed file."""
    parser = argparse.ArgumentParser(description="Record the sample agent run.")
    parser.add_argument("--check", action="store_true", help="only compare, write nothing")
    args = parser.parse_args()
    text = record()
    if not args.check:
        OUTPUT_FILE.write_text(text, encoding="utf-8", newline="\n")
        return 0
    if not OUTPUT_FILE.is_file() or OUTPUT_FILE.read_text(encoding="utf-8") != text:
        print(f"{OUTPUT_FILE.name} is out of date; run record_run.py", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
