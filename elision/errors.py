"""Errors that a user can act on.

Every message reads ``where: what is wrong; what is allowed or the nearest name; what to do``::

    ElisionError
    ├── ConfigError      a chain file or its options; holds all problems found in one run
    ├── InputError       a history that no dialect can read
    ├── ArchiveError     originals that cannot be stored, read or found
    ├── PluginError      a plugin that cannot be used
    ├── OverBudgetError  a request that is too long, whatever is taken out of it
    └── ProcessorError   a processor failed and the chain says ``on_error: raise``
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import takewhile


class ElisionError(Exception):
    """Something that the user can mend; the message says how."""


@dataclass(frozen=True, slots=True)
class Problem:
    """One located mistake in a config file."""

    source: str
    line: int
    column: int
    path: str
    message: str
    severity: str = "error"

    def __str__(self) -> str:
        place = f"{self.source}:{self.line}:{self.column}" if self.line else self.source
        prefix = "" if self.severity == "error" else f"{self.severity}: "
        return f"{place}: {self.path}: {prefix}{self.message}" if self.path else f"{place}: {prefix}{self.message}"


class ConfigError(ElisionError):
    """A config that cannot be used; ``problems`` has all of them, in the order of the file."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(str(problem) for problem in self.problems))


class InputError(ElisionError):
    """A history that cannot be read."""


class ArchiveError(ElisionError):
    """An archive that cannot be written or read, or an original that it does not have."""


class ContentError(ArchiveError):
    """Content that no archive can store."""


class PluginError(ElisionError):
    """A plugin that cannot be used, or two plugins that offer the same name."""


class OverBudgetError(ElisionError):
    """A request that is longer than it may be, after all that may be taken out of it."""


class ProcessorError(ElisionError):
    """A processor raised while the chain says ``on_error: raise``."""


MOST_LISTED = 30
"""Most names that one message lists."""


def nearest(name: str, known: Iterable[str], *, what: str = "known") -> str:
    """Say which name was probably meant, or else which names there are; of many, the first ones and their number.

    Example: ``nearest("last_n_observation", names)`` gives ``did you mean 'last_n_observations'?``.
    """
    names = sorted(known)
    close = closest(name, names)
    if close is not None:
        return f"did you mean {close!r}?"
    if not names:
        return f"there is no {what} name yet"
    more = f", … ({MOST_LISTED} of {len(names):,})" if len(names) > MOST_LISTED else ""
    return f"{what}: {', '.join(names[:MOST_LISTED])}{more}"


def closest(name: str, known: Iterable[str]) -> str | None:
    """Return the name that was probably meant, if one is near; case, ``-``, ``_`` and spaces do not count."""
    wanted = _bare(str(name))
    likeness = {candidate: _likeness(wanted, _bare(candidate)) for candidate in sorted(known)}
    best = max(likeness, key=likeness.__getitem__, default=None)
    return best if best is not None and likeness[best][0] > 0 else None


_NEAR = 0.6
"""Least ratio of ``difflib`` at which two names are near."""

_BEGINNING = 4
"""Letters from which on the beginning of a name is near it."""


def _bare(name: str) -> str:
    return name.casefold().translate({ord(mark): None for mark in "-_ "})


def _likeness(wanted: str, name: str) -> tuple[float, int]:
    """Say how near two names are: the same order of letters and the same beginning, then the same letters."""
    matcher = SequenceMatcher(None, name, wanted)
    ratio = matcher.ratio() if matcher.real_quick_ratio() >= _NEAR else 0.0
    if len(wanted) >= _BEGINNING and name.startswith(wanted):
        ratio = max(ratio, _NEAR)
    if ratio < _NEAR:
        return 0.0, 0
    beginning = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(wanted[:4], name, strict=False)))
    return ratio + (1 - ratio) * beginning / 10, (Counter(wanted) & Counter(name)).total()
