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
from collections import Counter
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
    """Store for ever, each time what came before once more; acknowledge what is new in a file of this writer."""
    log = os.open(folder / f"{life}.acknowledged", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    archive = open_archive(folder / "archive", environ={})
    number = 0
    while True:
        batch = range(max(0, number - 3), number + 3)
        entries = [
            Entry(content=content(life, each), session=str(life), placeholder=f"{life}.{each}") for each in batch
        ]
        try:
            refs = archive.put_all(entries, facts={fact_key(life, number): str(number)})
        except ArchiveError as error:
            os.write(log, json.dumps({"error": str(error)}).encode() + b"\n")
            continue
        new = zip(batch[-3:], refs[-3:], strict=True)
        lines = [json.dumps({"number": each, "ref": ref.short}) for each, ref in new]
        os.write(log, "\n".join(lines).encode() + b"\n")
        number += 3


def fact_key(life: int, number: int) -> bytes:
    """Return the key of the fact that goes in with the originals from ``number`` on."""
    return b"%016d%016d" % (life, number)


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
            key = fact_key(life, said["number"] // 3 * 3)
            if (
                found.content != content(life, said["number"])
                or not archive.is_ours(f"{life}.{said['number']}")
                or archive.facts([key]) != {key: str(said["number"] // 3 * 3)}
            ):
                lost.append(said)
    verified = archive.verify()
    records = list(archive.records())
    counts = Counter(record.session for record in records)
    edits = Counter((record.session, record.sha256) for record in records)
    return {
        "acknowledged": acknowledged,
        "records": verified.records,
        "problems": list(verified.problems),
        "lost": lost,
        "torn": [session for session, count in counts.items() if count % 3],
        "repeated": [sha256 for (_, sha256), count in edits.items() if count > 1],
        "errors": errors,
    }


if __name__ == "__main__":
    print(json.dumps(run(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))))
