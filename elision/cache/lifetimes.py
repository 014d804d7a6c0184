"""How long cache breakpoints live: none behind a shorter one may live longer (Anthropic)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from elision.breakpoints import automatic_breakpoint, has_short_breakpoint
from elision.edits import Ttl
from elision.history import History
from elision.moment import Request
from elision.overlay import Overlay


def lifetimes(history: History, overlay: Overlay, request: Request) -> dict[int, Ttl]:
    """Return what breakpoints of ours have to live, by message, where they do not say it: in an order that is taken.

    One before another that lives an hour lives an hour, too, which costs nothing: what that one ends is written for an
    hour in any case.  Behind one of five minutes beside the messages all live five minutes.
    """
    ours = {position for position, on in overlay.marks.items() if on}
    if not ours:
        return {}
    standing = ours | {position for position in history.marked if overlay.marks.get(position, True)}
    hours = {at for at in standing if (overlay.ttls.get(at) or _lifetime(history.messages[at].raw)) == "1h"}
    automatic = automatic_breakpoint(request)
    if not hours and automatic is None:
        return {}
    if has_short_breakpoint(request):
        return dict.fromkeys(ours & hours, "5m")
    end = len(history) - 1
    if automatic is None:
        last = max(hours, default=-1)
    elif automatic.get("ttl") == "1h":
        last = end
    else:
        # Two that end the same block have to agree.
        hours.discard(end)
        last = max(hours, default=-1)
    found: dict[int, Ttl] = {at: "1h" for at in ours - hours if at <= last}
    return found | ({end: "5m"} if automatic is not None and end in ours and last < end else {})


def _lifetime(raw: Any) -> Ttl:
    """Return the longest time that a breakpoint of the host's in a message lives."""
    mark, content = _read(raw, "cache_control"), _read(raw, "content")
    if isinstance(mark, Mapping) and mark.get("ttl") == "1h":
        return "1h"
    pieces = content if isinstance(content, list) else ()
    return "1h" if any(_lifetime(piece) == "1h" for piece in pieces if not isinstance(piece, str)) else "5m"


def _read(holder: Any, key: str) -> Any:
    return holder.get(key) if isinstance(holder, Mapping) else getattr(holder, key, None)
