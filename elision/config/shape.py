"""Where the chains stand in a config: at the top in Elision's own form, under ``agent`` in SWE-agent's."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches

import yaml

from elision.config.document import EXPECTED
from elision.config.problems import Path, Problems
from elision.config.values import Entry, Reader, described, is_empty, is_known, is_list, is_mapping, tag_problem

CHAIN = "history_processors"
AGENT = "agent"
ATTEMPTS = "agent_configs"

_AGENT_KEYS = frozenset({"type", CHAIN, ATTEMPTS})


@dataclass(frozen=True, slots=True)
class ChainNode:
    """A chain as it is written under ``owner``; SWE-agent's default chain where ``items`` is nothing."""

    owner: yaml.Node
    path: Path
    items: yaml.SequenceNode | None


@dataclass(frozen=True, slots=True)
class Shape:
    """What a config holds: its chains, the options beside them, and the key where a SWE-agent config begins."""

    chains: tuple[ChainNode, ...] = ()
    options: Mapping[str, Entry] = field(default_factory=dict)
    agent: yaml.Node | None = None
    attempts: yaml.Node | None = None


def is_sweagent(root: yaml.Node | None) -> bool:
    """Whether a config is one of SWE-agent's: it has ``agent`` at the top and no chain there."""
    if root is None or not is_mapping(root):
        return False
    keys = {key.value for key, _ in root.value if isinstance(key, yaml.ScalarNode)}
    return AGENT in keys and CHAIN not in keys


def find_chains(root: yaml.Node, reader: Reader, problems: Problems) -> Shape:
    """Find the chains of a config in either form; what is wrong on the way to them is noted."""
    if not is_mapping(root):
        problems.add(root, (), _not_a_chain(root))
        return Shape()
    assert isinstance(root, yaml.MappingNode)  # noqa: S101 (is_mapping)
    if is_sweagent(root):
        return _in_sweagent(reader.entries(root, (), only={AGENT})[AGENT], reader, problems)
    entries = reader.entries(root, ())
    chain = entries.pop(CHAIN, None)
    if chain is None:
        _note_missing(root, entries, problems)
        return Shape(options=entries)
    return Shape(tuple(chain_nodes(root, chain.value, (CHAIN,), problems)), entries)


def _not_a_chain(root: yaml.Node) -> str:
    if isinstance(root, yaml.SequenceNode):
        return f"the file holds only a list; a chain is a mapping; write '{CHAIN}:' above the list and indent it"
    if is_empty(root):
        return f"the file is empty; {EXPECTED}"
    if isinstance(root, yaml.ScalarNode):
        return f"the file holds only text; {EXPECTED}"
    return tag_problem(root)


def _note_missing(root: yaml.Node, entries: Mapping[str, Entry], problems: Problems) -> None:
    if not get_close_matches(CHAIN, entries, n=1, cutoff=0.6):
        told = (
            f"there is no '{CHAIN}' (nor '{AGENT}', as in a SWE-agent config); add it, [] is a chain without processors"
        )
        problems.add(root, (), told)


def _in_sweagent(agent: Entry, reader: Reader, problems: Problems) -> Shape:
    if not isinstance(agent.value, yaml.MappingNode):
        told = f"an agent is a mapping, this is {described(agent.value)}; put '{CHAIN}:' under it"
        problems.add(agent.value, (AGENT,), told)
        return Shape(agent=agent.key)
    entries = reader.entries(agent.value, (AGENT,), only=_AGENT_KEYS)
    if ATTEMPTS not in entries and not _is_retry(entries):
        return Shape(tuple(_of_agent(agent.key, entries, (AGENT,), problems)), agent=agent.key)
    if CHAIN in entries:
        told = f"a retry agent has no '{CHAIN}' of its own; move it into each of '{ATTEMPTS}'"
        problems.add(entries[CHAIN].key, (AGENT, CHAIN), told)
    attempts = entries.get(ATTEMPTS)
    if attempts is None:
        problems.add(agent.key, (AGENT,), f"a retry agent needs '{ATTEMPTS}'; list one agent for each attempt")
        return Shape(agent=agent.key)
    chains = tuple(_of_attempts(attempts.value, reader, problems))
    return Shape(chains, agent=agent.key, attempts=attempts.key)


def _is_retry(entries: Mapping[str, Entry]) -> bool:
    return "type" in entries and entries["type"].value.value == "retry"


def _of_attempts(node: yaml.Node, reader: Reader, problems: Problems) -> Iterator[ChainNode]:
    path: Path = (AGENT, ATTEMPTS)
    if not isinstance(node, yaml.SequenceNode) or not node.value:
        told = "an empty list" if isinstance(node, yaml.SequenceNode) else described(node)
        problems.add(node, path, f"this must be a list of agents, but is {told}; list one agent for each attempt")
        return
    for index, item in enumerate(node.value):
        where = (*path, index)
        if isinstance(item, yaml.MappingNode):
            yield from _of_agent(item, reader.entries(item, where, only=_AGENT_KEYS), where, problems)
        else:
            problems.add(item, where, f"an agent is a mapping, this is {described(item)}; put '{CHAIN}:' under it")


def _of_agent(owner: yaml.Node, entries: Mapping[str, Entry], path: Path, problems: Problems) -> Iterator[ChainNode]:
    if CHAIN in entries:
        yield from chain_nodes(owner, entries[CHAIN].value, (*path, CHAIN), problems)
        return
    meant = get_close_matches(CHAIN, entries, n=1, cutoff=0.85)
    if meant:
        problems.add(entries[meant[0]].key, (*path, meant[0]), f"an agent has no '{meant[0]}'; did you mean '{CHAIN}'?")
    yield ChainNode(owner, (*path, CHAIN), None)


def chain_nodes(owner: yaml.Node, node: yaml.Node, path: Path, problems: Problems) -> Iterator[ChainNode]:
    """Yield the chain that ``node`` is, or note why it is none."""
    if is_list(node):
        assert isinstance(node, yaml.SequenceNode)  # noqa: S101 (is_list)
        yield ChainNode(owner, path, node)
    elif is_empty(node):
        problems.add(node, path, "the list of processors is empty; begin each with '- type:', or write []")
    elif is_known(node):
        told = f"this must be a list of processors, but is {described(node)}; begin each with '- type:', or write []"
        problems.add(node, path, told)
    else:
        problems.add(node, path, tag_problem(node))
