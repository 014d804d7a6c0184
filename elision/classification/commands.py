"""Patterns over simple commands: ``git commit*``, ``sed ** -i*``, ``git branch $``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

from elision.classification.patterns import Glob, glob
from elision.shell import SimpleCommand
from elision.shell_words import Word

ANY = "**"
"""Any number of words, also none."""

END = "$"
"""No further word."""

MORE = "..."
"""Any number of words, also none, that are each like the one before."""


@dataclass(frozen=True, slots=True)
class CommandPattern:
    """A glob for each of the first words of a command; ``**``, ``$`` and ``...`` as above."""

    source: str
    words: tuple[Glob, ...]

    def matches(self, argv: Sequence[Word]) -> bool:
        """Whether the command certainly begins like this, whatever its expansions become."""
        return _matches(self.words, argv, 0, 0)

    def may_match(self, argv: Sequence[Word]) -> bool:
        """Whether the command may begin like this; a word with an expansion may be anything that begins like it."""
        return _may_match(self.words, argv)

    def covers(self, other: CommandPattern) -> bool:
        """Whether it certainly matches all that ``other`` matches."""
        if self.source == other.source:
            return True
        special = {ANY, END, MORE} & {word.source for word in (*self.words, *other.words)}
        if special or len(self.words) > len(other.words):
            return False
        return all(mine.covers(theirs) for mine, theirs in zip(self.words, other.words, strict=False))


def command_pattern(source: str) -> CommandPattern:
    """Read a pattern; its words are separated by blanks."""
    return CommandPattern(source, tuple(glob(word) for word in source.split()))


def _matches(words: Sequence[Glob], argv: Sequence[Word], at: int, place: int) -> bool:
    while at < len(words):
        source = words[at].source
        if at + 1 < len(words) and words[at + 1].source == MORE:
            return any(_matches(words, argv, at + 2, later) for later in _like(words[at], argv, place))
        if source == ANY:
            return any(_matches(words, argv, at + 1, later) for later in range(place, len(argv) + 1))
        if source == END:
            return place == len(argv)
        if place == len(argv) or not _fits(words[at], argv[place]):
            return False
        at, place = at + 1, place + 1
    return True


def _like(pattern: Glob, argv: Sequence[Word], place: int) -> Iterator[int]:
    """Yield the place behind each number of words that a pattern fits, none first."""
    yield place
    while place < len(argv) and _fits(pattern, argv[place]):
        place += 1
        yield place


def _fits(pattern: Glob, word: Word) -> bool:
    if word.literal:
        return pattern.matches(word.text)
    return not word.many and pattern.must_match(word.prefix, word.suffix)


_Places: TypeAlias = "set[tuple[int, bool]]"
"""How far a command has been read: the next word, and whether the one before it may go on."""


def _may_match(words: Sequence[Glob], argv: Sequence[Word]) -> bool:
    places = _onwards({(0, False)}, argv)
    for pattern in _loosened(words):
        if pattern.source == END:
            return any(place == len(argv) for place, _ in places)
        if pattern.source == ANY:
            first = min(places)[0]
            reached = {(place, False) for place in range(first, len(argv) + 1)}
            reached |= {(place + 1, True) for place in range(first, len(argv)) if argv[place].many} | places
        else:
            reached = {after for place in places for after in _read(pattern, argv, *place)}
        places = _onwards(reached, argv)
        if not places:
            return False
    return True


def _loosened(words: Sequence[Glob]) -> Iterator[Glob]:
    """Yield the words of a pattern, with any words where some like one another may stand."""
    for place, word in enumerate(words):
        if word.source == MORE:
            yield glob(ANY)
        elif place + 1 == len(words) or words[place + 1].source != MORE:
            yield word


def _read(pattern: Glob, argv: Sequence[Word], place: int, inside: bool) -> Iterator[tuple[int, bool]]:
    """Yield how far a command has been read when a pattern has taken one word more."""
    if inside:
        if pattern.may_match("", argv[place - 1].suffix):
            yield place, False
        if pattern.may_match(""):
            yield place, True
    elif place < len(argv):
        word = argv[place]
        if pattern.matches(word.text) if word.literal else pattern.may_match(word.prefix, word.suffix):
            yield place + 1, False
        if word.many and pattern.may_match(word.prefix):
            yield place + 1, True


def _onwards(places: _Places, argv: Sequence[Word]) -> _Places:
    """Add the places that are reached when words turn out to be none."""
    reached = places | {(place, False) for place, inside in places if inside and not argv[place - 1].suffix}
    open_ = [place for place, inside in reached if not inside]
    while open_:
        place = open_.pop()
        if place < len(argv) and argv[place].may_be_none and (place + 1, False) not in reached:
            reached.add((place + 1, False))
            open_.append(place + 1)
    return reached


class CommandIndex:
    """Patterns by the program that they begin with."""

    def __init__(self, patterns: Iterable[CommandPattern]) -> None:
        self.patterns = tuple(patterns)

    def matches(self, command: SimpleCommand) -> bool:
        """Whether a command certainly matches one of the patterns; one whose program is not known matches none."""
        return any(each.matches(command.argv) for each in self._about(command))

    def may_match(self, command: SimpleCommand) -> bool:
        """Whether a command may match one of the patterns, its expansions being what they will."""
        return any(each.may_match(command.argv) for each in self._about(command))

    def _about(self, command: SimpleCommand) -> tuple[CommandPattern, ...]:
        argv = command.argv
        if not argv or not argv[0].literal:
            return ()
        return (*self._by_program.get(argv[0].text, ()), *self._others)

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
