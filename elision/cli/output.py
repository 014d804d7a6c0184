"""Writing: JSON, tables and single lines, to streams and files."""

from __future__ import annotations

import json
import os
import secrets
import sys
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal

import click

from elision.errors import ElisionError


class OutputError(ElisionError):
    """A file, or the standard output, that cannot be written."""


def say(line: str) -> None:
    """Print one line on stderr; where that cannot be written, there is nobody to tell."""
    with suppress(OSError):
        click.echo(printable(line), err=True)


def show(text: str | bytes, *, err: bool = False) -> None:
    """Print on stdout, or on stderr."""
    try:
        click.echo(text, nl=not isinstance(text, bytes), err=err)
    except BrokenPipeError:
        raise
    except OSError as error:
        stream = "standard error" if err else "standard output"
        raise OutputError(f"{stream}: {error.strerror or error}; free some space, or write to a file") from error


def printable(text: str) -> str:
    """Return ``text`` as one line that a terminal can show: control characters and lone surrogates escaped."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)


def as_json(value: Any) -> bytes:
    """Encode as JSON in UTF-8; lone surrogates, which UTF-8 has no bytes for, become JSON escapes."""
    try:
        text = json.dumps(value, ensure_ascii=False, indent=1)
    except RecursionError:
        raise OutputError("output: the messages are nested too deeply to be written as JSON; flatten them") from None
    return text.encode("utf-8", "backslashreplace") + b"\n"


def print_json(value: Any, *, err: bool = False) -> None:
    """Print JSON on stdout, or on stderr."""
    show(as_json(value), err=err)


def write_json(path: Path, value: Any, *, keep: Iterable[Path] = ()) -> None:
    """Write JSON to a file in one go: complete, or not at all.  The files in ``keep`` are never overwritten."""
    for other in keep:
        if same_file(path, other):
            raise OutputError(f"{path}: this is the input {other}, which is never overwritten; name another file")
    data = as_json(value)
    try:
        if path.exists() and not path.is_file():
            with path.open("wb") as stream:
                stream.write(data)
        else:
            _replace(_target(path), data)
    except OSError as error:
        raise OutputError(f"{path}: {error.strerror or error}; name a file that can be written") from error


def print_table(
    title: str, columns: Sequence[str], rows: Iterable[Sequence[object]], *, err: bool = False, whole: int = 0
) -> None:
    """Print a table; numbers stand to the right.  Off a terminal it has no colours and never wraps.

    The first ``whole`` columns keep their full width on a narrow terminal; the others wrap.
    """
    from rich.box import SIMPLE_HEAD
    from rich.cells import cell_len
    from rich.console import Console
    from rich.table import Table

    stream = sys.stderr if err else sys.stdout
    terminal = stream.isatty()
    table = Table(box=SIMPLE_HEAD, show_edge=False, pad_edge=False)
    found = [list(row) for row in rows]
    for index, column in enumerate(columns):
        numbers = bool(found) and all(isinstance(row[index], int | float) or row[index] == "" for row in found)
        justify: Literal["right", "left"] = "right" if numbers else "left"
        cells = [cell_len(text) for text in (column, *(_cell(row[index]) for row in found))]
        width = max(cells) if index < whole else None
        table.add_column(column, justify=justify, min_width=width, no_wrap=width is not None, overflow="fold")
    for row in found:
        table.add_row(*(_cell(value) for value in row))
    console = Console(
        file=stream,
        force_terminal=terminal,
        width=None if terminal else 10_000,
        markup=False,
        emoji=False,
        highlight=False,
    )
    with console.capture() as captured:
        console.print(table)
    lines = captured.get().splitlines()
    show("\n".join([printable(title), *(line.rstrip() for line in lines)]), err=err)


def _cell(value: object) -> str:
    return f"{value:,}" if isinstance(value, int) else printable(str(value))


def same_file(path: Path, other: Path) -> bool:
    """Whether two paths name one file, also where it is not there yet."""
    try:
        return path.samefile(other)
    except OSError:
        return os.path.realpath(path) == os.path.realpath(other)


def _target(path: Path) -> Path:
    """Return the file behind links, which stay; a link that leads in a circle has none."""
    with suppress(FileNotFoundError):
        path.stat()
    return Path(os.path.realpath(path))


def _replace(path: Path, data: bytes) -> None:
    beside = path.with_name(f".{path.name[:200]}.{secrets.token_hex(6)}")
    try:
        with beside.open("xb") as stream:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
        if path.exists():
            beside.chmod(path.stat().st_mode & 0o777)
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)
