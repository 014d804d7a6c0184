"""Which tools a request offers, in whatever shape it lists them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sized
from typing import Any, TypeGuard

_LISTS = ("tools", "functionDeclarations", "function_declarations", "allowed_tools")
_WRAPPERS = ("function", "toolSpec", "tool_spec", "custom")
_DEPTH = 4


def offered_tools(tools: Any) -> frozenset[str] | None:
    """Return the names of the tools in a request's tool definitions; ``None`` where not all can be known.

    That is so where nothing is given, where nothing can be read, and where a server shows its tools only to the
    provider.
    """
    if tools is None or _has_unlisted(tools):
        return None
    if isinstance(tools, Sized) and len(tools) == 0:
        return frozenset()
    if isinstance(tools, Mapping) and not _is_definition(tools):
        return frozenset(name for name in tools if _named(name)) or None
    return frozenset(_names(tools, _DEPTH)) or None


def _has_unlisted(tools: Any) -> bool:
    """Whether a remote MCP server is among the tools that does not say which tools it has."""
    return isinstance(tools, list | tuple) and any(
        _read(tool, "type") == "mcp" and not _read(tool, "allowed_tools") for tool in tools
    )


def recall_tool_in(names: frozenset[str] | None) -> str:
    """Return the offered tool that brings originals back: ``recall``, or ``elision`` and ``recall`` in one name."""
    fitting = sorted(name for name in names or () if "elision" in name and name.endswith("recall"))
    return "recall" if names and "recall" in names else next(iter(fitting), "")


def _names(tools: Any, depth: int) -> Iterator[str]:
    """Yield the names in a list of definitions, or of one."""
    if isinstance(tools, str):
        yield from [tools] if tools else []
    elif isinstance(tools, Iterable) and not isinstance(tools, type | Mapping) and depth > 0:
        for tool in tools:
            yield from _names(tool, depth - 1)
    elif tools is not None:
        yield from _defined(tools, depth)


def _is_definition(given: Mapping[Any, Any]) -> bool:
    """Whether this is one definition, not a mapping of names to definitions."""
    if isinstance(given.get("name"), str) or isinstance(given.get("type"), str):
        return True
    lists = any(isinstance(given.get(key), list | tuple) for key in _LISTS)
    return (
        lists or any(_named(_read(given.get(key), "name")) for key in _WRAPPERS) or not all(map(_tool, given.values()))
    )


def _tool(spec: Any) -> bool:
    """Whether a value can be what a name stands for in a mapping of tools."""
    return callable(spec) or (isinstance(spec, Mapping) and bool(spec)) or hasattr(spec, "__dict__")


def _defined(tool: Any, depth: int) -> Iterator[str]:
    """Yield the name of one definition, and those in the lists that it holds."""
    holders = (tool, *(_read(tool, key) for key in _WRAPPERS))
    name = next((found for holder in holders if _named(found := _read(holder, "name"))), None)
    if name is None and callable(tool):
        name = _read(tool, "__name__")
    if _named(name):
        yield name
    for key in _LISTS:
        inner = _read(tool, key)
        if isinstance(inner, list | tuple):
            yield from _names(inner, depth - 1)


def _named(name: Any) -> TypeGuard[str]:
    return isinstance(name, str) and bool(name)


def _read(holder: Any, key: str) -> Any:
    if holder is None or isinstance(holder, str):
        return None
    try:
        return holder.get(key) if isinstance(holder, Mapping) else getattr(holder, key, None)
    except Exception:  # noqa: BLE001 (a property of a host's object may raise anything)
        return None
