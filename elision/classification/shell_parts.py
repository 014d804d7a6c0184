"""The shell commands of one call, part by part: each part that no rule knows is unknown."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any

from elision.classification.classes import UNKNOWN
from elision.classification.rules import Reason, Rule, ShellCondition
from elision.history import ToolCall
from elision.shell import SimpleCommand, parse

SHELL = "shell"
"""Where a reason stands that no rule gives: a part of a command is not known."""

COMMAND_LINES = "commands"
"""The argument in which a list is several command lines."""

_LONGEST = 60


class ShellParts:
    """What the rules on shell commands say of one call, as they are tried one after the other."""

    def __init__(self, call: ToolCall) -> None:
        self._call = call
        self._parts: dict[str, tuple[SimpleCommand, ...] | None] = {}
        self._covered: dict[str, set[int]] = {}

    def reasons(self, rule: Rule, condition: ShellCondition) -> Iterator[Reason]:
        """Yield a reason for each part that the rule matches, the same classes once."""
        given = condition.given(self._call)
        if given is None:
            return
        key, value = given
        if key not in self._parts:
            self._parts[key] = parts_of(key, value)
            self._covered[key] = set()
        matched = ""
        for place, part in enumerate(self._parts[key] or ()):
            known = condition.commands.matches(part)
            if known:
                self._covered[key].add(place)
            if known or (condition.writes and part.writes):
                matched = matched or _shown(part)
        if matched and rule.classes:
            yield Reason(rule.classes, rule.where, matched)

    def rest(self) -> Iterator[Reason]:
        """Yield a reason for each part that no rule has matched, and for what cannot be taken apart."""
        for key, parts in self._parts.items():
            if parts is None:
                yield Reason((UNKNOWN,), SHELL, f"{key} cannot be taken apart")
            for place, part in enumerate(parts or ()):
                if place not in self._covered[key]:
                    yield Reason((UNKNOWN,), SHELL, f"no rule for {_shown(part)}")


def parts_of(argument: str, value: Any) -> tuple[SimpleCommand, ...] | None:
    """Return the parts of what an argument holds: a command line, the words of a command, or command lines."""
    if isinstance(value, str):
        return _parse(value)
    if not isinstance(value, list | tuple) or not all(isinstance(item, str) for item in value):
        return None
    if argument != COMMAND_LINES:
        return _parse(tuple(value))
    found = [_parse(item) for item in value]
    return tuple(part for parts in found if parts for part in parts) if all(found) else None


@lru_cache(maxsize=1024)
def _parse(command: str | Sequence[str]) -> tuple[SimpleCommand, ...] | None:
    return parse(command)


def _shown(part: SimpleCommand) -> str:
    text = str(part) or " ".join(each.operator for each in part.redirects)
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
