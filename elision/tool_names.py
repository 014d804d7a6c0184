"""Lists of tools in options: names, and globs of names."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import Annotated, TypeAlias

from pydantic import AfterValidator

from elision.message import ToolCall

MAX_CHARS = 200
"""Most characters of a glob."""

LONGEST_NAME = 1_000
"""Longest name of a tool that globs are tried on; a longer one is no tool's."""

_MAGIC = frozenset("*?[")
_BRACES = re.compile(r"\{[^{}]*,[^{}]*\}")


def _checked(name: str) -> str:
    if len(name) > MAX_CHARS and _MAGIC & set(name):
        raise ValueError(f"a glob has {len(name):,} characters; give one of at most {MAX_CHARS}")
    if _BRACES.search(name):
        raise ValueError(f"{name!r:.80} has alternatives in braces; write each as an item of its own")
    if len(name) > 1 and name.startswith("!"):
        raise ValueError(f"{name!r:.80} begins with '!'; name what is meant, or write it into exclude_tools")
    return name


ToolNames: TypeAlias = frozenset[Annotated[str, AfterValidator(_checked)]]
"""Tools by name or by glob: ``*`` is any text, ``?`` one character, ``[ab]`` one of these."""


def names_tool(names: frozenset[str], tool: str) -> bool:
    """Whether a list of tools has a tool, by its name or by a glob.

    What a ``*`` stands for is never looked for a second time, so the time is bounded by the two lengths multiplied.
    """
    if tool in names:
        return True
    return len(tool) <= LONGEST_NAME and any(fnmatchcase(tool, glob) for glob in _globs(names))


def written_out(names: frozenset[str], known: Callable[[], Iterable[str]]) -> frozenset[str]:
    """Return a list of tools without globs: in their place the ``known`` tools that they match, where there are any."""
    globs = frozenset(_globs(names))
    return (names - globs) | {tool for tool in known() if names_tool(globs, tool)} if globs else names


def may_touch(call: ToolCall | None, include: frozenset[str] | None, exclude: frozenset[str]) -> bool:
    """Whether the results of a call may be touched, as ``include_tools`` and ``exclude_tools`` have it."""
    tool = call.name if call else ""
    return not names_tool(exclude, tool) and (include is None or names_tool(include, tool))


def require_a_tool(include: frozenset[str] | None, exclude: frozenset[str]) -> None:
    """Raise ``ValueError`` where ``include_tools`` and ``exclude_tools`` leave no tool."""
    if include is not None and all(_covered(name, exclude) for name in include):
        raise ValueError("include_tools and exclude_tools leave no tool; name one that is not excluded")


def _covered(name: str, by: Iterable[str]) -> bool:
    """Whether a name, or all that a glob matches, is certainly matched."""
    return any(name == glob or (not {"?", "["} & set(glob) and fnmatchcase(name, glob)) for glob in by)


@lru_cache(maxsize=512)
def _globs(names: frozenset[str]) -> tuple[str, ...]:
    return tuple(sorted(name for name in names if _MAGIC & set(name)))
