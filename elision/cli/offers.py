"""What one plugin offers, in words."""

from __future__ import annotations

from typing import Any

from elision.hookspecs import PROJECT
from elision.plugin_checks import unmarked_in
from elision.registry import plugins

_MOST_NAMED = 5
"""Things of one kind of which a plugin's are named; of more the number is said."""


def offers(name: str, plugin: Any) -> list[str]:
    """Return what a plugin offers through each hook, by name or, of much, by number, and what it forgot to mark."""
    found = plugins()
    told = []
    for hook in sorted(caller.name for caller in found.manager.get_hookcallers(plugin) or ()):
        kind = hook.removeprefix(f"{PROJECT}_")
        named = getattr(found, kind, None)
        if named is None:
            told.append(hook)
            continue
        names = [each if isinstance(each, str) else each.name for each in named()]
        own = [each for each in names if found.owner(hook, each) == name]
        what = kind.replace("_", " ")
        told.append(f"{what}: {' '.join(own)}" if len(own) <= _MOST_NAMED else f"{len(own)} {what}")
    return [*told, *(f"{function} (no @hookimpl: never called)" for function in unmarked_in(plugin))]
