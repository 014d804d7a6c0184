"""The directory that a shell is in, as far as its commands say: the same command asks something else elsewhere."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from posixpath import isabs, join, normpath

from elision.classification.rules import arguments_of
from elision.classification.shell_parts import CARRIERS
from elision.message import ToolCall

_MOVES = re.compile(r"(?:^|[;&|\n{]|\b(?:then|do|else)\b)[ \t]*(cd|chdir|pushd|popd)(?![\w.-])[ \t]*([^;&|\n<>]*)")
_PLAIN = re.compile(r"[\w.,:@%+/~-]+")
_LONGEST = 100_000


@dataclass(slots=True)
class Directories:
    """One directory a tool, since a tool is a shell; nothing where it has not moved.

    A command that is a list of words runs in no shell that lasts.
    """

    _at: dict[str, str] = field(default_factory=dict)
    _moves: int = 0

    def enter(self, call: ToolCall) -> str:
        """Return where a call begins, and go where it leads."""
        given = arguments_of(call)
        if CARRIERS.isdisjoint(given):
            return ""
        command = next(text for name, text in given.items() if name in CARRIERS)
        if not isinstance(command, str):
            return ""
        begins = self._at.get(call.name, "")
        moves = [(found.start(), found[1], found[2].strip()) for found in _MOVES.finditer(command[:_LONGEST])]
        for _, verb, target in moves:
            self._at[call.name] = self._after(self._at.get(call.name, ""), verb, target)
        starts_elsewhere = bool(moves) and moves[0][0] == 0 and isabs(moves[0][2])
        return "" if starts_elsewhere else begins

    def _after(self, place: str, verb: str, target: str) -> str:
        """Return where a move leads; a place of its own where that cannot be told."""
        if verb in {"cd", "chdir"} and _PLAIN.fullmatch(target) and target != "-":
            return normpath(target if isabs(target) or target.startswith("~") else join(place, target))
        self._moves += 1
        return f"?{self._moves}"
