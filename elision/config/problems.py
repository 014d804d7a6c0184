"""Problems of one config, as they are found, each with its place and its path."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Literal, TypeAlias, get_args

import yaml

from elision.errors import Problem, nearest

Path: TypeAlias = tuple[str | int, ...]
Severity: TypeAlias = Literal["error", "warning", "note"]

_SEVERITIES: tuple[str, ...] = get_args(Severity)
_PLAIN_KEY = re.compile(r"[\w-]{1,60}")
_LONGEST = 60


class Problems:
    """Collects the problems of one config; a mistake in a block that aliases repeat is kept once."""

    def __init__(self, source: str) -> None:
        self.source = source
        self._found: dict[tuple[str, int, int, str], tuple[tuple[int, int], Problem]] = {}

    def add(self, node: yaml.Node, path: Path, message: str, severity: Severity = "error") -> None:
        """Keep a problem of the value or key ``node``."""
        place = _place(node)
        self._keep(place, Problem(self.source, *place, path_text(path), one_line(message), severity))

    def include(self, node: yaml.Node, path: Path, found: Iterable[Problem]) -> None:
        """Keep the problems of the file that ``node`` names, but no notes; those of no line stand at the name."""
        for problem in found:
            if problem.line and problem.severity != "note":
                self._keep(_place(node), problem)
            elif problem.severity != "note":
                self.add(node, path, f"{shown(problem.source)}: {problem.message}")

    def in_order(self) -> list[Problem]:
        """Return errors, then warnings, then notes, each in the order of the file."""
        kept = sorted(self._found.values(), key=lambda each: (_SEVERITIES.index(each[1].severity), each[0]))
        return [problem for _, problem in kept]

    def _keep(self, place: tuple[int, int], problem: Problem) -> None:
        self._found.setdefault((problem.source, problem.line, problem.column, problem.message), (place, problem))


def _place(node: yaml.Node) -> tuple[int, int]:
    return node.start_mark.line + 1, node.start_mark.column + 1


def path_text(path: Path) -> str:
    """Write a path as ``history_processors[1].n``."""
    text = ""
    for step in path:
        if isinstance(step, int):
            text += f"[{step}]"
        elif _PLAIN_KEY.fullmatch(step):
            text += f".{step}" if text else step
        else:
            text += f"[{shown(step)}]"
    return text


def one_line(text: str) -> str:
    """Escape what a terminal cannot show on one line."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)


def shown(value: object) -> str:
    """Write a value as the user would, shortened."""
    if value is None:
        return "empty"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return repr(value if len(value) <= _LONGEST else value[: _LONGEST - 1] + "…")
    for kind, name in ((dict, "a mapping"), (list, "a list"), (set, "a set")):
        if isinstance(value, kind):
            return name
    return str(value)[:_LONGEST]


def suggestion(name: str, known: list[str], what: str = "known") -> str:
    """Say which name was probably meant, or which there are and what to do."""
    told = nearest(name[:_LONGEST], known, what=what)
    return told if told.endswith("?") else f"{told}; correct or remove it"
