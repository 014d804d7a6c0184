"""All problems of a config in one run, and its processors where it has none."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import yaml

from elision.chain import in_order
from elision.config.document import EXPECTED, parse
from elision.config.entry import read_processor
from elision.config.options import ChainOptions, read_options
from elision.config.problems import Path, Problems, Severity
from elision.config.shape import AGENT, CHAIN, ChainNode, Shape, find_chains, is_sweagent
from elision.config.values import OvergrownError, Reader
from elision.errors import ConfigError, Problem
from elision.registry import plugins

if TYPE_CHECKING:
    from elision.processor import Processor

_ONCE = frozenset({"cache_control"})
_NOTE = (
    "this is a SWE-agent config, so SWE-agent's own processors give SWE-agent's own texts, with exceptions from the "
    "guard and without a classification table; to switch Elision's own rules on, put the list into a file of its own "
    f"that begins with the two lines '{CHAIN}:' and '  - type: …'"
)


@dataclass(frozen=True, slots=True)
class Placed:
    """A processor and where it is written."""

    node: yaml.Node
    path: Path
    processor: Processor


@dataclass(frozen=True, slots=True)
class Checked:
    """A config that has been looked at as a whole."""

    source: str
    problems: Sequence[Problem]
    chains: Sequence[Sequence[Placed]] = ()
    options: ChainOptions = field(default_factory=ChainOptions)
    attempts: yaml.Node | None = None


def check(text: str, source: str) -> Checked:
    """Look at a config, in either form, without building its chain."""
    try:
        root = parse(text, source)
    except ConfigError as error:
        return Checked(source, error.problems)
    if root is None:
        return Checked(source, [Problem(source, 1, 1, "", f"the file is empty; {EXPECTED}")])
    return _Check(root, source).run()


class _Check:
    """One look at one config."""

    def __init__(self, root: yaml.Node, source: str) -> None:
        self._root = root
        self._sweagent = is_sweagent(root)
        # What SWE-agent runs must run here too, so there these are warnings.
        self._strictness: Severity = "warning" if self._sweagent else "error"
        self._problems = Problems(source)
        self._reader = Reader(self._problems, repeated=self._strictness)
        self._at: tuple[yaml.Node, Path] = (root, ())

    def run(self) -> Checked:
        """Return the problems, and what could be read."""
        shape, options = Shape(), ChainOptions()
        chains: list[list[Placed]] = []
        try:
            shape = find_chains(self._root, self._reader, self._problems)
            if self._sweagent:
                options = ChainOptions(compat="sweagent")
            else:
                options = read_options(shape.options, self._reader, self._problems)
            chains.extend(self._chain(chain) for chain in shape.chains)
        except OvergrownError as error:
            self._problems.add(*self._at, str(error))
        if shape.agent is not None:
            self._problems.add(shape.agent, (AGENT,), _NOTE, "note")
        return Checked(self._problems.source, self._problems.in_order(), chains, options, shape.attempts)

    def _chain(self, chain: ChainNode) -> list[Placed]:
        if chain.items is None:
            return [Placed(chain.owner, chain.path, plugins().processors()["default"]())]
        placed = list(self._processors(chain.items, chain.path))
        for index, message in in_order(each.processor for each in placed):
            self._problems.add(placed[index].node, placed[index].path, message, self._strictness)
        self._warn_of_repetition(placed)
        return placed

    def _processors(self, items: yaml.SequenceNode, path: Path) -> Iterator[Placed]:
        for index, item in enumerate(items.value):
            self._at = (item, (*path, index))
            processor = read_processor(*self._at, self._reader, self._problems)
            if processor is not None:
                yield Placed(*self._at, processor)

    def _warn_of_repetition(self, placed: Sequence[Placed]) -> None:
        seen: set[str] = set()
        for each in placed:
            name = each.processor.type_name
            if name in seen & _ONCE:
                told = f"{name} stands in this chain twice; the last one takes away the marks of the others; remove one"
                self._problems.add(each.node, each.path, told, "warning")
            seen.add(name)
