"""Loading and linting tables: by name, by path, or as a mapping."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from elision.errors import ConfigError, Problem, nearest

if TYPE_CHECKING:
    from elision.classification.reading import ReadTable
    from elision.classification.table import Table

INLINE = "<table>"
"""The source of a table that is no file."""


def load_table(source: str | Path | Mapping[str, Any] = "default") -> Table:
    """Load a table: the name of one that ships or that a plugin offers, the path of a YAML file, or its content."""
    found = read(source)
    errors = [problem for problem in found.problems if problem.severity == "error"]
    if errors:
        raise ConfigError(errors)
    return found.table


def lint_table(source: str | Path | Mapping[str, Any]) -> list[Problem]:
    """Return all problems of a table, warnings included, in the order of the file."""
    from elision.classification.linting import warned

    try:
        return warned(read(source))
    except ConfigError as error:
        return list(error.problems)


def is_table(source: str | Path) -> bool:
    """Whether a name or a file is a table and no chain, as far as its first keys say."""
    import yaml

    from elision.config.document import parse, read_text
    from elision.config.sources import shipped_chains
    from elision.registry import plugins

    if str(source) in plugins().tables() or str(source) in shipped_chains():
        return str(source) not in shipped_chains()
    try:
        root = parse(read_text(Path(source)), str(source))
    except (ConfigError, FileNotFoundError):
        return False
    keys = {key.value for key, _ in root.value} if isinstance(root, yaml.MappingNode) else set()
    return bool(keys & {"rules", "classes", "extends"}) and not keys & {"history_processors", "agent"}


def read(source: str | Path | Mapping[str, Any], above: tuple[str, ...] = ()) -> ReadTable:
    """Read a table, and those that it extends; ``above`` are the tables that extend it."""
    from elision.config.document import read_text
    from elision.registry import plugins

    if isinstance(source, Mapping):
        import yaml

        try:
            return _read(yaml.safe_dump(dict(source), sort_keys=False), INLINE, above)
        except yaml.YAMLError as error:
            told = f"this is no plain data ({error}); give mappings, lists, text and numbers"
            raise ConfigError([Problem(INLINE, 0, 0, "", told)]) from None
    name = str(source)
    if name in above:
        told = f"a table cannot extend itself: {' -> '.join([*above, name])}; correct 'extends'"
        raise ConfigError([Problem(name, 0, 0, "", told)])
    known = plugins().tables()
    if isinstance(source, str) and source in known:
        return _read_known(known[source], name, above)
    try:
        return _read(read_text(Path(source)), name, above)
    except FileNotFoundError:
        told = (
            f"there is no such file, and no table of that name; {nearest(Path(name).stem[:60], known, what='tables')}"
        )
        raise ConfigError([Problem(name, 0, 0, "", told)]) from None


def _read(text: str, source: str, above: tuple[str, ...]) -> ReadTable:
    from elision.classification.reading import read_table

    def base(name: str) -> ReadTable:
        from elision.registry import plugins

        beside = source != INLINE and source not in plugins().tables() and name not in plugins().tables()
        return read(Path(source).parent / name if beside else name, (*above, source))

    return read_table(text, source, base)


_read_known = lru_cache(maxsize=64)(_read)
