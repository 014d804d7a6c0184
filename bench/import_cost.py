"""What ``import elision`` and ``elision --help`` cost in CPU time, beside their budgets."""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
from pathlib import Path
from typing import Any

ROWS = (
    ("python -c pass (the floor)", ("-c", "pass"), None),
    ("import elision", ("-c", "import elision"), 120.0),
    ("elision --help", ("-m", "elision", "--help"), 200.0),
)


def main() -> int:
    """Print the figures; return 1 when a budget is missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", metavar="FILE", type=Path, help="write the figures to a JSON file too")
    parser.add_argument("--quick", action="store_true", help="measure fewer times")
    options = parser.parse_args()
    repeats = 5 if options.quick else 20
    figures: list[dict[str, Any]] = [
        {"what": what, "cpu_ms": round(min(cpu_ms(arguments) for _ in range(repeats)), 1), "budget_ms": budget}
        for what, arguments, budget in ROWS
    ]
    for figure in figures:
        budget = figure["budget_ms"]
        limit = "" if budget is None else f"  budget {budget:.0f} ms  {'ok' if fits(figure) else 'OVER'}"
        print(f"{figure['what']:<28}{figure['cpu_ms']:>8.1f} ms CPU{limit}")
    if options.json:
        options.json.write_text(json.dumps({"figures": figures, "repeats": repeats}, indent=1), encoding="utf-8")
    return 0 if all(map(fits, figures)) else 1


def cpu_ms(arguments: tuple[str, ...]) -> float:
    """Return the CPU time of one run of Python, in milliseconds."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, *arguments], check=True, stdout=subprocess.DEVNULL)  # noqa: S603 (our own arguments)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return 1000 * (after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime)


def fits(figure: dict[str, Any]) -> bool:
    """Whether a figure is within its budget."""
    cost, budget = figure["cpu_ms"], figure["budget_ms"]
    return not isinstance(budget, float) or (isinstance(cost, float) and cost <= budget)


if __name__ == "__main__":
    sys.exit(main())
