"""How many cache breakpoints a request may have."""

from __future__ import annotations

from collections.abc import Mapping

from elision.history import History
from elision.moment import Request
from elision.overlay import Overlay

MAX_CACHE_BREAKPOINTS = 4
"""Anthropic's limit, counted over tools, system and messages (platform.claude.com, prompt caching, 2026-11)."""


def excess_breakpoints(history: History, overlay: Overlay, request: Request) -> list[tuple[int, bool]]:
    """Return the messages whose cache breakpoints are over the limit, oldest first, and whether they are ours.

    The newest are kept: they are what the next request reads from.
    """
    counts = {position: history.messages[position].marks for position in history.marked}
    counts |= {position: int(on) for position, on in overlay.marks.items()}
    fixed = _marks_in(request.system) + _marks_in(request.tools)
    excess, room = [], MAX_CACHE_BREAKPOINTS - fixed
    for position in sorted(counts, reverse=True):
        room -= counts[position]
        if counts[position] and room < 0:
            excess.append((position, overlay.marks.get(position, False)))
    return excess[::-1]


def _marks_in(value: object) -> int:
    """Count the marks of a system prompt or of tool definitions; a tool may have a parameter of that name."""
    found = 0
    for item in value if isinstance(value, list | tuple) else ():
        inner = item.get("function") if isinstance(item, Mapping) else None
        found += any(isinstance(owner, Mapping) and "cache_control" in owner for owner in (item, inner))
    return found
