"""Plain data out of YAML nodes: merge keys, aliases and sets resolved, within a bound on the work."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

import yaml
from yaml.constructor import SafeConstructor

from elision.config.document import MAX_DEPTH
from elision.config.problems import Path, Problems, Severity

MAX_VALUES = 10_000
"""Most values of a chain, with aliases written out."""

UNREADABLE: Final = object()
"""Stands for a value whose problem has been noted."""

_LONGEST_NUMBER = 1_000
"""Most characters of a number; Python neither reads nor writes one of more than 4,300 decimal digits."""

_TAG = "tag:yaml.org,2002:"
_MERGE = f"{_TAG}merge"
_SET = f"{_TAG}set"
_SCALARS = frozenset(_TAG + name for name in ("null", "bool", "int", "float", "str", "timestamp", "binary"))
_NUMBERS = frozenset({f"{_TAG}int", f"{_TAG}float"})
_KNOWN = _SCALARS | {f"{_TAG}seq", f"{_TAG}map", _SET}


class OvergrownError(Exception):
    """Aliases make a config larger than any chain."""

    def __init__(self) -> None:
        super().__init__(f"this has more than {MAX_VALUES:,} values, aliases written out; make it smaller")


@dataclass(frozen=True, slots=True)
class Entry:
    """One key of a mapping and its value."""

    key: yaml.Node
    value: yaml.Node


class Reader:
    """Turns nodes into data and notes what cannot be read."""

    def __init__(self, problems: Problems, *, repeated: Severity = "error") -> None:
        self._problems = problems
        self._repeated: Severity = repeated
        self._spent = 0

    def entries(self, node: yaml.MappingNode, path: Path, only: Collection[str] | None = None) -> dict[str, Entry]:
        """Return the entries of a mapping by key, merged ones included; note problems (of the keys ``only``)."""
        found: dict[str, Entry] = {}
        for key, value in node.value:
            self._spend()
            name = key.value if isinstance(key, yaml.ScalarNode) else None
            if key.tag == _MERGE:
                continue
            if name is None:
                if only is None:
                    self._problems.add(key, path, "a key must be text; write 'name: value'")
                continue
            if name in found and (only is None or name in only):
                first = found[name].key.start_mark.line + 1
                told = f"'{name}' stands twice, first in line {first}; the last one counts; remove one"
                self._problems.add(key, (*path, name), told, self._repeated)
            found[name] = Entry(key, value)
        return {**dict(self._merged(node, path)), **found}

    def value(self, node: yaml.Node, path: Path, above: tuple[int, ...] = ()) -> Any:
        """Return the data of a node."""
        self._spend()
        if not self._bounded(node, path, above):
            return UNREADABLE
        inside = (*above, id(node))
        if isinstance(node, yaml.SequenceNode) and node.tag == f"{_TAG}seq":
            items = [self.value(item, (*path, index), inside) for index, item in enumerate(node.value)]
            return UNREADABLE if UNREADABLE in items else items
        if isinstance(node, yaml.MappingNode) and node.tag in {f"{_TAG}map", _SET}:
            return self._mapping(node, path, inside)
        if isinstance(node, yaml.ScalarNode) and node.tag in _SCALARS:
            return self._scalar(node, path)
        self._problems.add(node, path, tag_problem(node))
        return UNREADABLE

    def readable(self, entries: Mapping[str, Entry], path: Path) -> dict[str, Any]:
        """Return the data of the entries that can be read."""
        values = {name: self.value(entry.value, (*path, name)) for name, entry in entries.items()}
        return {name: value for name, value in values.items() if value is not UNREADABLE}

    def _mapping(self, node: yaml.MappingNode, path: Path, inside: tuple[int, ...]) -> Any:
        entries = self.entries(node, path)
        if node.tag == _SET:
            keys = [self.value(entry.key, path, inside) for entry in entries.values()]
            return UNREADABLE if UNREADABLE in keys else set(keys)
        data = {key: self.value(entry.value, (*path, key), inside) for key, entry in entries.items()}
        return UNREADABLE if UNREADABLE in data.values() else data

    def _scalar(self, node: yaml.ScalarNode, path: Path) -> Any:
        if node.tag in _NUMBERS and len(node.value) > _LONGEST_NUMBER:
            told = f"this number has {len(node.value):,} characters; at most {_LONGEST_NUMBER:,} are read; shorten it"
            self._problems.add(node, path, told)
            return UNREADABLE
        kind = node.tag.removeprefix(_TAG)
        try:
            return SafeConstructor().construct_object(node)
        except (yaml.YAMLError, ValueError, OverflowError) as error:
            reason = getattr(error, "problem", None) or error
            told = f"this is no YAML {kind} ({reason}); correct it, or put it in quotes"
        except (LookupError, AttributeError, TypeError):  # what PyYAML lets through where a tag does not fit
            told = f"this is no YAML {kind}; correct it, or take away its tag"
        self._problems.add(node, path, told)
        return UNREADABLE

    def _merged(self, node: yaml.MappingNode, path: Path, above: tuple[int, ...] = ()) -> Iterator[tuple[str, Entry]]:
        """Yield what ``<<`` brings in, least important first."""
        for key, value in node.value:
            if key.tag != _MERGE:
                continue
            sources = list(reversed(value.value)) if isinstance(value, yaml.SequenceNode) else [value]
            for source in sources:
                if not isinstance(source, yaml.MappingNode):
                    self._problems.add(source, path, "'<<' takes in mappings only; name the anchor of one")
                elif self._bounded(source, path, (*above, id(node))):
                    yield from self._merged(source, path, (*above, id(node)))
                    yield from self._own(source)

    def _own(self, node: yaml.MappingNode) -> Iterator[tuple[str, Entry]]:
        for key, value in node.value:
            self._spend()
            if isinstance(key, yaml.ScalarNode) and key.tag != _MERGE:
                yield key.value, Entry(key, value)

    def _bounded(self, node: yaml.Node, path: Path, above: tuple[int, ...]) -> bool:
        self._spend()
        if id(node) in above:
            self._problems.add(node, path, "an alias in this block refers to the block itself; write out what is meant")
        elif len(above) > MAX_DEPTH:
            self._problems.add(node, path, f"values are nested more than {MAX_DEPTH} deep; make it flatter")
        else:
            return True
        return False

    def _spend(self) -> None:
        self._spent += 1
        if self._spent > MAX_VALUES:
            raise OvergrownError


def is_known(node: yaml.Node) -> bool:
    """Whether a node has one of the tags that a config may have."""
    return node.tag in _KNOWN


def tag_problem(node: yaml.Node) -> str:
    """Say what is wrong with a tag that a config may not have."""
    tag = node.tag.replace(_TAG, "!!")
    return f"tag {tag!r} is not known here; allowed: YAML's own values and !!set; remove the tag"


def is_list(node: yaml.Node) -> bool:
    """Whether a node is an ordinary list."""
    return isinstance(node, yaml.SequenceNode) and node.tag == f"{_TAG}seq"


def is_mapping(node: yaml.Node) -> bool:
    """Whether a node is an ordinary mapping."""
    return isinstance(node, yaml.MappingNode) and node.tag == f"{_TAG}map"


def is_empty(node: yaml.Node) -> bool:
    """Whether a node is an empty value."""
    return node.tag == f"{_TAG}null"


def described(node: yaml.Node) -> str:
    """Say in plain words what a node is."""
    if is_empty(node):
        return "empty"
    if isinstance(node, yaml.ScalarNode):
        return "text" if node.tag == f"{_TAG}str" else f"the single value {node.value[:40]}"
    return "a mapping" if isinstance(node, yaml.MappingNode) else "a list"
