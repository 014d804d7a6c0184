"""What is checked of plugins: what their hooks give, and functions that look like hooks and are none."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from types import FunctionType, ModuleType
from typing import TYPE_CHECKING, Any

from elision.errors import nearest
from elision.hookspecs import PROJECT

if TYPE_CHECKING:
    import pluggy

_CLOSED = re.compile(r"\[[!^]?\]?[^\]]*\]|\{[^{}]*\}")
"""What of a glob is in brackets."""


def unmarked(manager: pluggy.PluginManager) -> Iterator[str]:
    """Say which functions of plugins have the name of a hook, and no mark, so that nobody calls them."""
    hooks = [name for name, caller in vars(manager.hook).items() if caller.has_spec()]
    for plugin, module in manager.list_name_plugin():
        for name in unmarked_in(module):
            meant = "" if name in hooks else f" ({nearest(name, hooks, what='hooks')})"
            yield (
                f"plugin {plugin!r}: {name}{meant} has no mark, so it is never called; put @hookimpl above it (from "
                f"elision import hookimpl), or, where it is no hook, give it a name that does not begin with {PROJECT}_"
            )


def unmarked_in(module: Any) -> list[str]:
    """Return the functions of a module that have the name of a hook, and no mark."""
    own = vars(module) if isinstance(module, ModuleType) else {}
    return [
        name
        for name, value in sorted(own.items())
        if name.startswith(f"{PROJECT}_")
        and isinstance(value, FunctionType)
        and value.__module__ == module.__name__
        and not hasattr(value, f"{PROJECT}_impl")
    ]


def listed(answer: Any) -> Iterable[Any]:
    """Return what a hook gives that has to give a list."""
    if isinstance(answer, str | bytes | Mapping | type) or not isinstance(answer, Iterable):
        raise TypeError(f"gives {_kind(answer)}, and has to give a list")
    return answer


def texts(answer: Any) -> Iterable[tuple[str, str]]:
    """Return what a hook gives that has to give texts by name."""
    return _mapped(answer, lambda value: isinstance(value, str), "text")


def functions(answer: Any) -> Iterable[tuple[str, Callable[..., Any]]]:
    """Return what a hook gives that has to give functions by name."""
    return _mapped(answer, callable, "a function")


def _mapped(answer: Any, fits: Callable[[Any], bool], what: str) -> Iterable[tuple[str, Any]]:
    if not isinstance(answer, Mapping):
        raise TypeError(f"gives {_kind(answer)}, and has to give a mapping of a name to {what}")
    for name, value in answer.items():
        if not isinstance(name, str) or not fits(value):
            raise TypeError(f"gives {name!r:.80}: {value!r:.80}, and has to give a mapping of a name to {what}")
    return answer.items()


def _kind(value: Any) -> str:
    return f"the class {value.__name__}" if isinstance(value, type) else f"a {type(value).__name__}"


def key(item: tuple[str, Any]) -> str:
    """Return the name of what a mapping has."""
    return item[0]


def glob(item: tuple[str, Any]) -> str:
    """Return the glob of what a mapping has, in small letters."""
    left = _CLOSED.sub("", item[0])
    if not item[0] or "[" in left or "{" in left:
        raise ValueError(f"{item[0]!r:.80}, which is no glob: it is empty, or has a bracket that is not closed")
    return item[0].lower()
