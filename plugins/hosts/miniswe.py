"""mini-swe-agent as a host: a model class that sends the view and leaves the stored trajectory whole.

In mini-swe-agent's YAML, with a chain's path or shipped name, or with the processors themselves::

    model:
      model_class: elision.plugins.hosts.miniswe.ElisionModel
      model_name: anthropic/claude-sonnet-4-5
      chain: chain.yaml

``ElisionMixin`` does the same for another of mini-swe-agent's model classes::

    class Textbased(ElisionMixin, LitellmTextbasedModel):
        pass

Importing this module imports mini-swe-agent, which prints a greeting unless ``MSWEA_SILENT_STARTUP`` is set.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import yaml

from elision import Chain, ConfigError, ElisionError, InputError, Problem, load, loads

try:
    from minisweagent.models.litellm_model import LitellmModel
    from minisweagent.utils.serialize import recursive_merge
except ImportError as error:
    raise ElisionError(
        f"miniswe: mini-swe-agent cannot be imported ({error}); install it with: pip install 'elision[miniswe]'"
    ) from error

_OPTIONS = ("chain", "history_processors")


class ElisionMixin:
    """Runs a chain on the messages that a model class of mini-swe-agent is about to send.

    ``chain`` is a chain's path or shipped name (from Python also a :class:`~elision.Chain`), ``history_processors`` the
    list itself.  One session a model: a new task begins a new run.  Messages of the Responses API are refused, and
    options that nobody reads are an error, while mini-swe-agent's own classes ignore them.
    """

    def __init__(
        self,
        *,
        chain: Chain | str | Path | None = None,
        history_processors: Sequence[Mapping[str, Any]] | None = None,
        **options: Any,
    ) -> None:
        prepares = getattr(super(), "_prepare_messages_for_api", None)
        if not callable(prepares):
            raise ElisionError(
                f"{type(self).__name__}: its model class has no _prepare_messages_for_api, so no chain would run; "
                "put ElisionMixin before one that has, such as LitellmModel"
            )
        super().__init__(**options)
        self._refuse_unknown(options)
        self.elision_chain = _chosen(chain, history_processors)
        self._refuse_two_owners()
        self._elision_options = _stored(chain, history_processors)
        self._session = self.elision_chain.session()
        # What mini-swe-agent does not find here it tries again, for minutes.
        self.abort_exceptions = [*getattr(self, "abort_exceptions", ()), ElisionError]

    def _prepare_messages_for_api(self, messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Send the view: mini-swe-agent's own preparations, its cache mark included, come after."""
        if any("role" not in message for message in messages):
            raise InputError(
                f"messages: {type(self).__name__} has messages without a role (of the Responses API), which are of no "
                "dialect that this host reads; use a model class of chat completions, such as LitellmModel"
            )
        model = self.elision_chain.model or self._config("model_name")
        view = self._session.process(messages, model=model, dialect="miniswe")
        prepared: list[dict[str, Any]] = super()._prepare_messages_for_api(view.messages)  # type: ignore[misc]
        return prepared

    def serialize(self) -> dict[str, Any]:
        """Return what mini-swe-agent stores of the model, with the chain's options."""
        ours = {"info": {"config": {"model": self._elision_options}}}
        stored: dict[str, Any] = recursive_merge(super().serialize(), ours)  # type: ignore[misc]
        return stored

    def _config(self, option: str) -> Any:
        return getattr(getattr(self, "config", None), option, None)

    def _refuse_unknown(self, options: Iterable[str]) -> None:
        known = [*_OPTIONS, *getattr(type(getattr(self, "config", None)), "model_fields", options)]
        problems = [
            _problem(f"model.{name}", f"there is no option {name!r}; {_meant(name, known)}; correct or remove it")
            for name in options
            if name not in known and name != "config_class"
        ]
        if problems:
            raise ConfigError(problems)

    def _refuse_two_owners(self) -> None:
        marks = any(processor.type_name == "cache_control" for processor in self.elision_chain.processors)
        if marks and self._config("set_cache_control") is not None:
            told = (
                "mini-swe-agent would take away the breakpoints of the chain's cache_control (it sets this option by "
                "itself for Claude models); one owner is allowed; write set_cache_control: null, or take cache_control "
                "out of the chain"
            )
            raise ConfigError([_problem("model.set_cache_control", told)])


class ElisionModel(ElisionMixin, LitellmModel):  # type: ignore[misc]
    """mini-swe-agent's ``LitellmModel`` with a chain."""


def _chosen(chain: Chain | str | Path | None, history_processors: Sequence[Mapping[str, Any]] | None) -> Chain:
    if (chain is None) == (history_processors is None):
        told = "give either chain (a path or a shipped name) or history_processors (a list)"
        raise ConfigError([_problem("model", told)])
    if isinstance(chain, Chain):
        return chain
    if isinstance(chain, str | Path):
        return load(chain)
    if chain is not None:
        told = f"a {type(chain).__name__}; it is a path or a shipped name; give a list as history_processors"
        raise ConfigError([_problem("model.chain", told)])
    try:
        return loads(yaml.safe_dump({"history_processors": history_processors}, sort_keys=False))
    except ConfigError as error:
        raise ConfigError([_problem(f"model.{found.path}", found.message) for found in error.problems]) from None


def _stored(chain: Chain | str | Path | None, history_processors: Sequence[Mapping[str, Any]] | None) -> dict[str, Any]:
    if isinstance(chain, Chain):
        return {"history_processors": [processor.model_dump(mode="json") for processor in chain.processors]}
    return {"history_processors": history_processors} if chain is None else {"chain": str(chain)}


def _problem(path: str, message: str) -> Problem:
    return Problem("mini-swe-agent", 0, 0, path, message)


def _meant(name: str, known: Sequence[str]) -> str:
    close = get_close_matches(name, known, n=1)
    return f"did you mean {close[0]!r}?" if close else f"options: {', '.join(sorted(known))}"
