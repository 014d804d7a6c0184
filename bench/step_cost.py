"""What one step costs: a 300-step, 1.5 MB history through the default chain, as ratios measured in one run.

The budgets are those of its clearing part; the whole chain has a row of its own.

The floor is what nobody can avoid: tokenise the step's new text once (tiktoken, o200k_base) and hash it once (sha256).
Its parts are what any design pays that reads both messages, asks the table, counts, hashes and sets two marks, with
nothing decided.  A step is the median of the last 50; the mean has the steps in it that clear.  Each measurement has
texts of its own, so nothing is known from the one before.
SWE-agent's, LangChain's and OpenHands' own run beside ours where this
interpreter has them, or those that ``ELISION_SWEAGENT_PYTHON``, ``ELISION_LANGCHAIN_PYTHON`` and
``ELISION_OPENHANDS_PYTHON`` name (``bench/peers/step.py``).
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
from collections.abc import Callable, Iterator
from importlib.resources import files
from importlib.util import find_spec
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

import tiktoken

import elision
from elision.classification import load_table
from elision.dialect import Patch, by_name
from elision.history import History
from elision.ledger import Prefixes
from elision.registry import plugins
from elision.tokens import count_text
from elision.tokens.vocabularies import offline_vocabularies

CLEARING = "history_processors: [{type: supersede}, {type: clear_tool_results}, {type: cache_control, plan: auto}]"
DEFAULT = files("elision.configs").joinpath("chains", "default.yaml").read_text(encoding="utf-8")
MODEL = "claude-sonnet-4-6"
LAST = 50
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
PEERS = (("sweagent", 10.0), ("langchain", 50.0), ("openhands", 500.0))
_seeds = count(7)


class Cost(NamedTuple):
    """Seconds of CPU that a step takes: the median, and the mean."""

    median: float
    mean: float


def main() -> int:
    """Print the figures; return 1 when a budget is missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", metavar="FILE", type=Path, help="write the figures to a JSON file too")
    parser.add_argument("--quick", action="store_true", help="fewer repeats, and 1,000 steps instead of 3,000")
    options = parser.parse_args()
    repeats, long = (3, 1000) if options.quick else (7, 3000)
    os.environ.setdefault("TIKTOKEN_CACHE_DIR", str(offline_vocabularies() or ""))
    count_text("vocabularies and profiles are loaded once", MODEL)
    floor = best(repeats, lambda: floor_of(recorded(300)))
    parts = best(repeats, lambda: parts_of(recorded(300)))
    step = best(repeats, lambda: session_step(recorded(300)))
    step_long = best(2 if options.quick else 3, lambda: session_step(recorded(long)))
    mended = best(2 if options.quick else 3, lambda: session_step(abandoned(recorded(long))))
    with tempfile.TemporaryDirectory() as folder:
        durable = session_step(recorded(300), archive=folder)
    whole = best(repeats, lambda: session_step(recorded(300), chain=DEFAULT))
    run = recorded(300)
    size = sum(len(message["content"]) for message in run) / 1e6
    stateless = min(timed(lambda: from_scratch(recorded(300))) for _ in range(repeats))
    counter = "quicktok (the extra fast)" if find_spec("quicktok") else "tiktoken"
    print(f"a step counts with {counter}")
    print(f"history: 300 steps, {len(run)} messages, {size:.2f} MB of content; model: {MODEL}; {CLEARING}")
    rows = [
        row("floor: tokenise the new text + one hash", floor.median, None, None),
        row(
            "its parts: read, classify, count, hash, mark", parts.median, parts.median / floor.median, None, of="floor"
        ),
        row("a step in a session, 300 steps", step.median, step.median / floor.median, 2.0, of="floor"),
        row("the same, the mean (clearing included)", step.mean, step.mean / floor.mean, None, of="floor"),
        row("the same, originals flushed to the disk", durable.mean, durable.mean / step.mean, None, of="in memory"),
        row(
            f"a step in a session, {long} steps", step_long.median, step_long.median / step.median, 1.3, of="300 steps"
        ),
        row(
            "the same, a call without result in step 3",
            mended.median,
            mended.median / step_long.median,
            None,
            of="clean",
        ),
        row("a step of the whole default chain", whole.median, whole.median / floor.median, None, of="floor"),
        row("from scratch, 300 steps, a MB", stateless / size, stateless / 300 / floor.mean, None, of="floor a step"),
    ]
    for name, budget in PEERS:
        cost = peer_step(name, run)
        if cost is None:
            print(f"{name}: not here; ELISION_{name.upper()}_PYTHON names an interpreter that has it")
        else:
            rows.append(row(f"{name}'s own, 300 steps", cost, cost / step.median, budget, of="ours", at_least=True))
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
    """Return a history with results of log-normal size, 5 KB on average, and texts that no other one has."""
    source = random.Random(next(_seeds))  # noqa: S311 (made-up text)
    messages: list[dict[str, Any]] = [
        {"role": "system", "content": "You are an agent."},
        {"role": "user", "content": "Fix the bug."},
    ]
    for number in range(steps):
        lines = max(1, int(source.lognormvariate(3.9, 0.8)))
        text = "\n".join(" ".join(source.choices(WORDS, k=14)) for _ in range(lines))
        function = {"name": "read_file", "arguments": json.dumps({"path": f"src/{number}.py"})}
        call = {"id": f"call_{number}", "type": "function", "function": function}
        messages.append({"role": "assistant", "content": "I look.", "tool_calls": [call]})
        messages.append({"role": "tool", "tool_call_id": call["id"], "content": text})
    return messages


def abandoned(history: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return a history without the result of its third call: what goes out is mended from there on."""
    third = [place for place, message in enumerate(history) if message["role"] == "tool"][2]
    return history[:third] + history[third + 1 :]


def best(repeats: int, measure: Callable[[], Cost]) -> Cost:
    """Return the smallest of some measurements: the one that was disturbed least."""
    found = [measure() for _ in range(repeats)]
    return Cost(min(each.median for each in found), min(each.mean for each in found))


def timed(work: Callable[[], object]) -> float:
    """Return how long a piece of work takes."""
    start = time.process_time()
    work()
    return time.process_time() - start


def cost_of(times: Iterator[float]) -> Cost:
    """Return median and mean."""
    found = list(times)
    return Cost(statistics.median(found), statistics.mean(found))


def floor_of(history: list[dict[str, Any]]) -> Cost:
    """Return the cost of tokenising and hashing one step's new text."""
    encoding = tiktoken.get_encoding("o200k_base")

    def work(text: str) -> None:
        encoding.encode_ordinary(text)
        hashlib.sha256(text.encode()).digest()

    texts = [message["content"] for message in history if message["role"] == "tool"][-LAST:]
    return cost_of(timed(lambda text=text: work(text)) for text in texts)  # type: ignore[misc]


def parts_of(history: list[dict[str, Any]]) -> Cost:
    """Return the cost of reading, classifying, counting, hashing and marking one step's new messages."""
    dialect, table = by_name(plugins().dialects(), "openai"), load_table("default")
    known = History(dialect.wire)
    prefixes = Prefixes(known)

    def work(stop: int) -> None:
        new = history[stop - 2 : stop]
        for raw in new:
            known.append(dialect.parse(raw, known))
        call = known.observations[-1].call
        if call is not None:
            table.classify(call)
            table.subject(call)
            count_text(str(call.text), MODEL)
        for raw in new:
            count_text(raw["content"], MODEL)
        prefixes.upto(stop)
        sent = history[:stop]
        for position in (1, stop - 1):
            sent[position] = dialect.patch(known.messages[position], Patch(mark=True))

    start = len(history) - 2 * LAST
    for raw in history[:start]:
        known.append(dialect.parse(raw, known))
    prefixes.upto(start)
    return cost_of(timed(lambda stop=stop: work(stop)) for stop in range(start + 2, len(history) + 1, 2))  # type: ignore[misc]


def session_step(history: list[dict[str, Any]], archive: str = "memory:", chain: str = CLEARING) -> Cost:
    """Return the cost of the last steps of a session that the host gives the same objects."""
    session = elision.loads(chain, archive=archive).session()
    start = len(history) - 2 * LAST
    session.process(history[:start], model=MODEL)
    lists = [history[:stop] for stop in range(start + 2, len(history) + 1, 2)]
    return cost_of(timed(lambda given=given: session.process(given, model=MODEL)) for given in lists)  # type: ignore[misc]


def from_scratch(history: list[dict[str, Any]]) -> None:
    """Process a whole history at once."""
    elision.loads(CLEARING, archive="memory:").process(history, model=MODEL)


def peer_step(name: str, history: list[dict[str, Any]]) -> float | None:
    """Return the median cost of another system's own over the same steps, or ``None`` where it is not installed."""
    python = os.environ.get(f"ELISION_{name.upper()}_PYTHON", sys.executable)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "history.json"
        path.write_text(json.dumps(history), encoding="utf-8")
        environment = {**os.environ, "LITELLM_LOCAL_MODEL_COST_MAP": "True", "OPENHANDS_SUPPRESS_BANNER": "1"}
        command = [python, str(Path(__file__).parent / "peers" / "step.py"), name, str(path), str(LAST)]
        try:
            done = subprocess.run(  # noqa: S603 (our own)
                command, capture_output=True, text=True, check=False, env=environment, timeout=300
            )
        except (subprocess.TimeoutExpired, OSError):
            return None
    return float(done.stdout.split()[-1]) if done.returncode == 0 else None


if __name__ == "__main__":
    sys.exit(main())
