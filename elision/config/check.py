"""All problems of a config in one run, and its processors where it has none."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

import yaml

from elision.binding import binds_thinking
from elision.breakpoints import why_no_breakpoints
from elision.chain import in_order
from elision.classification import load_table
from elision.config.document import EXPECTED, parse
from elision.config.entry import read_processor
from elision.config.inner import IN_ANOTHER, IN_OWN_FORM, TYPE, InnerChain, read_inner, type_node
from elision.config.miniswe import IN_ANOTHER as IN_ANOTHER_CONFIG
from elision.config.miniswe import MODEL, NAMED, find_model_chain, is_miniswe
from elision.config.options import ChainOptions, read_options
from elision.config.ordering import order_advice
from elision.config.problems import Path, Problems, Severity, shown
from elision.config.shadowing import shadow_warnings
from elision.config.shape import AGENT, CHAIN, ChainNode, Shape, find_chains, is_sweagent
from elision.config.sources import text_of
from elision.config.values import OvergrownError, Reader
from elision.edits import SHRINKING
from elision.errors import ConfigError, Problem
from elision.handover import Target, can_hand_over, problems_of
from elision.own_values import load_own, own_profile
from elision.processor import Processor
from elision.registry import plugins
from elision.schedule import counts_tokens
from elision.windows import goes_by_window, names_by_window, window_problem

_ONCE = frozenset({"cache_control"})
_OF_THE_WHOLE = (
    "classification",
    "archive",
    "stored_policy",
    "schedule",
    "on_bound_thinking",
    "profile",
    "mode",
    "share",
)
"""What a chain that another config names says of the whole."""
_NOTE = (
    "in a SWE-agent config, SWE-agent's own processors give SWE-agent's own texts and ask no table; for Elision's full "
    f"guard put the list at the top of a file, under the lines 'classification: default' and '{CHAIN}:'"
)

NamedBy: TypeAlias = Literal["", "entry", "model"]
"""What names a config as its chain: nothing, an entry ``type: chain``, or the model of a mini-swe-agent config."""


@dataclass(frozen=True, slots=True)
class Placed:
    """A processor and where it is written."""

    node: yaml.Node
    path: Path
    processor: Processor


@dataclass(frozen=True, slots=True)
class ReadChain:
    """A chain as far as it could be read: its processors, those of inner chains in their place, and its options."""

    placed: Sequence[Placed]
    options: ChainOptions


@dataclass(frozen=True, slots=True)
class _Part:
    """What one entry of a list brings into the chain."""

    node: yaml.Node
    path: Path
    placed: Sequence[Placed]
    options: InnerChain = field(default_factory=InnerChain)
    named: ChainOptions | None = None
    stand_in: Placed | None = None
    """What keeps the place in the order of a processor with wrong options."""

    @property
    def ordered(self) -> Sequence[Placed]:
        """What the order rules are about."""
        return self.placed if self.stand_in is None else [self.stand_in]


@dataclass(frozen=True, slots=True)
class Checked:
    """A config that has been looked at as a whole."""

    source: str
    problems: Sequence[Problem]
    chains: Sequence[ReadChain] = ()
    attempts: yaml.Node | None = None


def check(text: str, source: str, *, named_by: NamedBy = "") -> Checked:
    """Look at a config, in each form, without building its chain."""
    try:
        root = parse(text, source)
    except ConfigError as error:
        return Checked(source, error.problems)
    if root is None:
        return Checked(source, [Problem(source, 1, 1, "", f"the file is empty; {EXPECTED}")])
    return _Check(root, source, named_by).run()


class _Check:
    """One look at one config."""

    def __init__(self, root: yaml.Node, source: str, named_by: NamedBy) -> None:
        self._root = root
        self._named_by = named_by
        self._miniswe = is_miniswe(root)
        self._sweagent = not self._miniswe and is_sweagent(root)
        # What SWE-agent runs must run here too, so there these are warnings.
        self._strictness: Severity = "warning" if self._sweagent else "error"
        self._problems = Problems(source)
        self._reader = Reader(self._problems, repeated=self._strictness)
        self._at: tuple[yaml.Node, Path] = (root, ())

    def run(self) -> Checked:
        """Return the problems, and what could be read."""
        shape = Shape()
        chains: list[ReadChain] = []
        try:
            if self._miniswe:
                chains.extend(self._of_model())
            else:
                shape = find_chains(self._root, self._reader, self._problems)
                options = self._options(shape)
                chains.extend(self._chain(chain, options) for chain in shape.chains)
        except OvergrownError as error:
            self._problems.add(*self._at, str(error))
        if "archive" in shape.options:
            self._warn_of_nothing_removed(shape.options["archive"].key, chains)
            self._note_no_ledger(shape.options["archive"].key, chains)
        if "model" in shape.options and "on_bound_thinking" not in shape.options:
            self._note_bound_thinking(shape.options["model"].value, chains)
        for name in [key for key in ("mode", "share") if key in shape.options][:1]:
            self._warn_of_shadow(name, shape.options[name].key, chains)
        if shape.agent is not None:
            self._problems.add(shape.agent, (AGENT,), _NOTE, "note")
        return Checked(self._problems.source, self._problems.in_order(), chains, shape.attempts)

    def _options(self, shape: Shape) -> ChainOptions:
        if self._sweagent:
            return ChainOptions(compat="sweagent")
        return read_options(shape.options, self._reader, self._problems)

    def _of_model(self) -> Iterator[ReadChain]:
        if self._named_by:
            self._problems.add(self._root, (), IN_ANOTHER_CONFIG)
            return
        found = find_model_chain(self._root, self._reader, self._problems)
        if found.items is not None:
            yield self._chain(found.items, ChainOptions())
        if found.name is not None and found.node is not None:
            yield self._chain_named(found.name, found.node, (MODEL, NAMED), "model")

    def _chain(self, chain: ChainNode, options: ChainOptions) -> ReadChain:
        if chain.items is None:
            return ReadChain([Placed(chain.owner, chain.path, plugins().processors()["default"]())], options)
        parts = list(self._parts(chain.items, chain.path, inner=self._named_by == "entry"))
        placed = [each for part in parts for each in part.placed]
        ordered = [each for part in parts for each in part.ordered]
        self._note_order(ordered, self._strictness)
        self._advise_on_order(ordered)
        self._warn_of_repetition(placed)
        options = self._with_inner(options, parts)
        self._note_handovers(placed, options)
        self._warn_of_breakpoints(placed, options)
        self._warn_of_window(placed, options)
        return ReadChain(placed, options)

    def _parts(self, items: yaml.SequenceNode, path: Path, *, inner: bool) -> Iterator[_Part]:
        """Yield what can be read of a list; ``inner`` is one of an entry ``type: chain``, which holds no other."""
        takes_chains = self._sweagent and not inner
        for index, item in enumerate(items.value):
            where = (*path, index)
            self._at = (item, where)
            written = type_node(item, where, self._reader)
            if written is not None and takes_chains:
                yield self._inner(item, where)
            elif written is not None and TYPE not in plugins().processors():
                self._problems.add(written, (*where, "type"), IN_ANOTHER if inner else IN_OWN_FORM)
            else:
                beside = (TYPE,) if takes_chains else ()
                read = read_processor(
                    item, where, self._reader, self._problems, beside=beside, as_sweagent=self._sweagent
                )
                if read.processor is not None:
                    yield _Part(item, where, [Placed(item, where, read.processor)])
                elif read.stand_in is not None:
                    yield _Part(item, where, [], stand_in=Placed(item, where, read.stand_in))

    def _inner(self, item: yaml.Node, path: Path) -> _Part:
        found = read_inner(item, path, self._reader, self._problems)
        options, placed, named = found.options, list[Placed](), None
        if found.processors is not None and found.processors.items is not None:
            parts = list(self._parts(found.processors.items, found.processors.path, inner=True))
            placed.extend(each for part in parts for each in part.placed)
            self._note_order([each for part in parts for each in part.ordered], "error")
        if found.name is not None and options.chain is not None:
            where = (*path, "chain")
            chain = self._chain_named(options.chain, found.name, where, "entry")
            placed.extend(chain.placed)
            named = chain.options
            options = InnerChain(
                on_error=options.on_error or chain.options.on_error, model=options.model or chain.options.model
            )
        return _Part(item, path, placed, options, named)

    def _chain_named(self, name: str, node: yaml.Node, path: Path, by: NamedBy) -> ReadChain:
        """Return the chain of another config, its processors placed where this one names it."""
        try:
            checked = check(text_of(name), name, named_by=by)
        except ConfigError as error:
            checked = Checked(name, error.problems)
        self._problems.include(node, path, checked.problems)
        if len(checked.chains) > 1:
            told = f"{shown(name)} has {len(checked.chains)} chains, one for each attempt; name a file that has one"
            self._problems.add(node, path, told)
        if len(checked.chains) != 1:
            return ReadChain((), ChainOptions())
        (chain,) = checked.chains
        return ReadChain([Placed(node, path, each.processor) for each in chain.placed], chain.options)

    def _with_inner(self, options: ChainOptions, parts: Sequence[_Part]) -> ChainOptions:
        """Add what inner chains say: to raise, where one does, the first model, and what a file says of the whole."""
        models = [part for part in parts if part.options.model is not None]
        for part in models[1:]:
            counted = models[0].options.model
            if part.options.model != counted:
                told = (
                    f"this chain counts tokens for {shown(part.options.model)}, an earlier one for {shown(counted)}; "
                    "outside SWE-agent the first counts for all; give one model"
                )
                self._problems.add(part.node, part.path, told, "warning")
        said: dict[str, Any] = {"model": models[0].options.model} if models else {}
        named = next((part.named for part in parts if part.named is not None), None)
        if named is not None:
            said |= {name: getattr(named, name) for name in _OF_THE_WHOLE}
        if any(part.options.on_error == "raise" for part in parts):
            said["on_error"] = "raise"
        return options.model_copy(update=said)

    def _note_order(self, placed: Sequence[Placed], severity: Severity) -> None:
        for index, message in in_order(each.processor for each in placed):
            self._problems.add(placed[index].node, placed[index].path, message, severity)

    def _advise_on_order(self, placed: Sequence[Placed]) -> None:
        for index, message, severity in order_advice([each.processor for each in placed]):
            self._problems.add(placed[index].node, placed[index].path, message, severity)

    def _note_handovers(self, placed: Sequence[Placed], options: ChainOptions) -> None:
        """Note what the chain may not hand over to the provider of the model that it names."""
        if options.model is None or not any(can_hand_over(each.processor) for each in placed):
            return
        try:
            table = None if options.classification == "none" else load_table(options.classification)
            own = load_own(options.profile)
        except ConfigError:
            return
        target = Target(options.model, options.dialect, table)
        with own_profile(own):
            found = problems_of((each.processor for each in placed), target)
        for index, message in found:
            self._problems.add(placed[index].node, placed[index].path, message)

    def _warn_of_breakpoints(self, placed: Sequence[Placed], options: ChainOptions) -> None:
        marking = [each for each in placed if each.processor.type_name == "cache_control"]
        try:
            with own_profile(load_own(options.profile)):
                why = why_no_breakpoints(options.model) if marking else ""
        except ConfigError:
            return
        if why:
            told = f"no breakpoint helps {shown(options.model)}: {why}; remove it, or name the model that is asked"
            self._problems.add(marking[0].node, marking[0].path, told, "warning")

    def _warn_of_window(self, placed: Sequence[Placed], options: ChainOptions) -> None:
        """Warn of what goes by the window of a model that nobody knows."""
        resting = [each for each in placed if goes_by_window(each.processor)]
        try:
            with own_profile(load_own(options.profile)):
                told = window_problem(names_by_window(each.processor for each in resting), options.model)
        except ConfigError:
            return
        if told:
            self._problems.add(resting[0].node, resting[0].path, told, "warning")

    def _warn_of_nothing_removed(self, node: yaml.Node, chains: Sequence[ReadChain]) -> None:
        without = [each for chain in chains if chain.options.archive == "none" for each in chain.placed]
        idle = dict.fromkeys(each.processor.type_name for each in without if each.processor.operation in SHRINKING)
        if idle:
            told = (
                f"an archive of none keeps no originals, so {' and '.join(idle)} can never remove anything; "
                "name a folder (archive: .elision)"
            )
            self._problems.add(node, ("archive",), told, "warning")

    def _warn_of_shadow(self, name: str, node: yaml.Node, chains: Sequence[ReadChain]) -> None:
        for chain in chains:
            for told in shadow_warnings(chain.options, [each.processor for each in chain.placed]):
                self._problems.add(node, (name,), told, "warning")

    def _note_bound_thinking(self, node: yaml.Node, chains: Sequence[ReadChain]) -> None:
        """Say what is needed before anything is removed from before thinking that is bound to it."""
        unsaid = [chain for chain in chains if chain.options.on_bound_thinking is None]
        idle = [each for chain in unsaid for each in chain.placed if each.processor.runs_at != "entry"]
        if unsaid and any(each.processor.operation in SHRINKING for each in idle):
            model = unsaid[0].options.model
            if binds_thinking(model):
                told = (
                    f"{shown(model)} binds its thinking to what stands before it, so nothing is removed from there "
                    "unless the request sends view.params; say what is to happen: add on_bound_thinking: "
                    "request_drop_block, drop_thinking or defer"
                )
                self._problems.add(node, ("model",), told, "note")

    def _note_no_ledger(self, node: yaml.Node, chains: Sequence[ReadChain]) -> None:
        """Name the processors whose decisions rest on more than the history, where no other process can look it up."""
        alone = [
            (each.processor, chain.options)
            for chain in chains
            if chain.options.archive == "memory:"
            for each in chain.placed
        ]
        needing = dict.fromkeys(each.type_name for each, options in alone if _needs_ledger(each, options))
        if needing:
            told = (
                f"an archive in memory has no ledger for other processes: {' and '.join(needing)}, which go by prices "
                "and tokens, may decide otherwise there; name a folder (archive: .elision) where several share a run"
            )
            self._problems.add(node, ("archive",), told, "note")

    def _warn_of_repetition(self, placed: Sequence[Placed]) -> None:
        seen: set[str] = set()
        for each in placed:
            name = each.processor.type_name
            if name in seen & _ONCE:
                told = f"{name} stands in this chain twice; the last one takes away the marks of the others; remove one"
                self._problems.add(each.node, each.path, told, "warning")
            seen.add(name)


def _needs_ledger(processor: Processor, options: ChainOptions) -> bool:
    return processor.waits and counts_tokens(processor.own_schedule or options.schedule)
