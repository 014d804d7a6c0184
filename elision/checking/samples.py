"""Calls that a table gives a class: well-known ones, else such as its rules describe."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice, product
from typing import Any, Literal

from elision.checking.matching import matching_glob, matching_regex
from elision.classification import Rule, Table
from elision.classification.commands import ANY, END, CommandPattern
from elision.classification.patterns import Glob
from elision.classification.rules import Pattern
from elision.message import ToolCall

_KNOWN: tuple[tuple[str, Mapping[str, Any]], ...] = (
    ("read_file", {"path": "app/settings.py"}),
    ("run_tests", {"path": "tests/"}),
    ("create_issue", {"title": "The build is red"}),
    ("write_file", {"path": "app/release.py", "content": "x = 1"}),
    ("load_skill", {"name": "deploy"}),
    ("ask_user", {"question": "Which account is it?"}),
    ("zx_unheard_of", {"k": "v"}),
    ("bash", {"command": "cat app/settings.py"}),
    ("bash", {"command": "pytest -q tests"}),
    ("bash", {"command": "git commit -m 'Mend the build'"}),
    ("bash", {"command": "cat .claude/skills/deploy/SKILL.md"}),
)
_MOST = 400
"""Most calls that are tried for one rule."""


@dataclass(frozen=True, slots=True)
class Sample:
    """A call, the annotations of its tool, and whether it fails."""

    tool: str
    arguments: Mapping[str, Any]
    annotations: Mapping[str, Any] = field(default_factory=dict)
    status: Literal["ok", "error"] | None = None

    @property
    def failed(self) -> bool:
        """Whether the host marks its result as failed."""
        return self.status == "error"

    def classes(self, table: Table) -> frozenset[str]:
        """Return the classes that a table gives its result."""
        return table.classify(ToolCall("", self.tool, self.arguments), self.status, self.annotations).classes


def sample_for(table: Table, wanted: frozenset[str]) -> Sample | None:
    """Return a call that has exactly the wanted classes, or else one that has them among others."""
    status: Literal["error"] | None = "error" if "error" in wanted else None
    found: Sample | None = None
    for sample in _candidates(table, wanted - {"error"}, status):
        classes = sample.classes(table)
        if classes == wanted:
            return sample
        if found is None and wanted < classes and not classes & {"unknown"}:
            found = sample
    return found


def _candidates(table: Table, wanted: frozenset[str], status: Literal["error"] | None) -> Iterator[Sample]:
    for tool, arguments in _KNOWN:
        yield Sample(tool, arguments, status=status)
    for rule in reversed(table.rules):
        if wanted & set(rule.classes):
            yield from islice(_described(rule, status), _MOST)


def _described(rule: Rule, status: Literal["error"] | None) -> Iterator[Sample]:
    """Yield calls that a rule describes; the table says whether they are what is wanted."""
    tools = _texts(rule.tools) or ["some_tool"]
    choices: list[list[dict[str, str]]] = [_arguments(key, patterns) for key, patterns in rule.arguments]
    if rule.shell is not None:
        lines = [line for pattern in rule.shell.commands.patterns if (line := _command(pattern))]
        lines += ["echo done > out.txt"] if rule.shell.writes else []
        choices.append([{rule.shell.arguments[0]: line} for line in lines])
    for arguments in product(*choices):
        given = {name: value for each in arguments for name, value in each.items()}
        for tool in tools:
            yield Sample(tool, given, dict(rule.annotations), status or rule.status)


def _texts(patterns: Iterable[Glob]) -> list[str]:
    return [text for pattern in patterns for text in matching_glob(pattern)]


def _arguments(key: Glob, patterns: Iterable[Pattern]) -> list[dict[str, str]]:
    name = next(matching_glob(key), "text")
    values: list[str] = []
    for pattern in patterns:
        if isinstance(pattern, Glob):
            values.extend(matching_glob(pattern))
        elif (found := matching_regex(pattern.source)) is not None:
            values.append(found)
    return [{name: value} for value in values]


def _command(pattern: CommandPattern) -> str:
    """Return a command that begins as a pattern says."""
    words = [next(matching_glob(word), "") for word in pattern.words if word.source not in (ANY, END)]
    return " ".join(words) if all(words) else ""
