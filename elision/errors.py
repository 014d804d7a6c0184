"""Errors that a user can act on.

Every message reads ``where: what is wrong; what is allowed or the nearest name; what to do``::

    ElisionError
    ├── ConfigError      a chain file or its options; holds all problems found in one run
    ├── InputError       a history that no dialect can read
    ├── ArchiveError     originals that cannot be stored, read or found
    ├── PluginError      a plugin that cannot be used
    └── ProcessorError   a processor failed and the chain says ``on_error: raise``
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from difflib import get_close_matches


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


class PluginError(ElisionError):
    """A plugin that cannot be used, or two plugins that offer the same name."""


class ProcessorError(ElisionError):
    """A processor raised while the chain says ``on_error: raise``."""


def nearest(name: str, known: Iterable[str], *, what: str = "known") -> str:
    """Say which name was probably meant, or else which names there are.

    Example: ``nearest("last_n_observation", names)`` gives ``did you mean 'last_n_observations'?``.
    """
    names = sorted(known)
    close = get_close_matches(str(name), names, n=1, cutoff=0.6)
    if close:
        return f"did you mean {close[0]!r}?"
    return f"{what}: {', '.join(names)}" if names else f"there is no {what} name yet"
