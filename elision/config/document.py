"""A config file as YAML nodes, each of which knows its line and column."""

from __future__ import annotations

from pathlib import Path
from typing import IO, NoReturn

import yaml

from elision.errors import ConfigError, Problem

MAX_BYTES = 1_000_000
"""Largest config that is read."""

MAX_NODES = 50_000
"""Most YAML values in one config."""

MAX_DEPTH = 60
"""Deepest nesting, with aliases written out."""

EXPECTED = "give a chain as YAML, with 'history_processors:' at the top"


def read_text(path: Path) -> str:
    """Read a config file; whatever keeps one that exists from being read is one problem."""
    try:
        if path.is_dir():
            _refuse(str(path), "this is a folder; name a file in it")
        if path.is_file() and path.stat().st_size > MAX_BYTES:
            _refuse(str(path), _too_large(f"{path.stat().st_size:,} bytes"))
        with path.open("rb") as file:
            data = _bounded(file, str(path))
    except FileNotFoundError:
        raise
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        _refuse(str(path), f"it cannot be read ({reason}); name a readable file")
    return _decoded(data, str(path))


def parse(text: str, source: str) -> yaml.Node | None:
    """Return the root of the one YAML document in ``text``; nothing where there is none."""
    if len(text) > MAX_BYTES:
        _refuse(source, _too_large(f"{len(text):,} characters"))
    try:
        root = yaml.compose(text, Loader=_BoundedLoader)
    except yaml.reader.ReaderError as error:
        _refuse_character(error, text, source)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line, column = (mark.line + 1, mark.column + 1) if mark else (1, 1)
        _refuse(source, _syntax(error), line, column)
    return root


class _BoundedLoader(yaml.SafeLoader):
    """Composes nodes without building any object, up to the bounds of a config."""

    depth = 0
    nodes = 0

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        self.depth += 1
        self.nodes += 1
        if self.depth > MAX_DEPTH:
            self._stop(f"values are nested more than {MAX_DEPTH} deep; make it flatter")
        if self.nodes > MAX_NODES:
            self._stop(f"there are more than {MAX_NODES:,} values; a chain is far smaller, so check that this is one")
        node = super().compose_node(parent, index)
        self.depth -= 1
        return node

    def _stop(self, problem: str) -> NoReturn:
        raise _BoundError(problem=problem, problem_mark=self.peek_event().start_mark)  # type: ignore[no-untyped-call]


class _BoundError(yaml.MarkedYAMLError):
    """A config beyond its bounds."""


def _refuse(source: str, message: str, line: int = 0, column: int = 0) -> NoReturn:
    raise ConfigError([Problem(source, line, column, "", message)]) from None


def _bounded(file: IO[bytes], source: str) -> bytes:
    """Read a pipe or a device without waiting for its end."""
    data = file.read(MAX_BYTES + 1)
    if len(data) > MAX_BYTES:
        _refuse(source, _too_large(f"more than {MAX_BYTES:,} bytes"))
    return data


def _too_large(size: str) -> str:
    return f"too large for a config ({size}); at most {MAX_BYTES:,} bytes are read; {EXPECTED}"


def _decoded(data: bytes, source: str) -> str:
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        if b"\0" in data:
            _refuse(source, f"this is a binary file; {EXPECTED}")
        before = data[: error.start].decode("utf-8-sig", "replace")
        _refuse(source, "not a text file in UTF-8; save it as UTF-8", *_place(before))
    if "\0" in text:
        _refuse(source, f"this is a binary file; {EXPECTED}")
    return text


def _place(before: str) -> tuple[int, int]:
    """Return line and column of what follows the text ``before``."""
    return before.count("\n") + 1, len(before) - (before.rfind("\n") + 1) + 1


def _refuse_character(error: yaml.reader.ReaderError, text: str, source: str) -> NoReturn:
    message = f"character U+{int(error.character):04X} may not stand in YAML; remove it"
    _refuse(source, message, *_place(text[: error.position]))


def _syntax(error: yaml.MarkedYAMLError) -> str:
    problem = str(error.problem)
    if isinstance(error, _BoundError):
        return problem
    if r"'\t'" in problem:
        return "a tab stands where YAML takes only spaces; indent with spaces"
    if problem == "but found another document":
        return "a second YAML document begins here; a chain is one document; put the rest in a file of its own"
    context = f" ({error.context}{_began(error)})" if error.context else ""
    return f"this is not YAML: {problem}{context}; correct it"


def _began(error: yaml.MarkedYAMLError) -> str:
    mark = error.context_mark
    return f" that began in line {mark.line + 1}" if mark and str(error.context).startswith("while parsing") else ""
