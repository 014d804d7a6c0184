"""How many cache breakpoints a request may have, and where the provider takes any."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from elision.cache.cuts import Cut
from elision.history import History
from elision.moment import Moment, Request
from elision.overlay import Overlay

if TYPE_CHECKING:
    from elision.profiles import Cache, Profile
from elision.wire import Wire

LOOKBACK_BLOCKS = 20
"""Blocks of content over which Anthropic looks back from a breakpoint; they hold where the profile has none."""

MAX_CACHE_BREAKPOINTS = 4
"""Anthropic's limit, over tools, system and messages (platform.claude.com, prompt caching, 2026-11); it holds where
the profile has none."""


class Breakpoints(NamedTuple):
    """Where breakpoints pay; positions in the history, ``None`` where there is no such place.

    ``room`` is how many the messages may have: 0 where the provider takes none.  The head ends before ``head_stop``,
    the request before ended before ``newest_step_start``, and the provider looks back over ``lookback_blocks``.  The
    rest says where edits have cut the prefix: see :class:`elision.cache.cuts.Cut`.
    """

    room: int
    lookback_blocks: int
    head_stop: int
    newest_step_start: int
    broken_at: int | None
    survives_to: int | None
    changed_to: int | None


def breakpoints_for(history: History, moment: Moment, request: Request, cut: Cut) -> Breakpoints:
    """Return what is to be known for the breakpoints of a request."""
    from elision.profiles.resolving import profile_for

    first = next((step.start for step in history.steps if not step.demo), moment.stop)
    newest = history.steps[moment.newest_step].start if moment.newest_step >= 0 else moment.stop
    profile = profile_for(request.model)
    room = max(0, _room(profile.cache, request)) if _takes(profile, history.wire, request) else 0
    lookback = profile.cache.lookback_blocks or LOOKBACK_BLOCKS
    return Breakpoints(room, lookback, min(first, moment.stop), newest, *cut)


def excess_breakpoints(history: History, overlay: Overlay, request: Request) -> list[tuple[int, bool]]:
    """Return the messages whose cache breakpoints are over the limit, oldest first, and whether they are ours.

    The newest are kept: they are what the next request reads from.
    """
    counts = {position: history.messages[position].marks for position in history.marked}
    counts |= {position: int(on) for position, on in overlay.marks.items()}
    if not counts:
        return []
    excess, room = [], breakpoint_room(request)
    for position in sorted(counts, reverse=True):
        room -= counts[position]
        if counts[position] and room < 0:
            excess.append((position, overlay.marks.get(position, False)))
    return excess[::-1]


def breakpoint_room(request: Request) -> int:
    """Return how many cache breakpoints the messages of a request may have, next to those beside them."""
    from elision.profiles.resolving import profile_for

    return _room(profile_for(request.model).cache, request)


def _room(cache: Cache, request: Request) -> int:
    taken = sum(1 for _ in breakpoints_beside(request)) + (automatic_breakpoint(request) is not None)
    return (cache.breakpoints or MAX_CACHE_BREAKPOINTS) - taken


def takes_breakpoints(wire: Wire, request: Request) -> bool:
    """Whether the provider caches up to breakpoints that are set in messages.

    Of a model that no profile knows it is taken to be so where none is named, and on Anthropic's own wire.
    """
    from elision.profiles.resolving import profile_for

    return _takes(profile_for(request.model), wire, request)


def _takes(profile: Profile, wire: Wire, request: Request) -> bool:
    if profile.cache.marks == "explicit":
        return wire.cache_breakpoints
    guessed = request.model is None or wire.results_in_one_message
    return wire.cache_breakpoints and guessed and profile.name == "default"


def why_no_breakpoints(model: str | None) -> str:
    """Say why breakpoints in messages do nothing for a model; nothing where they do something, or nobody knows."""
    from elision.profiles.resolving import profile_for

    profile = profile_for(model)
    if model is None or profile.cache.marks == "explicit":
        return ""
    if profile.cache.marks == "both":
        return "the provider sets one itself; others have a key that is not written here"
    return f"the cache of {profile.name} takes none ({profile.cache.marks})"


def has_short_breakpoint(request: Request) -> bool:
    """Whether a breakpoint beside the messages lives five minutes: none behind it may live longer (Anthropic)."""
    return any(mark.get("ttl", "5m") == "5m" for mark in breakpoints_beside(request))


def automatic_breakpoint(request: Request) -> Mapping[str, Any] | None:
    """Return the breakpoint that the provider sets by itself on the last block, where the request asks for it."""
    found = request.given.get("cache_control")
    return found if isinstance(found, dict | Mapping) else None


def breakpoints_beside(request: Request) -> Iterator[Mapping[str, Any]]:
    """Yield the breakpoints of system prompt and tool definitions; a tool may have a parameter of that name."""
    for beside in (request.tools, request.system):
        if not isinstance(beside, list | tuple):
            continue
        for item in beside:
            inner = item.get("function") if isinstance(item, Mapping) else None
            for owner in (item, inner):
                if isinstance(owner, Mapping) and "cache_control" in owner:
                    mark = owner["cache_control"]
                    yield mark if isinstance(mark, Mapping) else {}
                    break
