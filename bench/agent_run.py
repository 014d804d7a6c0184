"""What the example agent's task costs under each shipped chain, with requests of each shape, and whether it is done.

The agent is ``examples/agent.py``, its model is scripted, and its provider is the model server of ``elision.testing``,
which refuses what real ones refuse and bills by their caches.  Cost is in dollars by the prices of the profiles.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "examples"))

import agent_script

from elision.config import shipped_chains

STEPS = 120
QUICK_STEPS = 15


def main() -> int:
    """Print the table; return 1 where a task was not done, or a request was refused."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", metavar="FILE", type=Path, help="write the figures to a JSON file too")
    parser.add_argument("--quick", action="store_true", help=f"runs of {QUICK_STEPS} steps instead of {STEPS}")
    parser.add_argument("--chain", metavar="C", action="append", help="only this chain; may be given again")
    parser.add_argument("--jobs", metavar="N", type=int, help="runs at a time; by default one a core, with --quick one")
    options = parser.parse_args()
    start, figures = time.monotonic(), list[Any]()
    steps = QUICK_STEPS if options.quick else STEPS
    chains = options.chain or list(shipped_chains())
    # Each worker imports litellm, which costs more than its share of the short runs.
    jobs = options.jobs or (1 if options.quick else os.cpu_count() or 1)
    failed = agent_script.table(_kept(agent_script.runs(chains, list(agent_script.MODELS), steps, jobs), figures))
    print(f"\n{len(figures)} runs of {steps} steps, {len(failed)} failed; {time.monotonic() - start:.0f} s")
    if options.json:
        options.json.write_text(json.dumps([asdict(each) for each in figures], indent=1), encoding="utf-8")
    return 1 if failed else 0


def _kept(found: Iterable[Any], into: list[Any]) -> Iterator[Any]:
    for each in found:
        into.append(each)
        yield each


if __name__ == "__main__":
    raise SystemExit(main())
