"""Tool definitions in a stable order: they lead the prefix, so another order rewrites all of it."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

from elision.cache.path import key_of


class StableTools:
    """The order in which the definitions of one session were first seen; new ones stand at the end."""

    def __init__(self) -> None:
        self._order: dict[Hashable, int] = {}
        self._given: Any = None
        self._stable: Any = None

    def __call__(self, tools: Any) -> Any:
        """Return the host's own definitions in that order, and anything else as it is."""
        if not isinstance(tools, list | tuple):
            return tools
        if tools is not self._given or len(tools) != len(self._stable):
            self._given, self._stable = tools, self._ordered(tools)
        return self._stable

    def _ordered(self, tools: list[Any] | tuple[Any, ...]) -> Any:
        names = [_name(tool) for tool in tools]
        for name in names:
            self._order.setdefault(name, len(self._order))
        places = sorted(range(len(tools)), key=lambda place: self._order[names[place]])
        return tools if places == list(range(len(tools))) else [tools[place] for place in places]


def in_another_order(before: Any, now: Any) -> bool:
    """Whether these are the same definitions in another order."""
    lists = isinstance(before, list | tuple) and isinstance(now, list | tuple)
    return lists and before != now and sorted(map(key_of, before)) == sorted(map(key_of, now))


def _name(tool: Any) -> Hashable:
    from elision.placeholders import offered_tools

    names = offered_tools([tool])
    return names or key_of(tool)
