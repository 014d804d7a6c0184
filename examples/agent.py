"""An agent in one file: a loop with tools to run commands, read, write and search, behind a chain of Elision.

The model's requests go through ``elision.completion``, so the history stays whole here and what is sent is what the
chain leaves of it.  What the chain takes out the model can bring back with the tool ``recall``.

    python examples/agent.py                              a scripted model, under every shipped chain: costs, as a table
    python examples/agent.py --chain default --steps 24   one chain, a shorter run (--shape anthropic: in one shape)
    python examples/agent.py --model gpt-4.1 --folder work "Fix the failing test."

With ``--model`` it is a real agent: it needs the provider's key, as litellm reads it, and runs the model's commands in
``--folder`` without asking.  Use a folder that you can lose.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import re
import subprocess
import tempfile
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from openai import OpenAIError

import elision

SYSTEM = "You are a careful programmer. Work in the current folder with the tools. When all is done, say so."
PATH, NUMBER = {"path": {"type": "string"}}, {"type": "integer"}
SHAPES = {
    "shell": ("Run a shell command.", {"command": {"type": "string"}}),
    "read_file": ("Read a file, or so many lines of it.", {**PATH, "start": NUMBER, "lines": NUMBER}),
    "write_file": ("Write a file anew.", {**PATH, "content": {"type": "string"}}),
    "search": ("Find the lines of files that match a regular expression.", {**PATH, "pattern": {"type": "string"}}),
}


def schema(name: str, about: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """Return a tool as requests have it."""
    parameters = {"type": "object", "properties": arguments, "required": sorted(arguments.keys() - {"start", "lines"})}
    return {"type": "function", "function": {"name": name, "description": about, "parameters": parameters}}


TOOLS = [*(schema(name, *said) for name, said in SHAPES.items()), elision.recall_tool_schema()]


def shell(command: str) -> str:
    """Run a command."""
    done = subprocess.run(command, shell=True, capture_output=True, text=True, timeout=120, check=False)
    return f"{done.stdout}{done.stderr}[exit code {done.returncode}]"


def read_file(path: str, start: int = 1, lines: int = 2000) -> str:
    """Return lines of a file."""
    return "".join(inside(path).read_text(errors="replace").splitlines(keepends=True)[start - 1 : start - 1 + lines])


def write_file(path: str, content: str) -> str:
    """Write a file, and the folders that it needs."""
    inside(path).parent.mkdir(parents=True, exist_ok=True)
    inside(path).write_text(content)
    return f"wrote {len(content)} characters to {path}"


def search(path: str, pattern: str) -> str:
    """Return the lines that match in the files of a folder, hidden ones left out."""
    found = []
    for file in sorted(inside(path).rglob("*")):
        if file.is_file() and not any(part.startswith(".") for part in file.relative_to(Path.cwd()).parts):
            lines = enumerate(file.read_text(errors="replace").splitlines(), 1)
            found += [f"{file.relative_to(Path.cwd())}:{n}: {line}" for n, line in lines if re.search(pattern, line)]
    return "\n".join(found[:200]) or "nothing matches"


def inside(path: str) -> Path:
    """Return a path in the current folder, and refuse any other."""
    found = Path(path).resolve()
    if not found.is_relative_to(Path.cwd()):
        raise ValueError(f"{path} is outside the folder")
    return found


@dataclass
class Run:
    """What came of a run."""

    done: bool = False
    steps: int = 0
    calls: Counter[str] = field(default_factory=Counter)
    messages: list[dict[str, Any]] = field(default_factory=list)


def answer(name: str, arguments: str, archive: elision.Archive) -> str:
    """Answer a call; what is wrong with it is told to the model."""
    if name == "recall":
        return elision.handle_recall(arguments, archive)
    try:
        return {each.__name__: each for each in (shell, read_file, write_file, search)}[name](**json.loads(arguments))
    except Exception as error:  # noqa: BLE001 (the model is to read it, and to go on)
        return f"error: {type(error).__name__}: {error}"


def work(task: str, *, model: str, chain: str | elision.Chain, steps: int = 200, **options: Any) -> Run:
    """Let the model work on a task in the current folder until it calls no more tools."""
    loaded = chain if isinstance(chain, elision.Chain) else elision.load(chain)
    run = Run(messages=[{"role": "system", "content": SYSTEM}, {"role": "user", "content": task}])
    with loaded.session() as session:
        while run.steps < steps and not run.done:
            said = elision.completion(model, run.messages, session=session, tools=TOOLS, **options).choices[0].message
            run.messages.append(said.model_dump(exclude_none=True))
            run.steps += 1
            run.done = not said.tool_calls
            for call in said.tool_calls or ():
                run.calls[call.function.name] += 1
                text = answer(call.function.name, call.function.arguments, loaded.opened_archive)
                run.messages.append({"role": "tool", "tool_call_id": call.id, "content": text})
    return run


def main() -> int:
    """Run the real model that is named, or else the scripted one."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("task", nargs="?", default="Look around, and say what is here.")
    parser.add_argument("--model", help="a model that litellm knows; without it a scripted one answers")
    parser.add_argument("--chain", help="a chain: a file, or one that ships; all that ship, with the scripted model")
    parser.add_argument("--folder", type=Path, help="where it works; a temporary one if not given")
    parser.add_argument("--steps", type=int, default=120, help="most steps; with the scripted model about so many")
    parser.add_argument("--shape", help="with the scripted model: one shape of requests, such as anthropic; else each")
    given = parser.parse_args()
    chain = str(Path(given.chain).resolve()) if given.chain and Path(given.chain).is_file() else given.chain
    try:
        if given.model is None:
            import agent_script

            return agent_script.compare([chain] if chain else None, given.steps, given.shape)
        with tempfile.TemporaryDirectory() as made, contextlib.chdir(given.folder or made):
            run = work(given.task, model=given.model, chain=chain or "default", steps=given.steps)
    except (elision.ElisionError, OSError, OpenAIError) as error:
        raise SystemExit(str(error).strip() or repr(error)) from None
    ended = "" if run.done else ", stopped by --steps"
    print(run.messages[-1].get("content") or "", f"[{run.steps} steps{ended}, {dict(run.calls)}]", sep="\n")
    return 0 if run.done else 1


if __name__ == "__main__":
    raise SystemExit(main())
