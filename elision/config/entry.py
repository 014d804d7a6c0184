"""One processor as it is written in a chain."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import yaml
from pydantic import AliasChoices, ValidationError

from elision.compat import SWEAGENT_TYPES
from elision.config.problems import Path, Problems, shown, suggestion
from elision.config.values import Entry, Reader, described, is_known, is_mapping, tag_problem
from elision.config.wording import complaints
from elision.errors import ElisionError, closest
from elision.options import misplaced_booleans
from elision.registry import plugins

if TYPE_CHECKING:
    from pydantic.fields import FieldInfo

    from elision.processor import Processor


@dataclass(frozen=True, slots=True)
class ReadProcessor:
    """An entry as far as it could be read: its processor, or else one that only keeps its place in the order."""

    processor: Processor | None = None
    stand_in: Processor | None = None


def read_processor(
    item: yaml.Node,
    path: Path,
    reader: Reader,
    problems: Problems,
    *,
    beside: Collection[str] = (),
    as_sweagent: bool = False,
) -> ReadProcessor:
    """Return the processor that an item of a chain describes; what is wrong with it is noted.

    ``beside`` are the types that may stand there besides the processors'.  ``as_sweagent``: SWE-agent's own take a
    boolean for a number, as they do there.
    """
    if not isinstance(item, yaml.MappingNode) or not is_mapping(item):
        problems.add(item, path, _not_a_processor(item))
        return ReadProcessor()
    entries = reader.entries(item, path)
    data = reader.readable(entries, path)
    cls = _class_of(item, entries, data, path, problems, beside=beside)
    if cls is None:
        return ReadProcessor()
    unread = entries.keys() - data.keys()
    if as_sweagent and data["type"] in SWEAGENT_TYPES:
        data |= {name: int(data[name]) for name in misplaced_booleans(cls, data)}
    unusable = ReadProcessor(stand_in=cls.model_construct(type=data["type"]))
    try:
        processor = cls.model_validate(data)
    except ValidationError as error:
        options = {option_name(name, field): field for name, field in cls.model_fields.items()}
        for found in complaints(error, data, str(data["type"]), options):
            if found.missing not in unread:
                node = node_at(item, found.at, reader, key=found.key)
                problems.add(node, (*path, *found.at), found.message)
        return unusable
    except ElisionError as error:
        problems.add(item, path, str(error))
        return unusable
    except Exception as error:  # noqa: BLE001 (a plugin's own check may raise anything)
        owner = plugins().owner("elision_processors", str(data["type"]))
        told = f"its options cannot be checked ({type(error).__name__}: {error}); mend plugin {owner!r}"
        problems.add(item, path, told)
        return unusable
    return unusable if unread else ReadProcessor(processor)


def option_name(name: str, field: FieldInfo) -> str:
    """Return the name under which a chain file has a field."""
    alias = field.validation_alias
    if isinstance(alias, AliasChoices):
        names = [choice for choice in alias.choices if isinstance(choice, str)]
        return name if name in names or not names else names[0]
    return alias if isinstance(alias, str) else name


def _class_of(
    item: yaml.Node,
    entries: Mapping[str, Entry],
    data: Mapping[str, object],
    path: Path,
    problems: Problems,
    *,
    beside: Collection[str],
) -> type[Processor] | None:
    known = plugins().processors()
    types = sorted({*known, *beside})
    names = ", ".join(types)
    if "type" not in entries:
        problems.add(item, path, f"a processor needs 'type'; {_instead_of_type(entries, types)}")
        return None
    name = data.get("type")
    if "type" in data and not isinstance(name, str):
        told = f"type is {shown(name)}; it must be the name of a processor; known: {names}; correct it"
        problems.add(entries["type"].value, (*path, "type"), told)
    elif isinstance(name, str) and name not in known:
        told = f"there is no processor {shown(name)}; {suggestion(name, types)}"
        problems.add(entries["type"].value, (*path, "type"), told)
    return known.get(name) if isinstance(name, str) else None


def _instead_of_type(entries: Mapping[str, Entry], types: Sequence[str]) -> str:
    """Say what to write where an entry has no type: it may be its only key."""
    if slip := closest("type", entries):
        return f"it has {shown(slip)}; rename it"
    named = closest(next(iter(entries)), types) if len(entries) == 1 else None
    if named:
        return f"write '- type: {named}', and its options as keys beside it"
    return f"known: {', '.join(types)}; add it"


def _not_a_processor(item: yaml.Node) -> str:
    if isinstance(item, yaml.ScalarNode) and item.value in plugins().processors():
        return f"a processor is a mapping; write '- type: {item.value}'"
    if not is_known(item):
        return tag_problem(item)
    return f"a processor is a mapping that begins with 'type:', this is {described(item)}; write '- type: …'"


def node_at(item: yaml.Node, location: Path, reader: Reader, *, key: bool) -> yaml.Node:
    """Return the value at a location within an item, or its key, where it is written."""
    node = item
    for depth, step in enumerate(location, start=1):
        if isinstance(node, yaml.MappingNode):
            entry = reader.entries(node, location[: depth - 1])[str(step)]
            node = entry.key if key and depth == len(location) else entry.value
        elif isinstance(node, yaml.SequenceNode) and isinstance(step, int):
            node = node.value[step]
    return node
