"""A profile read from YAML: all its problems in one run, and its sections where they have none."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import yaml
from pydantic import BaseModel, ValidationError

from elision.config.document import parse
from elision.config.entry import node_at
from elision.config.problems import Path, Problems, shown, suggestion
from elision.config.values import Entry, OvergrownError, Reader, described, is_list, is_mapping
from elision.config.wording import complaints
from elision.errors import ConfigError, Problem
from elision.profiles.written import SECTIONS, WrittenHead, WrittenNames

VARIANTS = "variants"
_HEAD = tuple(WrittenHead.model_fields)
_NAMES = tuple(WrittenNames.model_fields)
_NO_LIMIT = frozenset(
    {
        "lookback_blocks",
        "lookback_breakpoints",
        "max_images",
        "max_bytes",
        "max_edge",
        "many",
        "many_edge",
        "max_tokens",
    }
)
_EXPECTED = f"give a profile as YAML, with sections such as 'cache:' at the top ({', '.join(SECTIONS)})"

Sections = Mapping[str, Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class Variant:
    """Sections that hold for some models of a profile."""

    label: str
    models: tuple[str, ...]
    providers: tuple[str, ...]
    sections: Sections


@dataclass(frozen=True, slots=True)
class ReadProfile:
    """A profile as far as it could be read, without those that it extends."""

    source: str
    problems: Sequence[Problem]
    description: str = ""
    extends: str | None = None
    home: str = ""
    models: tuple[str, ...] = ()
    providers: tuple[str, ...] = ()
    sections: Sections = field(default_factory=dict)
    variants: tuple[Variant, ...] = ()


def read_profile(text: str, source: str) -> ReadProfile:
    """Read the text of a profile."""
    problems = Problems(source)
    try:
        root = parse(text, source)
    except ConfigError as error:
        return ReadProfile(source, error.problems)
    if not isinstance(root, yaml.MappingNode) or not is_mapping(root):
        told = f"the file is {'empty' if root is None else described(root)}; {_EXPECTED}"
        return ReadProfile(source, [Problem(source, 1, 1, "", told)])
    return _Reading(root, problems).run()


class _Reading:
    """One profile being read."""

    def __init__(self, root: yaml.MappingNode, problems: Problems) -> None:
        self._root = root
        self._problems = problems
        self._reader = Reader(problems)

    def run(self) -> ReadProfile:
        """Read everything."""
        source = self._problems.source
        head: dict[str, Any] = {}
        sections: Sections = {}
        variants: tuple[Variant, ...] = ()
        try:
            entries = self._reader.entries(self._root, ())
            self._unknown(entries, (*_HEAD, *SECTIONS, VARIANTS), (), "a profile")
            head = self._validated(WrittenHead, {k: e for k, e in entries.items() if k in _HEAD}, (), "a profile")
            sections = self._sections(entries, ())
            if VARIANTS in entries:
                variants = tuple(self._variants(entries[VARIANTS]))
        except OvergrownError as error:
            self._problems.add(self._root, (), str(error))
        return ReadProfile(
            source,
            self._problems.in_order(),
            description=" ".join(head.get("description", "").split()),
            extends=head.get("extends"),
            home=head.get("home", ""),
            models=tuple(head.get("models") or ()),
            providers=tuple(head.get("providers") or ()),
            sections=sections,
            variants=variants,
        )

    def _unknown(self, entries: Mapping[str, Entry], known: Sequence[str], path: Path, owner: str) -> None:
        for name in [name for name in entries if name not in known]:
            told = f"{owner} has no {shown(name)}; {suggestion(name, [*known], 'it has')}"
            self._problems.add(entries[name].key, (*path, name), told)

    def _sections(self, entries: Mapping[str, Entry], path: Path) -> Sections:
        return {
            name: self._section(name, model, entries[name], (*path, name))
            for name, model in SECTIONS.items()
            if name in entries
        }

    def _section(self, name: str, model: type[BaseModel], entry: Entry, path: Path) -> dict[str, Any]:
        if not isinstance(entry.value, yaml.MappingNode) or not is_mapping(entry.value):
            told = f"{name} is {described(entry.value)}; it must be a mapping; write '{_first(model)}: …' under it"
            self._problems.add(entry.value, path, told)
            return {}
        return self._validated(model, self._reader.entries(entry.value, path), path, f"'{name}'", entry.value)

    def _validated(
        self,
        model: type[BaseModel],
        entries: Mapping[str, Entry],
        path: Path,
        owner: str,
        node: yaml.MappingNode | None = None,
    ) -> dict[str, Any]:
        """Return what is set; what is wrong with it is noted."""
        node = node or self._root
        data = self._reader.readable(entries, path)
        for name in [name for name, value in data.items() if value is None and name not in _NO_LIMIT]:
            told = f"{name} is empty; give it a value, or remove it"
            self._problems.add(entries[name].value, (*path, name), told)
            del data[name]
        try:
            return model.model_validate(data).model_dump(exclude_unset=True)
        except ValidationError as error:
            for found in complaints(error, data, owner, model.model_fields):
                at = node_at(node, found.at, self._reader, key=found.key)
                self._problems.add(at, (*path, *found.at), found.message)
            return {}

    def _variants(self, entry: Entry) -> Iterator[Variant]:
        if not isinstance(entry.value, yaml.SequenceNode) or not is_list(entry.value):
            told = f"{VARIANTS} is {described(entry.value)}; it must be a list; begin each variant with '- models:'"
            self._problems.add(entry.value, (VARIANTS,), told)
            return
        for index, item in enumerate(entry.value.value):
            found = self._variant(item, (VARIANTS, index))
            if found is not None:
                yield found

    def _variant(self, item: yaml.Node, path: Path) -> Variant | None:
        if not isinstance(item, yaml.MappingNode) or not is_mapping(item):
            self._problems.add(item, path, f"a variant is a mapping, this is {described(item)}; write '- models: …'")
            return None
        entries = self._reader.entries(item, path)
        self._unknown(entries, (*_NAMES, *SECTIONS), path, "a variant")
        names = self._validated(
            WrittenNames, {k: e for k, e in entries.items() if k in _NAMES}, path, "a variant", item
        )
        if not entries.keys() & set(_NAMES):
            self._problems.add(item, path, "a variant needs 'models' or 'providers'; add one, or move it to the top")
        return Variant(
            f"{self._problems.source}:{item.start_mark.line + 1}",
            tuple(names.get("models") or ()),
            tuple(names.get("providers") or ()),
            self._sections(entries, path),
        )


def _first(model: type[BaseModel]) -> str:
    return next(name for name in model.model_fields if name != "source")
