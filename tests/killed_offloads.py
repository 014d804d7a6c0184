"""Two processes offload the same long results again and again while they are killed; then everything is looked at.

``python killed_offloads.py FOLDER KILLS SEED`` prints what is wrong, as JSON.
"""

from __future__ import annotations

import json
import os
import random
import signal
import sys
import time
from hashlib import sha256
from pathlib import Path
from typing import Any

import elision
from elision.archive.opening import trial_archive
from elision.testing import call, conversation, result

WRITERS = 2
CHAIN = "history_processors: [{type: offload, threshold_chars: 2000}]\nclassification: none"


def history(round_: int) -> list[Any]:
    """Return a run with three long results, of which other processes offload the same."""
    run = conversation().user("Go.")
    for number in range(3):
        text = f"{round_}/{number}: a line of output\n" * (200 + 4000 * number)
        run = run.step(call("search", q=str(number)), result(text))
    return run.step("Done.").messages()


def chain(folder: Path) -> elision.Chain:
    loaded = elision.loads(CHAIN, archive="none")
    return elision.Chain(
        loaded.processors, classification=None, archive=elision.open_archive(folder / "archive", environ={})
    )


def offload(folder: Path, life: int) -> None:
    """Offload for ever, beginning with what the life before and the one after have, too."""
    os.chdir(folder)
    made = chain(folder)
    for round_ in range(life // 2, 10_000):
        made.process(history(round_))


def start(folder: Path, life: int) -> int:
    """Fork a process that offloads."""
    pid = os.fork()
    if pid == 0:
        try:
            offload(folder, life)
        finally:
            os._exit(1)
    return pid


def end(pid: int) -> None:
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)


def run(folder: Path, kills: int, seed: int) -> dict[str, Any]:
    """Kill processes, replace them, and check what they leave."""
    chance = random.Random(seed)  # noqa: S311 (no secrets here)
    elision.Chain(elision.loads(CHAIN).processors, archive=trial_archive()).process(history(0))  # what is slow once
    running = [start(folder, life) for life in range(WRITERS)]
    for number in range(kills):
        time.sleep(chance.uniform(0.001, 0.4))
        place = number % WRITERS
        end(running[place])
        running[place] = start(folder, WRITERS + number)
    for pid in running:
        end(pid)
    return check(folder)


def check(folder: Path) -> dict[str, Any]:
    """Offload once more, after the kills, and compare every file with its name and every view with its originals."""
    os.chdir(folder)
    files = list(Path(".elision/offloaded").glob("[0-9a-f]*.txt"))
    parts = [path.name for path in Path(".elision/offloaded").glob("*.part")]
    torn = [path.name for path in files if sha256(path.read_bytes()).hexdigest()[:32] != path.stem]
    made, lost, unlike = chain(folder), [], []
    for round_ in range(20):
        messages = history(round_)
        view = made.process(messages)
        if view.failures or len(view.edits) != 3:
            unlike.append(round_)
        for edit in view.edits:
            text, note = messages[edit.position]["content"], view.messages[edit.position]["content"]
            path = Path(note.partition("offloaded to ")[2].partition(";")[0])
            if made.opened_archive.get(edit.ref).content != text or path.read_text() != text:
                lost.append(edit.ref)
    problems = list(made.opened_archive.verify().problems)
    return {
        "files": len(files),
        "parts": len(parts),
        "torn": torn,
        "lost": lost,
        "unlike": unlike,
        "problems": problems,
    }


if __name__ == "__main__":
    print(json.dumps(run(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))))
