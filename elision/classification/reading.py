"""A table read from YAML: all its problems in one run, and the table where it has none."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import yaml
from pydantic import ValidationError

from elision.classification.cell_values import read_cell
from elision.classification.cells import Cell
from elision.classification.classes import OPERATIONS, ClassRow
from elision.classification.rules import Rule
from elision.classification.table import Table
from elision.classification.written import WrittenRule
from elision.config.document import parse
from elision.config.entry import node_at
from elision.config.problems import Path, Problems, shown, suggestion
from elision.config.values import Entry, OvergrownError, Reader, described, is_empty, is_list, is_mapping
from elision.config.wording import complaints
from elision.errors import ConfigError, Problem, closest

KEYS = ("extends", "description", "classes", "rules")
ROOT = "classes"
"""The table that every other one extends in the end: the classes, and the rule for what recall brings back."""

_EXPECTED = "give a table as YAML, with 'rules:' or 'classes:' at the top"


@dataclass(frozen=True, slots=True)
class Placed:
    """Something of the file itself, and where it is written."""

    node: yaml.Node
    path: Path


@dataclass(frozen=True, slots=True)
class ReadTable:
    """A table as far as it could be read; ``rules`` and ``cells`` are its own, without those that it extends."""

    source: str
    table: Table
    problems: Sequence[Problem]
    base: Table | None = None
    description: str = ""
    rules: Sequence[tuple[Placed, Rule]] = ()
    cells: Mapping[tuple[str, str], Placed] = field(default_factory=dict)


Base = Callable[[str], ReadTable]


def read_table(text: str, source: str, base: Base) -> ReadTable:
    """Read the text of a table; ``base`` finds the one that it extends."""
    problems = Problems(source)
    empty = Table(source, {}, ())
    try:
        root = parse(text, source)
    except ConfigError as error:
        return ReadTable(source, empty, error.problems)
    if root is None or not is_mapping(root):
        told = f"the file is {'empty' if root is None else described(root)}; {_EXPECTED}"
        return ReadTable(source, empty, [Problem(source, 1, 1, "", told)])
    return _Reading(root, problems, base).run()


class _Reading:
    """One table being read."""

    def __init__(self, root: yaml.Node, problems: Problems, base: Base) -> None:
        assert isinstance(root, yaml.MappingNode)  # noqa: S101 (read_table)
        self._root = root
        self._problems = problems
        self._base = base
        self._reader = Reader(problems)
        self._cells: dict[tuple[str, str], Placed] = {}
        self._every_class = True
        """Whether all classes could be read; if not, none is told to be missing."""

    def run(self) -> ReadTable:
        """Read everything."""
        source = self._problems.source
        base: ReadTable | None = None
        classes: dict[str, ClassRow] = {}
        rules: list[tuple[Placed, Rule]] = []
        description = ""
        try:
            entries = self._reader.entries(self._root, ())
            for name in entries.keys() - set(KEYS):
                told = f"a table has no {shown(name)}; {suggestion(name, [*KEYS], 'it has')}"
                self._problems.add(entries[name].key, (name,), told)
                self._every_class &= closest(name, KEYS) not in {"extends", "classes"}
            base = self._extended(entries)
            description = self._text(entries, "description")
            classes = dict(base.table.classes) if base else {}
            if "classes" in entries:
                classes |= self._classes(entries["classes"], classes)
            if "rules" in entries:
                rules = list(self._rules(entries["rules"], classes))
        except OvergrownError as error:
            self._problems.add(self._root, (), str(error))
        inherited = base.table.rules if base else ()
        table = Table(source, classes, (*inherited, *(rule for _, rule in rules)))
        found = self._problems.in_order()
        return ReadTable(source, table, found, base.table if base else None, description, rules, self._cells)

    def _text(self, entries: Mapping[str, Entry], name: str) -> str:
        if name not in entries:
            return ""
        value = self._reader.value(entries[name].value, (name,))
        if isinstance(value, str):
            return " ".join(value.split())
        self._problems.add(entries[name].value, (name,), f"{name} is {shown(value)}; it must be text; correct it")
        return ""

    def _extended(self, entries: Mapping[str, Entry]) -> ReadTable | None:
        name = self._text(entries, "extends")
        if not name and self._problems.source == ROOT:
            return None
        try:
            base = self._base(name or ROOT)
        except ConfigError as error:
            node = entries["extends"].value if "extends" in entries else self._root
            self._problems.include(node, ("extends",), error.problems)
            self._every_class = False
            return None
        if "extends" in entries:
            errors = [problem for problem in base.problems if problem.severity == "error"]
            self._problems.include(entries["extends"].value, ("extends",), errors)
            self._every_class &= not errors
        return base

    def _classes(self, entry: Entry, known: Mapping[str, ClassRow]) -> dict[str, ClassRow]:
        if not isinstance(entry.value, yaml.MappingNode) or not is_mapping(entry.value):
            told = f"classes is {described(entry.value)}; it must be a mapping of names to classes; correct it"
            self._problems.add(entry.value, ("classes",), told)
            self._every_class = False
            return {}
        found = {}
        for name, each in self._reader.entries(entry.value, ("classes",)).items():
            before = known.get(name, ClassRow(name))
            found[name] = self._class(name, each, before)
        return found

    def _class(self, name: str, entry: Entry, before: ClassRow) -> ClassRow:
        path: Path = ("classes", name)
        if not isinstance(entry.value, yaml.MappingNode) or not is_mapping(entry.value):
            told = f"a class is a mapping, this is {described(entry.value)}; write 'cells:' under it"
            self._problems.add(entry.value, path, told)
            return before
        entries = self._reader.entries(entry.value, path)
        for key in entries.keys() - {"description", "cells"}:
            told = f"a class has no {shown(key)}; {suggestion(key, ['cells', 'description'], 'it has')}"
            self._problems.add(entries[key].key, (*path, key), told)
        description = before.description
        if "description" in entries:
            description = str(self._reader.value(entries["description"].value, (*path, "description")))
        cells = self._row(name, entries["cells"], (*path, "cells")) if "cells" in entries else {}
        return ClassRow(name, " ".join(description.split()), {**before.cells, **cells})

    def _row(self, name: str, entry: Entry, path: Path) -> dict[str, Cell]:
        if not isinstance(entry.value, yaml.MappingNode) or not is_mapping(entry.value):
            told = f"cells is {described(entry.value)}; it must be a mapping of operations to cells; correct it"
            self._problems.add(entry.value, path, told)
            return {}
        found: dict[str, Cell] = {}
        for operation, each in self._reader.entries(entry.value, path).items():
            where = (*path, operation)
            if operation not in OPERATIONS:
                told = f"there is no operation {shown(operation)}; {suggestion(operation, [*OPERATIONS], 'operations')}"
                self._problems.add(each.key, where, told)
                continue
            cell = read_cell(self._reader.value(each.value, where))
            if isinstance(cell, str):
                self._problems.add(each.value, where, cell)
            else:
                found[operation] = cell
                self._cells[name, operation] = Placed(each.key, where)
        return found

    def _rules(self, entry: Entry, classes: Mapping[str, ClassRow]) -> Iterator[tuple[Placed, Rule]]:
        if is_empty(entry.value):
            return
        if not isinstance(entry.value, yaml.SequenceNode) or not is_list(entry.value):
            told = f"rules is {described(entry.value)}; it must be a list; begin each rule with '- tool:'"
            self._problems.add(entry.value, ("rules",), told)
            return
        for index, item in enumerate(entry.value.value):
            placed = Placed(item, ("rules", index))
            rule = self._rule(placed, classes)
            if rule is not None:
                yield placed, rule

    def _rule(self, placed: Placed, classes: Mapping[str, ClassRow]) -> Rule | None:
        item, path = placed.node, placed.path
        if not isinstance(item, yaml.MappingNode) or not is_mapping(item):
            self._problems.add(item, path, f"a rule is a mapping, this is {described(item)}; write '- tool: …'")
            return None
        data = self._reader.readable(self._reader.entries(item, path), path)
        if self._every_class:
            self._check_classes(data.get("class"), placed, classes)
        try:
            written = WrittenRule.model_validate(data)
        except ValidationError as error:
            fields = {info.alias or name: info for name, info in WrittenRule.model_fields.items()}
            for found in complaints(error, data, "a rule", fields):
                node = node_at(item, found.at, self._reader, key=found.key)
                self._problems.add(node, (*path, *found.at), found.message)
            return None
        return written.meant(f"{self._problems.source}:{item.start_mark.line + 1}")

    def _check_classes(self, given: object, placed: Placed, classes: Mapping[str, ClassRow]) -> None:
        for name in given if isinstance(given, list) else [given]:
            if isinstance(name, str) and name not in classes:
                node = node_at(placed.node, ("class",), self._reader, key=False)
                told = f"there is no class {shown(name)}; {suggestion(name, [*classes], 'classes')}"
                self._problems.add(node, (*placed.path, "class"), told)
