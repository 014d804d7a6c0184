"""``call``: run a function of your own, old-style ``history -> history`` callables included."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable, Iterable
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import Any, ClassVar, Literal

from pydantic import field_validator

from elision import Edit, Operation, Processor, Role, Stage, View


class Call(Processor):
    """Run a function: ``plan(view) -> edits``, or an old-style ``history -> history`` callable.

    Cost: the function is called for each request with the whole history, an old-style one with a deep copy of it.

    ```yaml
    history_processors:
      - type: call
        target: "mypackage.processors:shorten_logs"
    ```

    A function whose first parameter is called ``view`` gets a :class:`~elision.View` and gives edits.  Any other gets
    the host's messages as they stand in the chain and returns the messages to send: what it changed becomes
    replacements, a step that is gone as a whole becomes a drop, new messages become insertions.  Shape: whatever the
    function returns, held to the guard.  Never touches the caller's messages.  Raises ``TypeError`` where the function
    returns something else than messages; a target that cannot be imported does not load.  Source: the shape that
    SWE-agent's history processors have, ``history -> history``.

    A chain with ``call`` runs code of that name: load only chains that you trust.
    """

    stage: ClassVar[Stage] = "request"
    operation: ClassVar[Operation] = "truncate"
    touches: ClassVar[frozenset[Role]] = frozenset({"system", "user", "assistant"})
    cost: ClassVar[str] = "runs on the whole history for each request"

    type: Literal["call"] = "call"
    target: str
    """Where the function is: ``package.module:name``."""

    @field_validator("target")
    @classmethod
    def _well_formed(cls, target: str) -> str:
        module, _, name = target.partition(":")
        if not all(part.isidentifier() for part in [*module.split("."), *name.split(".")]):
            raise ValueError(f"{target!r} is not of the form package.module:name")
        return target

    def prepare(self) -> None:
        """Import the function."""
        _ = self.function

    @cached_property
    def function(self) -> Callable[[Any], Any]:
        """The function itself."""
        module, _, name = self.target.partition(":")
        try:
            found: Any = import_module(module)
            for attribute in name.split("."):
                found = getattr(found, attribute)
        except (ImportError, AttributeError) as error:
            raise ValueError(f"{self.target!r} cannot be imported ({error}); {_advice(module, error)}") from None
        if not callable(found):
            raise ValueError(f"{self.target!r} is a {type(found).__name__}, not a function")  # noqa: TRY004 (an option)
        return found  # type: ignore[no-any-return]

    def plan(self, view: View) -> Iterable[Edit]:
        """Propose what the function says."""
        if self._wants_view():
            return self.function(view)  # type: ignore[no-any-return]
        given = copy.deepcopy(view.host_messages())
        returned = self.function(list(given))
        if not isinstance(returned, list):
            raise TypeError(f"{self.target} returned a {type(returned).__name__}, not a list of messages")
        return view.edits_from(given, returned)

    def _wants_view(self) -> bool:
        try:
            parameters = list(inspect.signature(self.function).parameters)
        except (TypeError, ValueError):
            return False
        return parameters[:1] == ["view"]


def _advice(module: str, error: Exception) -> str:
    top = module.partition(".")[0]
    if isinstance(error, ModuleNotFoundError) and error.name == top and _is_here(top):
        return "it is in the working directory, which is not searched: install it, or set PYTHONPATH=."
    return "install it or correct the name"


def _is_here(module: str) -> bool:
    return Path(module).is_dir() or Path(f"{module}.py").is_file()
