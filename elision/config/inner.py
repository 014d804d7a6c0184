"""``type: chain``: a whole chain as one entry of the list in a SWE-agent config, as SWE-agent takes it from Elision."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any, Literal

import yaml
from pydantic import BaseModel, ConfigDict, ValidationError

from elision.config.entry import node_at
from elision.config.problems import Path, Problems
from elision.config.shape import AGENT, CHAIN, ChainNode, chain_nodes
from elision.config.values import Entry, Reader, is_empty, is_mapping
from elision.config.wording import complaints

TYPE = "chain"

IN_OWN_FORM = (
    f"there is no processor '{TYPE}'; 'type: {TYPE}' stands only under '{AGENT}.{CHAIN}' of a SWE-agent config; "
    "write its processors into this list"
)
IN_ANOTHER = (
    f"'type: {TYPE}' cannot stand in a chain that another 'type: {TYPE}' holds or names; "
    "write its processors into this list"
)


class InnerChain(BaseModel):
    """A whole chain as one entry of the list; write its processors here, or name it."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)

    type: Literal["chain"] = "chain"
    processors: list[Any] | None = None
    """The chain's processors, written as under history_processors."""
    chain: str | None = None
    """Instead of processors: the chain's path, from the working directory, or its shipped name."""
    on_error: Literal["skip", "raise"] | None = None
    """When a processor raises: skip or raise; else as the chain says."""
    model: str | None = None
    """Model to count tokens for; else as the chain says."""


@dataclass(frozen=True, slots=True)
class Inner:
    """An entry ``type: chain`` as it is written: its options, its list, and where it names a chain."""

    options: InnerChain = field(default_factory=InnerChain)
    processors: ChainNode | None = None
    name: yaml.Node | None = None


def type_node(item: yaml.Node, path: Path, reader: Reader) -> yaml.Node | None:
    """Return the ``chain`` of an entry ``type: chain``; nothing for any other."""
    if not isinstance(item, yaml.MappingNode) or not is_mapping(item):
        return None
    entry = reader.entries(item, path, only={"type"}).get("type")
    return entry.value if entry is not None and entry.value.value == TYPE else None


def read_inner(item: yaml.Node, path: Path, reader: Reader, problems: Problems) -> Inner:
    """Return what an entry ``type: chain`` says; what is wrong with its options is noted."""
    assert isinstance(item, yaml.MappingNode)  # noqa: S101 (type_node)
    entries = reader.entries(item, path)
    data = reader.readable({name: entry for name, entry in entries.items() if name != "processors"}, path)
    options = _options(item, path, data, reader, problems)
    given = {name: entries[name] for name in ("processors", "chain") if name in entries}
    filled = {name: entry for name, entry in given.items() if not is_empty(entry.value)}
    chosen = filled or given
    if len(chosen) > 1 and filled:
        told = f"{TYPE} has both 'processors' and 'chain'; it takes one of them; remove the other"
        problems.add(chosen["chain"].key, (*path, "chain"), told)
    if "processors" not in chosen and "chain" not in filled and not _is_misspelt(entries):
        told = f"{TYPE} needs 'processors' (a list) or 'chain' (a path or a shipped name); add one of them"
        problems.add(item, path, told)
    listed = chosen.get("processors")
    nodes = chain_nodes(item, listed.value, (*path, "processors"), problems) if listed is not None else ()
    name = filled.get("chain")
    return Inner(options, next(iter(nodes), None), name.value if name is not None else None)


def _options(
    item: yaml.MappingNode, path: Path, data: Mapping[str, Any], reader: Reader, problems: Problems
) -> InnerChain:
    wrong: set[str] = set()
    try:
        return InnerChain.model_validate(data)
    except ValidationError as error:
        for found in complaints(error, data, TYPE, InnerChain.model_fields):
            problems.add(node_at(item, found.at, reader, key=found.key), (*path, *found.at), found.message)
            wrong.add(str(found.at[0]))
    return InnerChain.model_validate({name: value for name, value in data.items() if name not in wrong})


def _is_misspelt(entries: Mapping[str, Entry]) -> bool:
    unknown = entries.keys() - InnerChain.model_fields.keys()
    return any(get_close_matches(option, unknown, n=1, cutoff=0.6) for option in ("processors", "chain"))
