"""The scripted model of ``agent.py``: a task on real files, the steps in which it is done, and what that costs.

The task is a small migration: every module in ``src`` calls ``old_api``, and is to call ``new_api``.  What stands in
three notes, which are read in the first steps and then written over, has to be in the report at the end: where the
chain has taken them out by then, the model brings them back with ``recall``.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import tempfile
import time
import warnings
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import agent

import elision
from elision.config import shipped_chains
from elision.testing import Asked, ModelServer, Reply, call, reply, thinking

MODELS = {
    "openai": "openai/gpt-4.1",
    "anthropic": "anthropic/claude-sonnet-4-5",
    "responses": "openai/responses/gpt-5",
    "deepseek": "deepseek/deepseek-v4-flash",
}
"""A model for each shape of request, by the name of the shape or of the provider."""
FEWEST_STEPS = 11
_BESIDE, _A_MODULE = 8, 3
"""Steps beside those of the modules, and steps of one module."""
TASK = "Replace old_api by new_api in every module in src, and write REPORT.md with the three values in notes."
NOTES = {"started": "2026-03-14T09:26:53Z", "lines": "48,193 lines", "seal": "sha1 6f1ed002ab5595859014ebf0951522d9"}
REF = r"(?:ref|recall) ([0-9a-f]{10,64})"


def module(number: int) -> str:
    """Return the source of a module, some 180 lines."""
    body = "\n".join(
        f"def step_{number}_{part}(value):\n    # Part {part} of module {number}.\n    total = old_api(value, {part})\n"
        f"    return total + {number * part}\n"
        for part in range(36)
    )
    return f'"""Module {number} of the migration."""\n\nfrom legacy import old_api\n\n\n{body}'


def prepare(folder: Path, modules: int) -> None:
    """Write the files of the task."""
    for name in ("src", "notes", "logs"):
        (folder / name).mkdir()
    for number in range(modules):
        (folder / "src" / f"module_{number:02}.py").write_text(module(number))
    for name, value in NOTES.items():
        (folder / "notes" / f"{name}.txt").write_text(
            "".join(f"{part}: about {name}\n" for part in range(40)) + f"{name}: {value}\n"
        )
    (folder / "logs" / "build.log").write_text(
        "".join(
            f"[{line:05}] compiled unit_{line * 7919 % 10007} in {line % 97} ms, no warnings\n" for line in range(1500)
        )
    )
    (folder / "logs" / "builds.json").write_text(
        json.dumps([{"id": n, "ok": n % 7 != 3, "ms": n * 31 % 977, "log": f"build {n} " * 12} for n in range(120)])
    )


def is_done(folder: Path, modules: int) -> bool:
    """Whether the files are as the task wants them."""
    sources = [(folder / "src" / f"module_{number:02}.py").read_text() for number in range(modules)]
    report = folder / "REPORT.md"
    return (
        all(text == module(number).replace("old_api", "new_api") for number, text in enumerate(sources))
        and report.is_file()
        and all(value in report.read_text() for value in NOTES.values())
    )


def script(modules: int) -> Callable[[Asked], Reply]:
    """Return the model: what it does next goes by what it has done, and at the end by what it still sees."""
    doing = _steps(modules)
    next(doing)

    def model(asked: Asked) -> Reply:
        return doing.send(asked)

    return model


def _steps(modules: int) -> Generator[Reply, Asked, None]:
    """Say what is done step by step; each request is sent in, each answer comes out."""
    asked = yield reply()
    asked = yield _says(1, "I look around.", call("shell", command="ls src notes logs"))
    asked = yield _says(2, "Where is it?", call("search", path="src", pattern="old_api\\(value, 3\\)"))
    asked = yield _says(3, "The notes.", *(call("read_file", path=f"notes/{name}.txt") for name in NOTES))
    asked = yield _says(
        4, "Taken.", *(call("write_file", path=f"notes/{name}.txt", content="taken\n") for name in NOTES)
    )
    asked = yield _says(5, "The log.", call("read_file", path="logs/build.log"))
    if found := re.search(r"offloaded to (\S+?);", "".join(asked.results)):
        asked = yield _says(6, "Its end.", call("read_file", path=found[1], start=1490, lines=10))
    asked = yield _says(6, "The builds.", call("shell", command="cat logs/builds.json"))
    for number in range(modules):
        path = f"src/module_{number:02}.py"
        content = module(number).replace("old_api", "new_api")
        asked = yield _says(number, f"Module {number}.", call("read_file", path=path))
        asked = yield _says(number, "I replace it.", call("write_file", path=path, content=content))
        asked = yield _says(number, "Is it there?", call("shell", command=f"grep -c new_api {path}"))
    seen = json.dumps(asked.body, ensure_ascii=False)
    for refs in _refs(seen):
        if all(value in seen for value in NOTES.values()):
            break
        asked = yield _says(7, "I need the notes again.", *(call("recall", ref=ref) for ref in refs))
        seen += "".join(asked.results)
    lines = "".join(f"{name}: {value}\n" for name, value in NOTES.items() if value in seen)
    asked = yield _says(8, "The report.", call("write_file", path="REPORT.md", content=lines))
    yield reply("All modules call new_api, and REPORT.md has the values.")


def _refs(seen: str) -> Iterator[list[str]]:
    """Yield refs that can be those of the notes: first those that stand beside their names, then others, by threes."""
    near = re.findall(rf"notes/\w+\.txt[^\]]{{0,600}}?{REF}", seen)
    refs = list(dict.fromkeys([*near, *re.findall(REF, seen)]))
    yield from (refs[start : start + 3] for start in range(0, len(refs), 3))


def _says(number: int, text: str, *calls: Any) -> Reply:
    return reply(thinking(f"Step {number}: {text}"), text, *calls) if calls else reply(text)


@dataclass(frozen=True)
class Figures:
    """What one run came to."""

    chain: str
    shape: str
    done: bool
    steps: int
    input_tokens: int
    read_tokens: int
    cost: float
    recalls: int
    invalid: tuple[str, ...]
    seconds: float
    reason: str = ""
    """Why it is not done."""


def played(chain: str, shape: str, steps: int) -> Figures:
    """Run the task in about so many steps under a chain, with requests of one shape."""
    modules, began = max(1, round((steps - _BESIDE) / _A_MODULE)), time.monotonic()
    with (
        tempfile.TemporaryDirectory() as made,
        contextlib.chdir(made),
        ModelServer(script(modules)) as server,
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("ignore", elision.ElisionWarning)
        prepare(Path(made), modules)
        base = server.base_url("anthropic" if shape == "anthropic" else "openai")
        loaded = elision.load(chain, archive=".elision")
        with loaded.opened_archive:
            run = agent.work(TASK, model=MODELS[shape], chain=loaded, steps=2 * steps, api_base=base, api_key="none")
        used, whole = server.usage, is_done(Path(made), modules)
        return Figures(
            chain=chain,
            shape=shape,
            done=run.done and whole,
            steps=run.steps,
            input_tokens=sum(each.input_tokens for each in used),
            read_tokens=sum(each.read_tokens for each in used),
            cost=server.cost(),
            recalls=run.calls["recall"],
            invalid=tuple(f"{each.rule}: {each.message}" for each in server.invalid),
            seconds=time.monotonic() - began,
            reason=_reason(run.done, whole, run.steps),
        )


def _reason(ended: bool, whole: bool, steps: int) -> str:
    if not ended:
        return f"it had come to no end after {steps} steps"
    return "" if whole else "it ended, and the files are not as the task wants them"


def runs(chains: Sequence[str], shapes: Sequence[str], steps: int, jobs: int) -> Iterator[Figures]:
    """Run the task under each chain in each shape, some at a time, and yield what each came to, in order."""
    pairs = [(chain, shape) for chain in chains for shape in shapes]
    if jobs == 1:
        yield from (played(chain, shape, steps) for chain, shape in pairs)
        return
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
        waiting = [pool.submit(played, chain, shape, steps) for chain, shape in pairs]
        yield from (each.result() for each in waiting)


def table(found: Iterable[Figures], width: int = 24) -> list[Figures]:
    """Print what each run came to, one line for each, and return those that failed."""
    columns = f"{'shape':<11}{'steps':>6}{'input tokens':>14}{'cache hits':>12}{'cost':>9}{'recalls':>9}  done"
    print(f"{'chain':<{width}}{columns}")
    failed = []
    for each in found:
        hits = each.read_tokens / max(1, each.input_tokens)
        print(
            f"{Path(each.chain).name:<{width}}{each.shape:<11}{each.steps:>6}{each.input_tokens:>14,}{hits:>12.1%}{each.cost:>9.3f}"
            f"{each.recalls:>9}  {'yes' if each.done else f'NO: {each.reason}'}",
            *(f"  refused: {line}" for line in each.invalid),
            sep="\n",
            flush=True,
        )
        if each.invalid or not each.done:
            failed.append(each)
    return failed


def compare(chains: Sequence[str] | None, steps: int, shape: str | None = None) -> int:
    """Print what the task costs under each chain, in each shape or in one; return 1 if a run failed."""
    for chain in chains or ():
        elision.load(chain)
    if steps < FEWEST_STEPS:
        raise elision.InputError(f"--steps: {steps} are too few; the scripted task has {FEWEST_STEPS} at least")
    if shape not in (None, *MODELS):
        raise elision.InputError(f"--shape: there is no {shape!r}; shapes are {', '.join(MODELS)}")
    jobs = 1 if chains else os.cpu_count() or 1
    names = chains or list(shipped_chains())
    found = runs(names, [shape] if shape else list(MODELS), steps, jobs)
    return 1 if table(found, max(24, *(len(Path(name).name) + 2 for name in names))) else 0
