"""SWE-agent as a host: Elision's processors under ``agent.history_processors`` of an unmodified, installed SWE-agent.

From the command line, with SWE-agent's own arguments::

    elision sweagent run --config config/default.yaml --config with_elision.yaml

From Python, before the config is read::

    from elision.plugins.hosts import sweagent
    sweagent.install()

or for one agent, without a change to its config::

    agent.history_processors.append(sweagent.as_history_processor("chain.yaml"))
"""

from __future__ import annotations

import os
import sys
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Annotated, Any, ClassVar, Literal, Self, Union, get_args

import yaml
from pydantic import BaseModel, ConfigDict, Field, PrivateAttr, create_model, model_validator

from elision import Chain, ConfigError, ElisionError, PluginError, Problem, Processor, load, loads, processor_types

_INSTALL = (
    "install SWE-agent from a checkout of its git repository (pip install -e .); "
    "the package of that name is only a placeholder"
)
_EMBEDDING = (
    ("sweagent.agent.agents", "RetryAgentConfig"),
    ("sweagent.run.run_single", "RunSingleConfig"),
    ("sweagent.run.run_batch", "RunBatchConfig"),
    ("sweagent.run.run_replay", "RunReplayConfig"),
    ("sweagent.run.run_shell", "RunShellConfig"),
)
"""SWE-agent's models that hold an agent's config, the inner ones first."""


class HostedChain:
    """A chain as SWE-agent calls it: history in, history out.

    It may be called any number of times for one step.  A history that is not a continuation begins a new run, and so
    does a deep copy, which SWE-agent makes for each agent.
    """

    def __init__(self, chain: Chain) -> None:
        self.chain = replace(chain, dialect="sweagent", compat="sweagent")
        self._session = self.chain.session()
        self._known: list[Any] = []

    def __call__(self, history: Sequence[Any]) -> list[Any]:
        """Return the view as a new list; items that no edit touched are SWE-agent's own objects."""
        self._known = [
            known if known == item else _detached(item)
            for known, item in zip(_padded(self._known, len(history)), history, strict=True)
        ]
        own = {id(known): item for known, item in zip(self._known, history, strict=True)}
        view = self._session.process(self._known, dialect="sweagent")
        return [own[id(item)] if id(item) in own else _detached(item) for item in view.messages]

    def __deepcopy__(self, memo: dict[int, Any]) -> HostedChain:
        return HostedChain(self.chain)


def as_history_processor(chain: Chain | str | Path | Sequence[Mapping[str, Any]]) -> HostedChain:
    """Return a chain (or its path, name, or list of processors) as a callable for ``agent.history_processors``."""
    if isinstance(chain, Chain):
        return HostedChain(chain)
    return HostedChain(load(chain) if isinstance(chain, str | Path) else _chain_of(chain))


class _Hosted(BaseModel, ABC):
    """What a config model needs so that SWE-agent can call it; options are compared and dumped, the session is not."""

    _hosted: HostedChain | None = PrivateAttr(default=None)

    @abstractmethod
    def build_chain(self) -> Chain:
        """Return the chain that the options describe; a ``ValueError`` says what is wrong with them."""

    @model_validator(mode="after")
    def _loads(self) -> Self:
        self._hosted = HostedChain(self.build_chain())
        return self

    def __call__(self, history: Sequence[Any]) -> list[Any]:
        """Return the view of this history."""
        if self._hosted is None:
            self._hosted = HostedChain(self.build_chain())
        return self._hosted(history)

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and self.model_dump() == other.model_dump()

    __hash__ = None  # type: ignore[assignment]


class _HostedProcessor(_Hosted):
    def build_chain(self) -> Chain:
        """Return a chain of this processor alone."""
        try:
            return Chain((self,))  # type: ignore[arg-type]
        except ConfigError as error:
            raise ValueError("\n".join(found.message for found in error.problems)) from error


class HostedChainOptions(_Hosted):
    """A whole chain as one entry of ``history_processors``; inside it SWE-agent's seven types are Elision's own."""

    model_config: ClassVar[ConfigDict] = ConfigDict(extra="forbid", use_attribute_docstrings=True)

    type: Literal["chain"] = "chain"
    processors: list[dict[str, Any]] | None = None
    """The chain's processors, written as under ``history_processors``."""
    chain: str | None = None
    """Instead of ``processors``: a chain's path (from the working directory or SWE-agent's own) or its shipped name."""
    on_error: Literal["skip", "raise"] | None = None
    """What happens when a processor raises; else as the chain says."""
    model: str | None = None
    """The model whose tokens are counted; else as the chain says."""

    def build_chain(self) -> Chain:
        """Return the chain that ``processors`` or ``chain`` describe."""
        if (self.processors is None) == (self.chain is None):
            raise ValueError("give either processors (a list) or chain (a path or a shipped name)")
        try:
            chain = load(_located(self.chain)) if self.chain is not None else _chain_of(self.processors or ())
        except ConfigError as error:
            raise ValueError("\n".join(map(_told, error.problems))) from error
        return replace(chain, on_error=self.on_error or chain.on_error, model=self.model or chain.model)


def install() -> None:
    """Make Elision's processors, and ``type: chain``, valid under ``agent.history_processors``; doing it again is fine.

    SWE-agent's own types stay SWE-agent's own classes.
    """
    module = _imported("sweagent.agent.history_processors")
    members = get_args(next(iter(get_args(getattr(module, "HistoryProcessor", None))), None))
    if not members:
        raise ElisionError(
            "sweagent.agent.history_processors: HistoryProcessor is not a union of processors, so this version of "
            "SWE-agent is not known; Elision is tried with SWE-agent 1.1; install that"
        )
    if HostedChainOptions in members:
        return
    offered = (*members, *_hosted_types(taken={_type_of(member) for member in members}))
    module.HistoryProcessor = Annotated[Union[offered], Field(discriminator="type")]  # type: ignore[attr-defined] # noqa: UP007
    if "sweagent.agent.agents" in sys.modules:
        _rebuild(sys.modules["sweagent.agent.agents"], module.HistoryProcessor)


def main(argv: Sequence[str]) -> int:
    """Run SWE-agent's command line with Elision's processors installed; its own failures look as they do without us."""
    install()
    run = _imported("sweagent.run.run").main
    try:
        return int(run(list(argv)) or 0)
    except ElisionError:
        raise
    except Exception as error:  # noqa: BLE001 (SWE-agent's, not ours)
        sys.excepthook(type(error), error, error.__traceback__)
        return 1


def _hosted_types(taken: set[str]) -> list[type[BaseModel]]:
    known = processor_types()
    if "chain" in known:
        raise PluginError("processor 'chain': the host sweagent needs this type for whole chains; rename the processor")
    return [HostedChainOptions, *(_hosted(known[name]) for name in sorted(known.keys() - taken))]


def _hosted(processor: type[Processor]) -> type[BaseModel]:
    """Return the processor's class with its options as they are, callable with a history."""
    bases = (_HostedProcessor, processor)
    return create_model(processor.__name__, __base__=bases, __module__=__name__, __doc__=processor.__doc__)


def _type_of(member: Any) -> str:
    return str(member.model_fields["type"].default)


def _rebuild(agents: ModuleType, union: Any) -> None:
    """Give the new union to the models that were built with the old one, from the inside out."""
    agents.HistoryProcessor = union  # type: ignore[attr-defined]
    for model in (agents.DefaultAgentConfig, agents.ShellAgentConfig):
        model.model_fields["history_processors"].annotation = list[union]
        model.__annotations__["history_processors"] = list[union]
        model.model_rebuild(force=True)
    for name, embedding in _EMBEDDING:
        found = getattr(sys.modules.get(name), embedding, None)
        if found is not None:
            found.model_rebuild(force=True)


def _imported(name: str) -> ModuleType:
    try:
        return import_module(name)
    except (ImportError, AssertionError) as error:
        raise ElisionError(f"sweagent: it cannot be imported ({error}); {_INSTALL}") from error


def _chain_of(processors: Iterable[Mapping[str, Any]]) -> Chain:
    """Load a chain from a list; its text is no file of the user's, so that problems have a path and no source."""
    return loads(yaml.safe_dump({"history_processors": list(processors)}, sort_keys=False), source="")


def _told(problem: Problem) -> str:
    path = problem.path.replace("history_processors", "processors", 1)
    return str(problem) if problem.source else f"{path}: {problem.message}"


def _located(chain: str) -> str:
    """SWE-agent writes paths into its replay config as seen from its own folder."""
    root = os.environ.get("SWE_AGENT_CONFIG_ROOT") or getattr(sys.modules.get("sweagent"), "REPO_ROOT", None)
    seen_from_there = Path(root, chain) if root else None
    if seen_from_there is None or Path(chain).exists() or not seen_from_there.is_file():
        return chain
    return str(seen_from_there)


def _padded(known: list[Any], length: int) -> list[Any]:
    return [*known[:length], *[None] * (length - len(known))]


def _detached(item: Any) -> Any:
    """Copy an item as deep as SWE-agent's processors edit in place."""
    if not isinstance(item, Mapping):
        return item
    content = item.get("content")
    if not isinstance(content, list):
        return dict(item)
    return {**item, "content": [dict(part) if isinstance(part, Mapping) else part for part in content]}
