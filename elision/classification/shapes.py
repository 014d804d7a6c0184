"""Shapes: what can be said of all calls of one tool with arguments of the same names, before their values are read."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Self

from elision.classification.keys import HOLDERS, frozen
from elision.classification.patterns import OutOfTimeError
from elision.classification.rules import Rule, entries
from elision.classification.shell_parts import CARRIERS, FURTHER


@dataclass(frozen=True, slots=True, eq=False)
class Shape:
    """The rules of a table that can match such calls, in order; ``subjects`` say what a call is about, the last first.

    ``looked_at`` are the names of the arguments whose values decide; ``runs`` says that one may hold a command.
    """

    rules: tuple[Rule, ...]
    unannotated: tuple[Rule, ...]
    """Those that ask for no annotations."""
    subjects: tuple[Rule, ...]
    looked_at: frozenset[str]
    runs: bool

    @classmethod
    def of(cls, rules: Iterable[Rule], tool: str, names: Collection[str]) -> Self:
        """Return what a table has for calls of a tool whose arguments have these names."""
        found = tuple(rule for rule in rules if _concerns(rule, tool, names))
        return cls(
            rules=found,
            unannotated=tuple(rule for rule in found if not rule.annotations),
            subjects=tuple(rule for rule in reversed(found) if rule.resource and rule.shell is None),
            looked_at=frozenset(name for name in names if _is_looked_at(name, found)),
            runs=any(rule.shell is not None for rule in found) or not CARRIERS.isdisjoint(names),
        )

    def values(self, arguments: Mapping[str, Any]) -> tuple[Hashable, ...]:
        """Return what in the arguments decides; what holds others does, too."""
        found: list[Hashable] = []
        for name, value in arguments.items():
            if type(value) is str:
                if name in self.looked_at:
                    found.append(value)
            elif name in self.looked_at or isinstance(value, HOLDERS):
                found.append(frozen(value))
        return tuple(found)


def names_in(arguments: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the names of arguments, those within others too."""
    for name, value in arguments.items():
        if type(name) is not str or (type(value) is not str and isinstance(value, HOLDERS)):
            return tuple(dict.fromkeys([inner for inner, _ in entries(arguments)]))
    return tuple(arguments)


def _concerns(rule: Rule, tool: str, names: Collection[str]) -> bool:
    """Whether a rule can match such calls; where that takes too long it is asked call by call."""
    try:
        return rule.concerns(tool, names)
    except OutOfTimeError:
        return True


def _is_looked_at(name: str, rules: Iterable[Rule]) -> bool:
    if name in CARRIERS or name in FURTHER:
        return True
    try:
        return any(
            any(key.matches(name) for key, _ in rule.arguments)
            or (rule.shell is not None and name in rule.shell.arguments)
            for rule in rules
        )
    except OutOfTimeError:
        return True
