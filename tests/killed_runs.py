"""An agent's session is killed again and again, wherever it is: in an offload, in a summary, in an archive write.

Each life goes on where the one before was.  ``python killed_runs.py FOLDER KILLS SEED`` kills it at random and prints
what is wrong, as JSON; ``python killed_runs.py FOLDER`` kills one at each of ``POINTS``.
"""

from __future__ import annotations

import json
import os
import random
import signal
import sys
import time
import warnings
from hashlib import sha256
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

from wire_rules import bytes_of, wire_faults

import elision
from elision.archive.sqlite import SqliteStore
from elision.archive.sqlite_writing import SqliteWriting
from elision.testing import call, conversation, result

STEPS = 24
LONG = "a line of the output\n"
CHAIN = """\
history_processors:
  - {type: offload, threshold_chars: 12000}
  - {type: summarize, trigger_steps: 9, keep_last_steps: 3, summarizer: call, target: "killed_runs:summary"}
  - {type: clear_tool_results, keep: 2, schedule: {polling: 2}}
classification: none
"""
_DIGEST_PART = 12


def summary(prompt: str, *, model: str, timeout_seconds: float, max_tokens: int) -> str:
    """Answer as a model that takes its time, and never says the same twice."""
    time.sleep(0.05)
    return f"Summary {os.getpid()} of {sha256(prompt.encode()).hexdigest()[:_DIGEST_PART]}: read on."


def history() -> list[Any]:
    """Return the run: short results, and now and then a long one."""
    run = conversation().user("Read all of it. Never touch the release branch.")
    for number in range(STEPS):
        text = f"{number}: {LONG * (700 if number % 5 == 2 else 40)}"
        run = run.step(f"I read {number}.", call("read_file", path=f"{number}.txt"), result(text))
    return run.messages()


def chain() -> elision.Chain:
    return elision.loads(CHAIN, archive=".elision")


def live(log: Path) -> None:
    """Go on from the last request that was answered, and note what each one sent."""
    messages, answered = history(), len(log.read_text(encoding="utf-8").splitlines())
    out = os.open(log, os.O_WRONLY | os.O_APPEND)
    with chain().session("run") as session:
        for stop in range(1 + 2 * answered, len(messages) + 1, 2):
            view = session.process(messages[:stop])
            found = {"sha256": digest(view), "failures": [failure.told for failure in view.failures]}
            os.write(out, json.dumps(found).encode() + b"\n")
    os._exit(0)


def digest(view: elision.SentView) -> str:
    return sha256(bytes_of(view.messages).encode()).hexdigest()


def run(folder: Path, kills: int, seed: int) -> dict[str, Any]:
    """Kill a session, go on with the next, and look at all that is left when the run is over."""
    chance, log, died = random.Random(seed), begun(folder), 0  # noqa: S311 (no secrets here)
    while True:
        pid = start(log)
        if died < kills:
            time.sleep(chance.uniform(0.0, 0.25))
            os.kill(pid, signal.SIGKILL)
        _, status = os.waitpid(pid, 0)
        if os.WIFEXITED(status):
            return {"died": died, "exit": os.WEXITSTATUS(status), **check(log)}
        died += 1


def stopped_at(folder: Path, point: str) -> dict[str, Any]:
    """Let a session die when it comes to a point, and go on with another."""
    log = begun(folder)
    _, status = os.waitpid(start(log, point), 0)
    first = len(log.read_text(encoding="utf-8").splitlines())
    os.waitpid(start(log), 0)
    return {"died": os.WIFSIGNALED(status), "first": first, **check(log)}


def begun(folder: Path) -> Path:
    """Go to an empty folder, and return the log of the requests that were answered."""
    folder.mkdir(exist_ok=True)
    os.chdir(folder)
    warnings.simplefilter("ignore", elision.ElisionWarning)
    elision.loads(CHAIN, archive="none").process(history()[:5])  # what is slow once, before any process is forked
    log = folder / "answered.jsonl"
    log.touch()
    return log


def start(log: Path, point: str = "") -> int:
    """Fork a process that goes on with the run, and dies at a point if one is named."""
    pid = os.fork()
    if pid == 0:
        try:
            if point:
                owner, name = POINTS[point]
                setattr(owner, name, die)
            live(log)
        finally:
            os._exit(1)
    return pid


def die(*_: Any, **__: Any) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


POINTS: dict[str, tuple[Any, str]] = {
    "a file is written and has no name yet": (os, "link"),
    "a model writes a summary": (time, "sleep"),
    "originals are in a transaction": (SqliteWriting, "note"),
    "a transaction is about to begin": (SqliteStore, "transaction"),
}
"""What a process does when it dies, and the call that it does not live to finish."""


def check(log: Path) -> dict[str, Any]:
    """Compare what was sent with what a new process would send now, and every original with what the host has."""
    messages = history()
    lines = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]
    made = chain()
    unlike = []
    for place, line in enumerate(lines):
        view = made.process(messages[: 1 + 2 * place])
        if digest(view) != line["sha256"]:
            unlike.append(place)
    archive, lost = made.opened_archive, []
    for edit in view.edits:
        if edit.action == "drop":
            kept, given = archive.get(edit.ref).content, messages[edit.position : edit.position + 2]
            if kept != given:
                lost.append(edit.ref)
        elif edit.ref and archive.get(edit.ref).content != messages[edit.position]["content"]:
            lost.append(edit.ref)
    files = [path for path in Path(".elision/offloaded").iterdir() if path.name != ".gitignore"]
    return {
        "requests": len(lines),
        "dropped": sum(edit.action == "drop" for edit in view.edits),
        "files": len(files),
        "rule": view.messages[0]["content"] == messages[0]["content"],
        "unlike": unlike,
        "failures": [line["failures"] for line in lines if line["failures"]],
        "lost": lost,
        "torn": [path.name for path in files if sha256(path.read_bytes()).hexdigest()[:32] != path.stem],
        "faults": wire_faults("openai", view.messages),
        "problems": list(archive.verify().problems),
    }


if __name__ == "__main__":
    where = Path(sys.argv[1])
    if len(sys.argv) > 2:
        found: Any = run(where, int(sys.argv[2]), int(sys.argv[3]))
    else:
        found = {point: stopped_at(where / str(number), point) for number, point in enumerate(POINTS)}
    print(json.dumps(found))
