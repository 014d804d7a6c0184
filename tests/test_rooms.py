"""Arrows between the rooms point down only, the rooms stay small, and the front door opens without side effects."""

from __future__ import annotations

import ast
import json
import math
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from pathlib import Path

import pytest
from doc_blocks import ROOMS, ROOT

import elision

PLUGGED = ("processors", "plugins")
VAGUE = {"utils", "util", "helpers", "helper", "manager", "base", "common", "misc"}
HEAVY = ("litellm", "tiktoken", "jinja2", "rich", "pydantic", "yaml")


def sources(*folders: str) -> list[Path]:
    """The Python files of some folders; links are not followed, so each is found once."""
    return sorted(
        path
        for folder in folders
        for path in (ROOT / folder).rglob("*.py")
        if not any(parent.is_symlink() for parent in path.parents if parent != ROOT)
    )


ENGINE = sources("elision")
SHIPPED = [*ENGINE, *sources(*PLUGGED, "configs", "templates")]
REST = sources("tests", "bench")


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


@cache
def nodes(path: Path) -> list[ast.AST]:
    return list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))


def imports(path: Path) -> Iterator[str]:
    """Each imported name in full: ``from a import b`` gives ``a.b``."""
    for node in nodes(path):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (f"{'.' * node.level}{node.module or ''}.{alias.name}" for alias in node.names)


def that_import(paths: Iterable[Path], wrong: Callable[[str], bool]) -> dict[str, list[str]]:
    """Return what files import that they may not, by file."""
    found = {name_of(path): [name for name in imports(path) if wrong(name)] for path in paths}
    return {name: names for name, names in found.items() if names}


def beyond_the_public_names(path: Path) -> list[str]:
    """What a processor or plugin takes from Elision that is neither exported nor next to it."""
    allowed = {f"elision.{name}" for name in elision.__all__} | {"elision"}
    room = "elision." + ".".join(path.relative_to(ROOT).parent.parts) + "."
    siblings = ("elision.processors.", "elision.plugins.") if path.name == "builtin.py" else (room,)
    if path.parent.name == "processors":
        siblings = ()
    return [
        name
        for name in imports(path)
        if name.split(".")[0] in {"elision", ""} and name not in allowed and not name.startswith(siblings)
    ]


def test_the_engine_imports_no_processor_and_no_plugin() -> None:
    upward = tuple(f"elision.{room}" for room in PLUGGED)

    assert that_import(ENGINE, lambda name: name.startswith(upward)) == {}


def test_processors_and_plugins_import_only_what_elision_exports() -> None:
    found = {name_of(path): beyond_the_public_names(path) for path in sources(*PLUGGED)}

    assert {name: names for name, names in found.items() if names} == {}


def test_imports_are_absolute() -> None:
    assert that_import(SHIPPED, lambda name: name.startswith(".")) == {}


def test_no_room_is_imported_under_its_bare_name() -> None:
    assert that_import([*SHIPPED, *REST], lambda name: name.split(".")[0] in ROOMS) == {}


def test_no_room_has_a_vague_name() -> None:
    vague = [
        name_of(path)
        for path in [*SHIPPED, *REST]
        if VAGUE & {part.removeprefix("test_").removesuffix(".py") for part in path.relative_to(ROOT).parts}
    ]

    assert vague == []


def function_lengths(path: Path) -> dict[str, int]:
    return {
        f"{name_of(path)}:{node.lineno} {node.name}": (node.end_lineno or node.lineno) - node.lineno + 1
        for node in nodes(path)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    }


def lengths(paths: list[Path]) -> tuple[dict[str, int], dict[str, int]]:
    files = {name_of(path): len(path.read_text(encoding="utf-8").splitlines()) for path in paths}
    functions = {name: length for path in paths for name, length in function_lengths(path).items()}
    return files, functions


def percentile_95(values: dict[str, int]) -> int:
    return sorted(values.values())[math.ceil(0.95 * len(values)) - 1]


@pytest.mark.parametrize("paths", [SHIPPED, REST], ids=["shipped", "tests and bench"])
def test_no_function_is_over_70_lines_and_few_are_over_40(paths: list[Path]) -> None:
    functions = lengths(paths)[1]

    assert {name: length for name, length in functions.items() if length > 70} == {}
    assert percentile_95(functions) <= 40


@pytest.mark.parametrize("paths", [SHIPPED, REST], ids=["shipped", "tests and bench"])
def test_no_file_is_over_400_lines_and_few_are_over_300(paths: list[Path]) -> None:
    files = lengths(paths)[0]

    assert {name: length for name, length in files.items() if length > 400} == {}
    assert percentile_95(files) <= 300


PROBE = f"""
import json, os, sys, threading, warnings
before = dict(os.environ), list(warnings.filters), sys.path[:], threading.active_count()
import elision
after = dict(os.environ), list(warnings.filters), sys.path[:], threading.active_count()
print(json.dumps([before == after, sorted(name for name in {HEAVY!r} if name in sys.modules)]))
"""


def test_importing_elision_has_no_side_effects_and_loads_nothing_heavy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    done = subprocess.run([sys.executable, "-c", PROBE], cwd=tmp_path, capture_output=True, text=True, check=False)

    assert (json.loads(done.stdout), done.stderr, done.returncode) == ([True, []], "", 0)
    assert list(tmp_path.iterdir()) == []


def test_the_public_names_are_sorted_and_complete() -> None:
    assert list(elision.__all__) == sorted([*elision._HOME_OF, "__version__"])


def test_each_public_name_can_be_imported() -> None:
    assert [name for name in elision.__all__ if getattr(elision, name, None) is None] == []


def test_type_checkers_are_told_the_same_homes_as_the_interpreter() -> None:
    tree = ast.parse((ROOT / "elision" / "__init__.py").read_text(encoding="utf-8"))
    block = next(node for node in tree.body if isinstance(node, ast.If))
    told = {
        statement.module: tuple(alias.name for alias in statement.names)
        for statement in block.body
        if isinstance(statement, ast.ImportFrom)
    }

    assert told == elision._HOMES
