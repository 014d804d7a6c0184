"""Loading profiles: by name, by path, or as a mapping."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from elision.errors import ConfigError, Problem, nearest

if TYPE_CHECKING:
    from elision.profiles.reading import ReadProfile

INLINE = "<profile>"
"""The source of a profile that is no file."""

DEFAULT = "default"
"""The profile that every other one extends in the end."""


def load_profile(source: str | Path | Mapping[str, Any]) -> tuple[ReadProfile, ...]:
    """Load a profile and those that it extends, the most general first: a name, the path of a file, or its content."""
    found = read(source)
    errors = [problem for each in found for problem in each.problems if problem.severity == "error"]
    if errors:
        raise ConfigError(errors)
    return found


def read(source: str | Path | Mapping[str, Any], above: tuple[str, ...] = ()) -> tuple[ReadProfile, ...]:
    """Read a profile, and those that it extends before it; ``above`` are those that extend it."""
    from elision.profiles.reading import ReadProfile

    found = _one(source)
    if found.source in above:
        told = f"a profile cannot extend itself: {' -> '.join([*above, found.source])}; correct 'extends'"
        raise ConfigError([Problem(found.source, 0, 0, "", told)])
    if found.source == DEFAULT:
        return (found,)
    wanted: str | Path = found.extends or DEFAULT
    if isinstance(source, Path | str) and found.source not in profiles() and wanted not in profiles():
        wanted = Path(found.source).parent / wanted
    try:
        return (*read(wanted, (*above, found.source)), found)
    except ConfigError as error:
        return (ReadProfile(found.source, error.problems), found)


def profiles() -> Mapping[str, str]:
    """Return the YAML of all profiles by name."""
    from elision.registry import plugins

    return plugins().profiles()


def _one(source: str | Path | Mapping[str, Any]) -> ReadProfile:
    from elision.config.document import read_text
    from elision.profiles.reading import read_profile

    if isinstance(source, Mapping):
        return read_profile(_written(source), INLINE)
    name = str(source)
    if isinstance(source, str) and source in profiles():
        return read_known(profiles()[source], source)
    try:
        return read_profile(read_text(Path(source)), name)
    except FileNotFoundError:
        meant = nearest(Path(name).stem[:60], profiles(), what="profiles")
        told = f"there is no such file, and no profile of that name; {meant}"
        raise ConfigError([Problem(name, 0, 0, "", told)]) from None


def _written(source: Mapping[str, Any]) -> str:
    import yaml

    try:
        return yaml.safe_dump(dict(source), sort_keys=False)
    except yaml.YAMLError as error:
        told = f"this is no plain data ({error}); give mappings, lists, text and numbers"
        raise ConfigError([Problem(INLINE, 0, 0, "", told)]) from None


@lru_cache(maxsize=64)
def read_known(text: str, name: str) -> ReadProfile:
    """Read the profile of a plugin, once."""
    from elision.profiles.reading import read_profile

    return read_profile(text, name)
