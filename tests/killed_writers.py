"""Four processes write to one archive while they are killed at random points; then everything is looked at.

``python killed_writers.py FOLDER KILLS SEED`` prints how much was acknowledged, and what is wrong, as JSON.
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

from elision.archive import Entry, open_archive
from elision.errors import ArchiveError

WRITERS = 4


def content(life: int, number: int) -> str:
    """Return what a writer stores: a size and text of its own, and now and then one that all share."""
    if number % 7 == 0:
        return f"shared {number}"
    return f"{life}/{number} " + "some output\n" * ((life * 1000 + number * 37) % 400)


def write(folder: Path, life: int) -> None:
    """Store for ever; what has been stored is acknowledged in a file of this writer."""
    log = os.open(folder / f"{life}.acknowledged", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    archive = open_archive(folder / "archive", environ={})
    number = 0
    while True:
        batch = range(number, number + 3)
        entries = [
            Entry(content=content(life, each), session=str(life), placeholder=f"{life}.{each}") for each in batch
        ]
        try:
            refs = archive.put_all(entries)
        except ArchiveError as error:
            os.write(log, json.dumps({"error": str(error)}).encode() + b"\n")
            continue
        lines = [json.dumps({"number": each, "ref": ref.short}) for each, ref in zip(batch, refs, strict=True)]
        os.write(log, "\n".join(lines).encode() + b"\n")
        number += 3


def start(folder: Path, life: int) -> int:
    """Fork a writer."""
    pid = os.fork()
    if pid == 0:
        try:
            write(folder, life)
        finally:
            os._exit(1)
    return pid


def run(folder: Path, kills: int, seed: int) -> dict[str, Any]:
    """Kill writers, replace them, and check what they leave."""
    chance = random.Random(seed)  # noqa: S311 (no secrets here)
    lives = iter(range(10_000))
    running = [start(folder, next(lives)) for _ in range(WRITERS)]
    for _ in range(kills):
        time.sleep(chance.uniform(0.001, 0.08))
        place = chance.randrange(WRITERS)
        end(running[place])
        running[place] = start(folder, next(lives))
    for pid in running:
        end(pid)
    return check(folder)


def end(pid: int) -> None:
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)


def check(folder: Path) -> dict[str, Any]:
    """Compare what was acknowledged with what is there."""
    archive = open_archive(folder / "archive", environ={})
    lost, acknowledged, errors = [], 0, []
    for log in folder.glob("*.acknowledged"):
        life = int(log.stem)
        for line in log.read_text().splitlines():
            said = json.loads(line)
            if "error" in said:
                errors.append(said["error"])
                continue
            acknowledged += 1
            found = archive.get(said["ref"])
            if found.content != content(life, said["number"]) or not archive.is_ours(f"{life}.{said['number']}"):
                lost.append(said)
    verified = archive.verify()
    torn = [session for session, count in sessions(archive).items() if count % 3]
    return {
        "acknowledged": acknowledged,
        "records": verified.records,
        "problems": list(verified.problems),
        "lost": lost,
        "torn": torn,
        "errors": errors,
    }


def sessions(archive: Any) -> dict[str, int]:
    counts: dict[str, int] = {}
    for record in archive.records():
        counts[record.session] = counts.get(record.session, 0) + 1
    return counts


if __name__ == "__main__":
    print(json.dumps(run(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))))
