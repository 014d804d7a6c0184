"""What the archive costs: a durable put, one that is there already, a recall out of many records, verification.

A durable put cannot be faster than the disk's own flush, so that flush is measured in the same run, and the budget is
what a put may cost beyond it.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from elision.archive import Archive, Entry, Sealed, open_archive
from elision.redaction import redact

LINE = "    return [token for token in tokens if token.kind not in skipped]  # step {}\n"


def main() -> int:
    """Print the figures; return 1 when a budget is missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", metavar="FILE", type=Path, help="write the figures to a JSON file too")
    parser.add_argument("--quick", action="store_true", help="50,000 records instead of 1,000,000")
    parser.add_argument(
        "--in", dest="place", metavar="DIR", type=Path, help="folder to measure in, on the disk in question"
    )
    options = parser.parse_args()
    records = 50_000 if options.quick else 1_000_000
    with tempfile.TemporaryDirectory(dir=options.place) as name:
        folder = Path(name)
        rows = [*puts(folder), *repeats(folder), *recalls(folder, records), *redaction()]
    if options.json:
        options.json.write_text(json.dumps({"figures": rows, "records": records}, indent=1))
    return 0 if all(row["fits"] for row in rows) else 1


def row(what: str, value: float, unit: str, budget: float | None = None, beside: str = "") -> dict[str, Any]:
    """Print one figure beside its budget, and return it."""
    fits = budget is None or value <= budget
    limit = "" if budget is None else f"budget <= {budget:g} {unit}{beside}  {'ok' if fits else 'MISSED'}"
    print(f"{what:<52}{value:10.3f} {unit:<8}{limit}", flush=True)
    return {"what": what, "value": round(value, 4), "unit": unit, "budget": budget, "fits": fits}


def medians(works: Iterable[Callable[[], object]]) -> float:
    """Return the median time of some pieces of work, in ms."""
    return 1000 * statistics.median(timed(work) for work in works)


def timed(work: Callable[[], object]) -> float:
    """Return how long a piece of work takes."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def result(number: int) -> str:
    """Return a result of 5 KB."""
    return LINE.format(number) * 65


def entry(content: str | Sealed, number: int) -> Entry:
    """Return the entry that clearing one result makes."""
    return Entry(
        content=content,
        placeholder=f"[cleared: result {number}]",
        session="run",
        processor="clear_tool_results",
        operation="clear",
        call_id=f"call_{number}",
        tool="bash",
        arguments={"command": "make test"},
        classes=("dynamic",),
        status="ok",
    )


def puts(folder: Path, count: int = 300) -> list[dict[str, Any]]:
    """Measure puts beside the disk's own flush, in turns, so that both meet the same load."""
    raw = os.open(folder / "raw", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    with open_archive(folder / "puts", environ={}) as archive, open_archive("memory:", environ={}) as memory:
        archive.put_all([entry("warm", 0)])
        memory.put_all([entry("warm", 0)])
        flushes, stored, working = [], [], []
        for number in range(count):
            one = entry(result(number), number)
            flushes.append(timed(lambda: flush(raw)))
            stored.append(timed(lambda one=one: archive.put_all([one])))  # type: ignore[misc]
            start = time.process_time()
            memory.put_all([one])
            working.append(time.process_time() - start)
        batches = [[entry(result(1000 + 20 * each + inner), inner) for inner in range(20)] for each in range(20)]
        batch = medians(lambda given=given: archive.put_all(given) for given in batches)  # type: ignore[misc]
    os.close(raw)
    floor, put, work = (1000 * statistics.median(times) for times in (flushes, stored, working))
    return [
        row("floor: write 4 KB and flush", floor, "ms"),
        row("put of 5 KB, durable", put, "ms", 0.5 + floor, " (0.5 and the flush)"),
        row("put of 5 KB, work of the processor", work, "ms", 0.5),
        row("put of 20 x 5 KB in one transaction, each", batch / 20, "ms"),
    ]


def repeats(folder: Path, edits: int = 300) -> list[dict[str, Any]]:
    """Measure what a request costs whose edits are all recorded: what a host without a session gives each time."""
    with open_archive(folder / "repeats", environ={}) as archive:
        contents = [f"{number} {result(number)}" for number in range(edits)]
        sealing = medians(lambda content=content: archive.sealed(content) for content in contents)  # type: ignore[misc]
        entries = [entry(archive.sealed(content), number) for number, content in enumerate(contents)]
        archive.put_all(entries)
        known = medians(lambda: archive.put_all(entries) for _ in range(50))
        ours = medians(lambda each=each: archive.is_ours(each.placeholder) for each in entries)  # type: ignore[misc]
    with open_archive(folder / "repeats", environ={}) as archive:
        archive.is_ours("warm")
        asked = 1000 * timed(lambda: archive.put_all(entries))
        require(archive.stats().records == edits)
    return [
        row("seal 5 KB: hash it and look for its ref", 1000 * sealing, "us"),
        row(f"put of {edits} recorded edits, each, remembered", 1000 * known / edits, "us"),
        row(f"put of {edits} recorded edits, each, new process", 1000 * asked / edits, "us"),
        row("is a text ours: yes", 1000 * ours, "us"),
    ]


def flush(descriptor: int) -> None:
    """Write and wait for the disk."""
    os.write(descriptor, b"x" * 4096)
    os.fdatasync(descriptor)


def recalls(folder: Path, records: int) -> list[dict[str, Any]]:
    """Measure recalls out of many records, after the archive was opened anew."""
    chance = random.Random(3)  # noqa: S311 (made-up text)
    with open_archive(folder / "many", environ={}) as archive:
        start = time.perf_counter()
        refs = fill(archive, records)
        print(f"{records:,} records made in {time.perf_counter() - start:.0f} s", flush=True)
    with open_archive(folder / "many", environ={}) as archive:
        wanted = [refs[chance.randrange(records)] for _ in range(2000)]
        cold = medians(lambda ref=ref: archive.get(ref) for ref in wanted[:1000])  # type: ignore[misc]
        strange = medians(lambda ref=ref: archive.is_ours(ref) for ref in wanted)  # type: ignore[misc]
        taken = timed(lambda: require(archive.verify().clean))
        stats = archive.stats()
    size = sum(path.stat().st_size for path in (folder / "many").iterdir())
    return [
        row(f"recall out of {records:,} records", cold, "ms", 5.0),
        row("is a text ours: no", 1000 * strange, "us"),
        row("verify, for each record", 1e6 * taken / records, "us"),
        row("database, for each record", size / stats.records, "bytes"),
    ]


def fill(archive: Archive, records: int) -> list[str]:
    """Put many small originals; return their refs."""
    refs: list[str] = []
    for first in range(0, records, 1000):
        batch = [entry(f"{number} " + LINE.format(number) * 3, number) for number in range(first, first + 1000)]
        refs += (ref.short for ref in archive.put_all(batch))
    return refs


def redaction() -> list[dict[str, Any]]:
    """Measure the scan for secrets."""
    text = "".join(result(number) for number in range(40))
    redact("warm", "secrets")
    taken = timed(lambda: require(redact(text, "secrets", seconds=60).text == text))
    return [row("scan for secrets, for each KB", 1e6 * taken / len(text), "ms")]


def require(holds: bool) -> None:
    """Stop where a figure would be one of something that failed."""
    if not holds:
        raise SystemExit("the archive did not work: no figures")


if __name__ == "__main__":
    sys.exit(main())
