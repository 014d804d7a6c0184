"""The shell commands of one call, part by part: each part that no rule knows is unknown."""

from __future__ import annotations

import re
import shlex
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

from elision.classification.classes import UNKNOWN
from elision.classification.rules import Reason, Rule, ShellCondition, arguments_of
from elision.message import ToolCall
from elision.shell import SimpleCommand, parse
from elision.shell_words import Word
from elision.shell_wrappers import script_of

SHELL = "shell"
"""Where a reason stands that no rule gives: a part of a command is not known."""

COMMAND_LINES = "commands"
"""The argument in which a list is several command lines."""

CARRIERS = frozenset({"command", "cmd", "commands", "command_line", "commandLine", "shell_command"})
"""Arguments that hold a command, whatever the tool is."""

FURTHER = ("args", "argv", "arguments", "parameters")
"""Arguments that hold further words of a command."""

_LONGEST = 60
_OPERATOR = re.compile(r"[;&|<>`\n]|\$\(")

Parts = tuple[SimpleCommand, ...]


class ShellParts:
    """What the rules on shell commands say of one call, as they are tried one after the other."""

    def __init__(self, call: ToolCall) -> None:
        self._call = call
        self._parts: dict[str, Parts | None] = {}
        self._covered: dict[str, set[int]] = {}

    def reasons(self, rule: Rule, condition: ShellCondition) -> Iterator[Reason]:
        """Yield a reason for the first part of each argument that the rule matches."""
        self.look_at(condition.given(self._call))
        for key in condition.given(self._call):
            matched = ""
            for place, part in enumerate(self._parts[key] or ()):
                if condition.commands.matches(part):
                    self._covered[key].add(place)
                if not matched and condition.claims(part, rule.classes):
                    matched = _shown(part)
            if matched and rule.classes:
                yield Reason(rule.classes, rule.where, matched)

    def look_at(self, arguments: Mapping[str, Any]) -> None:
        """Take apart the commands that arguments hold."""
        for key in arguments.keys() - self._parts.keys():
            self._parts[key] = parts_of(self._call, key)
            self._covered[key] = set()

    def carried(self, spoken: Collection[str]) -> Mapping[str, Any]:
        """Return arguments with a command that no rule has looked at; ``spoken`` are those that rules speak of."""
        left = CARRIERS - self._parts.keys() - set(spoken)
        given = arguments_of(self._call)
        return {name: given[name] for name in given if name in left and given[name] and _is_command(given[name])}

    def rest(self) -> Iterator[Reason]:
        """Yield a reason for each part that no rule has matched, and for what cannot be taken apart."""
        for key, parts in self._parts.items():
            if parts is None:
                yield Reason((UNKNOWN,), SHELL, f"{key} cannot be taken apart")
            for place, part in enumerate(parts or ()):
                if place not in self._covered[key]:
                    yield Reason((UNKNOWN,), SHELL, f"no rule for {_shown(part)}")


def parts_of(call: ToolCall, argument: str) -> Parts | None:
    """Return the parts of what an argument holds: a command line, the words of a command, or command lines."""
    given = arguments_of(call)
    value = given[argument]
    further = [given[name] for name in FURTHER if name != argument and given.get(name)]
    if not all(map(_is_command, (value, *further))):
        return None
    if argument == COMMAND_LINES and not isinstance(value, str):
        return _all([_parse(item) for item in value])
    if isinstance(value, str):
        return _parse(" ".join([value, *(each if isinstance(each, str) else shlex.join(each) for each in further)]))
    words = (*value, *(word for each in further for word in ([each] if isinstance(each, str) else each)))
    return _of_words(words)


def _of_words(words: tuple[str, ...]) -> Parts | None:
    """Read the words of one command, and besides, where a host may join them to a command line, that line."""
    found = _parse(words)
    joined = any(map(_OPERATOR.search, words)) and not (found and _runs_script(words))
    return _all([found, _parse(" ".join(words))]) if joined else found


def _runs_script(words: Sequence[str]) -> bool:
    return script_of([Word(word) for word in words]) is not None


def _all(found: Sequence[Parts | None]) -> Parts | None:
    return tuple(part for parts in found if parts for part in parts) if all(found) else None


def _is_command(value: Any) -> bool:
    listed = isinstance(value, list | tuple) and all(isinstance(item, str) for item in value)
    return isinstance(value, str) or listed


@lru_cache(maxsize=1024)
def _parse(command: str | Sequence[str]) -> Parts | None:
    return parse(command)


def _shown(part: SimpleCommand) -> str:
    text = str(part) or " ".join(each.operator for each in part.redirects)
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
