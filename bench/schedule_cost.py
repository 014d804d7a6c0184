"""What a schedule of clears costs: each policy's bill over that of the cheapest schedule there is, as ratios.

The cheapest schedule is found by a dynamic programme that knows how the run ends; each policy is held against the one
that keeps as many results.  Policies that drop text as well are held against the one that keeps 5, which they may beat.
Runs are made up (results of log-normal size, 10 to 300 steps), and the recorded ones of ``ELISION_SHARED``.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

from schedules import optimum
from schedules.policies import CLEARING, DROPPING, dropping, schedule
from schedules.runs import CHARGES, Charges, Run, bill, recorded, synthetic

ROOT = Path(__file__).parents[1]
JUDGED = "break_even"
SHOWN = [policy.name for policy in CLEARING if policy.name.startswith("break_even,")]
MEAN, WORST = 1.05, 1.20
NAMES = [*(policy.name for policy in CLEARING), *(name for name, _, _ in DROPPING)]
PEERS = [policy.name for policy in CLEARING if not policy.ours]


class Job(NamedTuple):
    """A run, the part of the report that it belongs to, and the models whose prices have one ratio."""

    part: str
    run: Run
    charges: Sequence[Charges]


@dataclass(frozen=True)
class Figure:
    """What one policy cost in one run, over the optimum."""

    part: str
    steps: int
    model: str
    policy: str
    ratio: float
    overflow: bool


def main() -> int:
    """Print the tables; return 1 when a budget is missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", metavar="FILE", type=Path, help="write the figures to a JSON file too")
    parser.add_argument("--quick", action="store_true", help="fewer and shorter runs")
    options = parser.parse_args()
    start = time.monotonic()
    figures = measured(jobs(quick=options.quick))
    made = [each for each in figures if each.part == "made up"]
    paid = [each for each in made if each.model != "no cache"]
    print("w/r:  " + ",  ".join(f"{charges.name} {charges.ratio:g}" for charges in CHARGES))
    print("*: over the model's window; last two: drop text too, and are no like for like\n")
    by_model = [(charges.name, named(charges.name)) for charges in CHARGES]
    table("made-up runs of all lengths, mean over the optimum", made, by_model)
    lengths = sorted({each.steps for each in made})
    table("the same by steps, without 'no cache'", paid, [(str(steps), of_length(steps)) for steps in lengths])
    table(f"the same, {lengths[-1]} steps only", list(filter(of_length(lengths[-1]), made)), by_model)
    table("5 % of the requests meet a cold cache", [each for each in figures if each.part == "cold"], by_model)
    table("recorded runs", [each for each in figures if each.part == "recorded"], by_model)
    real = [each for each in figures if each.part == "recorded" and each.model != "no cache"]
    budgets = [*judged("made-up runs", paid), *judged("recorded runs", real)]
    print(f"\n{time.monotonic() - start:.0f} s")
    if options.json:
        cells = [vars(each) for each in figures]
        options.json.write_text(json.dumps({"figures": budgets, "cells": cells}, indent=1), encoding="utf-8")
    return 0 if all(budget["fits"] for budget in budgets) else 1


def jobs(*, quick: bool) -> list[Job]:
    """Return what is to be measured, the longest first."""
    lengths, seeds = ((10, 20, 40, 80), 2) if quick else ((10, 20, 40, 80, 150, 300), 3)
    runs = [("made up", synthetic(steps, seed)) for steps in lengths for seed in range(seeds)]
    runs += [("cold", synthetic(lengths[-1] // 2, seed, cold_share=0.05)) for seed in range(seeds)]
    runs += [("recorded", run) for run in recorded(recorded_files())]
    ratios = sorted({charges.ratio for charges in CHARGES})
    alike = [[charges for charges in CHARGES if charges.ratio == ratio] for ratio in ratios]
    found = [Job(part, run, charges) for part, run in runs for charges in alike]
    return sorted(found, key=lambda job: -len(job.run))


def recorded_files() -> list[Path]:
    """Return the files with recorded runs; the project's own sample is always there."""
    shared = Path(os.environ.get("ELISION_SHARED", ROOT.parent / "shared")) / "data"
    if not shared.is_dir():
        print("recorded runs: only the sample; set ELISION_SHARED to the folder that holds data/ for more")
    files = sorted(path for path in shared.rglob("*") if path.is_file())
    return [ROOT / "examples" / "sample_run.json", *files]


def measured(todo: Sequence[Job]) -> list[Figure]:
    """Measure all jobs, on all processors."""
    with ProcessPoolExecutor() as pool:
        return [figure for figures in pool.map(measure, todo) for figure in figures]


def measure(job: Job) -> list[Figure]:
    """Bill every policy for one run, and hold it against the optimum."""
    part, run, alike = job
    programme = optimum.of_prefixes if run.cold else optimum.of_subsets
    first = alike[0].price
    least = {keep: programme(run, first, keep) / first.read for keep in {policy.keep for policy in CLEARING}}
    found = []
    for charges in alike:
        unit = charges.price.read
        bills = [
            (policy.name, policy.keep, bill(run, charges.price, schedule(policy, run, charges))) for policy in CLEARING
        ]
        bills += [(name, 5, dropping(run, charges, size, head)) for name, size, head in DROPPING]
        for name, keep, made in bills:
            ratio = made.cost / unit / least[keep]
            found.append(Figure(part, len(run), charges.name, name, ratio, made.peak > charges.window))
    return found


Chosen = Callable[[Figure], bool]


def named(model: str) -> Chosen:
    """Choose the figures of a model."""
    return lambda figure: figure.model == model


def of_length(steps: int) -> Chosen:
    """Choose the figures of runs of a length."""
    return lambda figure: figure.steps == steps


def table(title: str, figures: Sequence[Figure], columns: Sequence[tuple[str, Chosen]]) -> None:
    """Print one line for each policy: the mean of each column, then mean and worst of all."""
    print(f"{title}\n{'':<44}" + "".join(f"{name[:9]:>10}" for name, _ in columns) + f"{'mean':>10}{'worst':>9}")
    for name in NAMES:
        own = [figure for figure in figures if figure.policy == name]
        cells = "".join(cell([figure for figure in own if chosen(figure)]) for _, chosen in columns)
        print(f"{name:<44}{cells}{cell(own)}{max(figure.ratio for figure in own):8.2f}")
    print()


def cell(figures: Sequence[Figure]) -> str:
    """Return the mean of some figures."""
    star = "*" if any(figure.overflow for figure in figures) else " "
    return f"{fmean(figure.ratio for figure in figures):9.3f}{star}" if figures else f"{'-':>9} "


def judged(what: str, figures: Sequence[Figure]) -> list[dict[str, Any]]:
    """Print the figures of the judged policy beside its budgets, and return them."""
    own = ratios(figures, JUDGED)
    means = {name: fmean(ratios(figures, name)) for name in PEERS}
    best = min(PEERS, key=lambda name: means[name])
    return [
        budget(f"{what}: mean of {JUDGED}", fmean(own), MEAN),
        budget(f"{what}: worst of {JUDGED}", max(own), WORST),
        budget(f"{what}: mean of {JUDGED} over that of {best}", fmean(own) / means[best], 1.0),
        *(shown(f"{what}: worst of {name}", max(ratios(figures, name))) for name in SHOWN),
    ]


def ratios(figures: Iterable[Figure], name: str) -> list[float]:
    """Return the ratios of a policy."""
    return [figure.ratio for figure in figures if figure.policy == name]


def shown(what: str, value: float) -> dict[str, Any]:
    """Print one figure that has no budget, and return it."""
    print(f"{what:<86}{value:7.3f}x")
    return {"what": what, "value": round(value, 4), "budget": None, "fits": True}


def budget(what: str, value: float, limit: float) -> dict[str, Any]:
    """Print one figure beside its budget, and return it."""
    fits = value <= limit
    print(f"{what:<86}{value:7.3f}x  budget <= {limit:.3g}x  {'ok' if fits else 'MISSED'}")
    return {"what": what, "value": round(value, 4), "budget": round(limit, 4), "fits": fits}


if __name__ == "__main__":
    sys.exit(main())
