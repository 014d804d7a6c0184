"""A mini-swe-agent config: the chain stands under ``model``, as a list or by the name of one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches

import yaml

from elision.config.problems import Problems, shown
from elision.config.shape import CHAIN, ChainNode, chain_nodes
from elision.config.values import Entry, Reader, is_empty, is_mapping

MODEL = "model"
NAMED = "chain"

IN_ANOTHER = "this is a mini-swe-agent config, which is no chain that another config can name; name a file that is one"

_CLASS = "model_class"
_OUR_CLASS = "elision.plugins.hosts.miniswe.ElisionModel"
_KEYS = frozenset({_CLASS, CHAIN, NAMED})


@dataclass(frozen=True, slots=True)
class ModelChain:
    """The chain of a mini-swe-agent config: its list, or its name and where that is written."""

    items: ChainNode | None = None
    name: str | None = None
    node: yaml.Node | None = None


def is_miniswe(root: yaml.Node) -> bool:
    """Whether a config is one of mini-swe-agent's: ``model`` at its top is a mapping, and no chain stands there."""
    if not is_mapping(root):
        return False
    found = {key.value: value for key, value in root.value if isinstance(key, yaml.ScalarNode)}
    return CHAIN not in found and MODEL in found and is_mapping(found[MODEL])


def find_model_chain(root: yaml.Node, reader: Reader, problems: Problems) -> ModelChain:
    """Return the chain under ``model``; what is wrong on the way to it is noted."""
    assert isinstance(root, yaml.MappingNode)  # noqa: S101 (is_miniswe)
    model = reader.entries(root, (), only={MODEL})[MODEL]
    assert isinstance(model.value, yaml.MappingNode)  # noqa: S101 (is_miniswe)
    entries = reader.entries(model.value, (MODEL,), only=_KEYS)
    given = {name: entries[name] for name in (NAMED, CHAIN) if name in entries}
    filled = {name: entry for name, entry in given.items() if not is_empty(entry.value)}
    if _CLASS in entries:
        _warn_of_class(entries[_CLASS].value, problems)
    if len(filled) > 1:
        told = f"a model has either '{NAMED}' or '{CHAIN}'; remove one"
        problems.add(filled[NAMED].key, (MODEL, NAMED), told)
        return ModelChain()
    if not filled:
        _note_missing(model.key, entries, problems)
        return ModelChain()
    if CHAIN in filled:
        nodes = chain_nodes(model.key, filled[CHAIN].value, (MODEL, CHAIN), problems)
        return ModelChain(items=next(iter(nodes), None))
    return _named(filled[NAMED], reader, problems)


def _note_missing(model: yaml.Node, entries: Mapping[str, Entry], problems: Problems) -> None:
    for name in (CHAIN, NAMED):
        for meant in get_close_matches(name, entries.keys() - _KEYS, n=1):
            told = f"a model has no option {shown(meant)} for a chain; did you mean '{name}'?"
            problems.add(entries[meant].key, (MODEL, meant), told)
            return
    told = (
        f"a mini-swe-agent config has '{NAMED}' (a path or a shipped name) or '{CHAIN}' (a list) here; add one of them"
    )
    problems.add(model, (MODEL,), told)


def _named(entry: Entry, reader: Reader, problems: Problems) -> ModelChain:
    name = reader.readable({NAMED: entry}, (MODEL,)).get(NAMED, "")
    if isinstance(name, str):
        return ModelChain(name=name, node=entry.value) if name else ModelChain()
    told = f"{NAMED} is {shown(name)}; it must be a path or a shipped name; a list stands under '{CHAIN}'"
    problems.add(entry.value, (MODEL, NAMED), told)
    return ModelChain()


def _warn_of_class(node: yaml.Node, problems: Problems) -> None:
    """Tell of a model class of mini-swe-agent's own, which the config names without a module."""
    if isinstance(node, yaml.ScalarNode) and not is_empty(node) and "." not in node.value:
        told = f"mini-swe-agent's own class {shown(node.value)} runs no chain; write {_OUR_CLASS}"
        problems.add(node, (MODEL, _CLASS), told, "warning")
