"""Where the text of a chain comes from: a chain that ships, by its name, or a file, by its path."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from importlib.resources import files
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from elision.config.document import read_text
from elision.errors import ConfigError, Problem, closest, nearest

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

_MOST_BESIDE = 1_000
"""Most files of a folder in which a name is looked for."""


def shipped_chains() -> Mapping[str, Traversable]:
    """Return the files of the shipped chains by name."""
    folder = files("elision.configs").joinpath("chains")
    entries = sorted(folder.iterdir(), key=lambda entry: entry.name)
    return {entry.name.removesuffix(".yaml"): entry for entry in entries if entry.name.endswith(".yaml")}


def text_of(source: str | Path) -> str:
    """Return the text of a chain: of the shipped one of that name, or else of the file at that path."""
    if not isinstance(source, str | Path):
        told = f"a chain is loaded by its name or path, this is of type {type(source).__name__}; give one of these"
        raise ConfigError([Problem("load", 0, 0, "", f"{told}, YAML to elision.loads, processors to elision.Chain")])
    shipped = shipped_chains()
    if isinstance(source, str) and source in shipped:
        return shipped[source].read_text(encoding="utf-8")
    if "\n" in str(source):
        raise ConfigError([Problem("<string>", 0, 0, "", "this is YAML, not the path of a file; give it to loads")])
    try:
        return read_text(Path(source))
    except FileNotFoundError:
        told = "there is no such file, and no shipped chain of that name"
        beside = closest(Path(source).name, _beside(Path(source)))
        if beside is not None and closest(str(source)[:60], shipped) is None:
            names = f"did you mean {str(Path(source).with_name(beside))!r}?"
        else:
            names = nearest(str(source)[:60], shipped, what="shipped chains")
        raise ConfigError([Problem(str(source), 0, 0, "", f"{told}; {names}")]) from None


def _beside(path: Path) -> list[str]:
    """Return the names of YAML files in the folder of one that is not there."""
    with suppress(OSError):
        return [each.name for each in islice(path.parent.iterdir(), _MOST_BESIDE) if each.suffix in {".yaml", ".yml"}]
    return []
