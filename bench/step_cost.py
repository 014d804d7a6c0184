"""What one step costs: a 300-step, 1.5 MB history through SWE-agent's chain, as ratios measured in one run.

The floor is what nobody can avoid: tokenise the step's new text once (tiktoken, o200k_base) and hash it once (sha256).
SWE-agent's own processors run beside ours where it can be imported, by this interpreter or by the one that
``ELISION_SWEAGENT_PYTHON`` names.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import elision

CHAIN = "agent: {history_processors: [{type: last_n_observations, n: 5}, {type: cache_control}]}"
WORDS = (
    "def",
    "return",
    "import",
    "self",
    "value",
    "for",
    "index",
    "in",
    "range",
    "error",
    "line",
    "if",
    "not",
    "None",
)
PEER = """
import json, statistics, sys, time
from sweagent.agent.history_processors import CacheControlHistoryProcessor, LastNObservations
history, last = json.load(open(sys.argv[1])), int(sys.argv[2])
chain = [LastNObservations(n=5), CacheControlHistoryProcessor()]
times = []
for stop in range(len(history) - 2 * last, len(history) + 1, 2):
    view = list(history[:stop])
    start = time.process_time()
    for processor in chain:
        view = processor(view)
    times.append(time.process_time() - start)
print(statistics.median(times))
"""


def main() -> int:
    """Print the figures; return 1 when a budget is missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", metavar="FILE", type=Path, help="write the figures to a JSON file too")
    parser.add_argument("--quick", action="store_true", help="fewer repeats, and 1,000 steps instead of 3,000")
    options = parser.parse_args()
    repeats, long = (3, 1000) if options.quick else (7, 3000)
    short_run, long_run = recorded(300), recorded(long)
    floor = best(repeats, lambda: floor_of(short_run))
    step = best(repeats, lambda: session_step(short_run))
    with tempfile.TemporaryDirectory() as folder:
        durable = best(1, lambda: session_step(short_run, archive=folder))
    step_long = best(min(repeats, 3), lambda: session_step(long_run))
    stateless = best(repeats, lambda: timed(lambda: elision.loads(CHAIN, archive="memory:").process(short_run)))
    peer = sweagent_step(short_run)
    size = sum(len(message["content"]) for message in short_run) / 1e6
    print(f"history: 300 steps, {len(short_run)} items, {size:.2f} MB of content; chain: {CHAIN}")
    rows = [
        row("floor: tokenise the new text + one hash", floor, None, None),
        row("a step in a session, 300 steps", step, step / floor, 2.0, of="floor"),
        row("the same, originals flushed to the disk", durable, durable / step, None, of="in memory"),
        row(f"a step in a session, {long} steps", step_long, step_long / step, 1.3, of="300 steps"),
        row("from scratch, 300 steps, a step", stateless / 300, stateless / 300 / step, None, of="in a session"),
    ]
    if peer is None:
        print("SWE-agent's own: not installed; set ELISION_SWEAGENT_PYTHON to an interpreter that has it")
    else:
        rows.append(row("SWE-agent's own processors, 300 steps", peer, peer / step, 10.0, of="ours", at_least=True))
    if options.json:
        options.json.write_text(json.dumps({"figures": rows, "repeats": repeats}, indent=1), encoding="utf-8")
    return 0 if all(figure["fits"] for figure in rows) else 1


def row(
    what: str, seconds: float, ratio: float | None, budget: float | None, *, of: str = "", at_least: bool = False
) -> dict[str, Any]:
    """Print one figure beside its budget, and return it."""
    fits = ratio is None or budget is None or (ratio >= budget if at_least else ratio <= budget)
    shown = "" if ratio is None else f"{ratio:8.2f}x {of}"
    limit = "" if budget is None else f"budget {'>=' if at_least else '<='} {budget:g}x  {'ok' if fits else 'MISSED'}"
    print(f"{what:<42}{1000 * seconds:9.3f} ms{shown:<26}{limit}")
    return {"what": what, "ms": round(1000 * seconds, 4), "ratio": ratio, "budget": budget, "fits": fits}


def recorded(steps: int) -> list[dict[str, Any]]:
    """Return a history of SWE-agent items with results of log-normal size, 5 KB on average."""
    random_source = random.Random(7)  # noqa: S311 (made-up text)
    items: list[dict[str, Any]] = [
        {"role": "system", "content": "You are an agent.", "message_type": "system_prompt", "agent": "main"},
        {"role": "user", "content": "Fix the bug.", "message_type": "observation", "agent": "main"},
    ]
    for number in range(steps):
        lines = max(1, int(random_source.lognormvariate(3.9, 0.8)))
        call = {"id": f"call_{number}", "type": "function", "function": {"name": "bash", "arguments": '{"cmd": "ls"}'}}
        text = "\n".join(" ".join(random_source.choices(WORDS, k=14)) for _ in range(lines))
        said = {"role": "assistant", "content": "I look.", "thought": "I look.", "action": "ls", "tool_calls": [call]}
        items.append({**said, "message_type": "action", "agent": "main"})
        result = {"role": "tool", "content": text, "tool_call_ids": [call["id"]]}
        items.append({**result, "message_type": "observation", "agent": "main"})
    return items


def best(repeats: int, measure: Callable[[], float]) -> float:
    """Return the smallest of some measurements: the one that was disturbed least."""
    return min(measure() for _ in range(repeats))


def timed(work: Callable[[], object]) -> float:
    """Return how long a piece of work takes."""
    start = time.process_time()
    work()
    return time.process_time() - start


def floor_of(history: list[dict[str, Any]], last: int = 50) -> float:
    """Return the median cost of tokenising and hashing one step's new text."""
    from elision.tokens import count_text

    def work(text: str) -> None:
        count_text(text)
        hashlib.sha256(text.encode()).digest()

    texts = [message["content"] for message in history if message["role"] == "tool"][-last:]
    return statistics.median(timed(lambda text=text: work(text)) for text in texts)  # type: ignore[misc]


def session_step(history: list[dict[str, Any]], last: int = 50, archive: str = "memory:") -> float:
    """Return the median cost of the last steps of a session that the host gives the same objects."""
    session = elision.loads(CHAIN, archive=archive).session()
    start = len(history) - 2 * last
    session.process(history[:start])
    lists = [history[:stop] for stop in range(start + 2, len(history) + 1, 2)]
    return statistics.median(timed(lambda given=given: session.process(given)) for given in lists)  # type: ignore[misc]


def sweagent_step(history: list[dict[str, Any]], last: int = 50) -> float | None:
    """Return the median cost of SWE-agent's own chain over the same steps, or ``None`` where it is not installed."""
    python = os.environ.get("ELISION_SWEAGENT_PYTHON", sys.executable)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "history.json"
        path.write_text(json.dumps(history), encoding="utf-8")
        environment = {**os.environ, "LITELLM_LOCAL_MODEL_COST_MAP": "True"}
        command = [python, "-c", PEER, str(path), str(last)]
        done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)  # noqa: S603 (our own)
    return float(done.stdout.split()[-1]) if done.returncode == 0 else None


if __name__ == "__main__":
    sys.exit(main())
