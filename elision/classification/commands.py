"""Patterns over simple commands: ``git commit*``, ``sed ** -i*``, ``git branch $``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from elision.classification.patterns import Glob, glob
from elision.shell import SimpleCommand
from elision.shell_words import Word

ANY = "**"
"""Any number of words, also none."""

END = "$"
"""No further word."""


@dataclass(frozen=True, slots=True)
class CommandPattern:
    """A glob for each of the first words of a command; ``**`` and ``$`` as above."""

    source: str
    words: tuple[Glob, ...]

    def matches(self, argv: Sequence[Word]) -> bool:
        """Whether the command begins like this; a word with an expansion may be anything that begins like it."""
        return _matches(self.words, argv, 0, 0)

    def covers(self, other: CommandPattern) -> bool:
        """Whether it certainly matches all that ``other`` matches."""
        if self.source == other.source:
            return True
        special = {ANY, END} & {word.source for word in (*self.words, *other.words)}
        if special or len(self.words) > len(other.words):
            return False
        return all(mine.covers(theirs) for mine, theirs in zip(self.words, other.words, strict=False))


def command_pattern(source: str) -> CommandPattern:
    """Read a pattern; its words are separated by blanks."""
    return CommandPattern(source, tuple(glob(word) for word in source.split()))


def _matches(words: Sequence[Glob], argv: Sequence[Word], at: int, place: int) -> bool:
    while at < len(words):
        source = words[at].source
        if source == ANY:
            return any(_matches(words, argv, at + 1, later) for later in range(place, len(argv) + 1))
        if source == END:
            return place == len(argv)
        if place == len(argv) or not _fits(words[at], argv[place]):
            return False
        at, place = at + 1, place + 1
    return True


def _fits(pattern: Glob, word: Word) -> bool:
    return pattern.matches(word.text) if word.literal else pattern.may_match(word.prefix, word.suffix)


class CommandIndex:
    """Patterns by the program that they begin with."""

    def __init__(self, patterns: Iterable[CommandPattern]) -> None:
        self.patterns = tuple(patterns)

    def matches(self, command: SimpleCommand) -> bool:
        """Whether a command matches one of the patterns; one whose program is not known matches none."""
        argv = command.argv
        if not argv or not argv[0].literal:
            return False
        return any(each.matches(argv) for each in (*self._by_program.get(argv[0].text, ()), *self._others))

    @cached_property
    def _by_program(self) -> Mapping[str, list[CommandPattern]]:
        found: dict[str, list[CommandPattern]] = {}
        for pattern in self.patterns:
            for program in pattern.words[0].literals - {ANY}:
                found.setdefault(program, []).append(pattern)
        return found

    @cached_property
    def _others(self) -> list[CommandPattern]:
        return [each for each in self.patterns if not each.words[0].plain]
