"""What the places of cache breakpoints cost: a run's input over what it would cost if all that stands were read again.

Each chain is run through a session, and each request is billed by the cache planner at the prices of one model; the
ideal is the same requests with a cache that finds any common beginning.  The budget is that of ``plan: auto``.
"""

from __future__ import annotations

import argparse
import json
import math
import random
import time
import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import elision
from elision.profiles import profile_for
from elision.testing import call, conversation, result

MODEL = "claude-sonnet-4-6"
KEPT = "keep: 5"
CHAINS: Mapping[str, str] = {
    "break_even": f"type: clear_tool_results, {KEPT}",
    "last_n_observations, polling 1": "type: last_n_observations, n: 5",
    "last_n_observations, polling 10": "type: last_n_observations, n: 5, polling: 10",
    "last_n_observations, polling 25": "type: last_n_observations, n: 5, polling: 25",
    "trigger 100k, keep 3": "type: clear_tool_results, trigger_tokens: 100000, keep: 3",
    "newest first, 20k at a time": "type: clear_tool_results, trigger_tokens: 60000, order: newest, "
    "clear_at_most_tokens: 20000",
}
PLANS = ("last_n_messages: 2", "plan: auto")
MOST = 1.05


def main() -> int:
    """Print the table; return 1 when the budget is missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", metavar="FILE", type=Path, help="write the figures to a JSON file too")
    parser.add_argument("--quick", action="store_true", help="shorter runs")
    options = parser.parse_args()
    start = time.monotonic()
    steps = 100 if options.quick else 300
    figures = list(measured(steps))
    print(f"{MODEL}, {steps} steps\n")
    print(f"{'chain':<34}{'results a step':>15}" + "".join(f"{plan:>20}" for plan in PLANS) + f"{'budget':>9}")
    for figure in figures:
        ratios = "".join(f"{figure[plan]:>20.3f}" for plan in PLANS)
        print(f"{figure['chain']:<34}{figure['results']:>15}{ratios}{MOST:>9}")
    missed = [figure for figure in figures if figure["plan: auto"] > MOST]
    print(f"\n{len(missed)} over the budget of plan: auto; {time.monotonic() - start:.0f} s")
    if options.json:
        options.json.write_text(json.dumps({"budget": MOST, "figures": figures}, indent=1), encoding="utf-8")
    return 1 if missed else 0


def measured(steps: int) -> Iterator[dict[str, Any]]:
    """Measure each chain with each plan, on runs with one result a step and with three."""
    for results in (1, 3):
        request = run(steps, results)
        for name, clearing in CHAINS.items():
            yield {"chain": name, "results": results, **{plan: ratio(clearing, plan, request) for plan in PLANS}}


def run(steps: int, results: int) -> dict[str, Any]:
    """Return a made-up run: results of log-normal size, 1,200 tokens in the mean and 16,000 at most."""
    draw = random.Random(steps)  # noqa: S311 (sizes of made-up results)
    made = conversation("anthropic").system(words(5000)).user(words(1000))
    for step in range(steps):
        sizes = [min(16_000, max(20, int(draw.lognormvariate(math.log(1200) - 0.72, 1.2)))) for _ in range(results)]
        calls = [call("read_file", path=f"src/{step}_{place}.py") for place in range(results)]
        made = made.step(words(150), *calls, *[result(words(size)) for size in sizes])
    return made.request()


def words(count: int) -> str:
    """Return a text of so many tokens."""
    return "word " * (count - 1) + "end"


def ratio(clearing: str, plan: str, request: Mapping[str, Any]) -> float:
    """Return the cost of the input of a run over that with a cache that finds all that stands."""
    chain = elision.loads(
        f"{{history_processors: [{{{clearing}}}, {{type: cache_control, {plan}}}], classification: none}}",
        archive="memory:",
    )
    rates = profile_for(MODEL).prices.base
    cost = least = 0.0
    messages = request["messages"]
    with chain.session() as session, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for stop in range(1, len(messages) + 1, 2):
            found = session.process({**request, "messages": messages[:stop]}, model=MODEL).cache
            cost += (found.cost or 0) * 1_000_000
            fresh = found.input_tokens - found.common_tokens
            least += rates.cache_read * found.common_tokens + rates.cache_write * fresh
    return cost / least


if __name__ == "__main__":
    raise SystemExit(main())
