"""Two processes sum up the same runs again and again while they are killed; then everything is looked at.

``python killed_summaries.py FOLDER KILLS SEED`` prints what is wrong, as JSON.
"""

from __future__ import annotations

import json
import os
import random
import signal
import sys
import time
from pathlib import Path
from typing import Any

import elision
from elision.testing import call, conversation, result

WRITERS = 2
CHAIN = "history_processors: [{type: summarize, trigger_steps: 6, keep_last_steps: 2}]\nclassification: none"


def history(round_: int) -> list[Any]:
    """Return a run that is long enough for a summary, of which other processes sum up the same."""
    run = conversation().user("Go.")
    for number in range(8):
        run = run.step(call("search", q=f"{round_}/{number}"), result(f"{round_}/{number}: output\n" * 400))
    return run.step("Done.").messages()


def chain(folder: Path) -> elision.Chain:
    loaded = elision.loads(CHAIN, archive="none")
    archive = elision.open_archive(folder / "archive", environ={})
    return elision.Chain(loaded.processors, classification=None, archive=archive)


def sum_up(folder: Path, life: int) -> None:
    """Sum up for ever, beginning with what the life before and the one after have, too."""
    made = chain(folder)
    for round_ in range(life // 2, 10_000):
        made.process(history(round_))


def start(folder: Path, life: int) -> int:
    """Fork a process that sums up."""
    pid = os.fork()
    if pid == 0:
        try:
            sum_up(folder, life)
        finally:
            os._exit(1)
    return pid


def end(pid: int) -> None:
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)


def run(folder: Path, kills: int, seed: int) -> dict[str, Any]:
    """Kill processes, replace them, and check what they leave."""
    chance = random.Random(seed)  # noqa: S311 (no secrets here)
    elision.Chain(elision.loads(CHAIN).processors, classification=None, archive="memory:").process(history(0))
    running = [start(folder, life) for life in range(WRITERS)]
    for number in range(kills):
        time.sleep(chance.uniform(0.001, 0.3))
        place = number % WRITERS
        end(running[place])
        running[place] = start(folder, WRITERS + number)
    for pid in running:
        end(pid)
    return check(folder)


def check(folder: Path) -> dict[str, Any]:
    """Sum up once more, after the kills, and hold every view and every original against one that nobody disturbed."""
    made, lost, unlike, without = chain(folder), [], [], []
    quiet = elision.Chain(made.processors, classification=None, archive="memory:")
    for round_ in range(8):
        messages = history(round_)
        view = made.process(messages)
        if view.failures or view.messages != quiet.process(messages).messages:
            unlike.append(round_)
        if not any(edit.action == "drop" for edit in view.edits):
            without.append(round_)
        for edit in view.edits:
            span = messages[edit.position : edit.position + 2]
            if edit.action == "drop" and made.opened_archive.get(edit.ref).content != span:
                lost.append(edit.ref)
    problems = list(made.opened_archive.verify().problems)
    return {"lost": lost, "unlike": unlike, "problems": problems, "without": without}


if __name__ == "__main__":
    print(json.dumps(run(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))))
