"""What an exception becomes on the command line: one line on stderr, and an exit code."""

from __future__ import annotations

import os
import sys
import tempfile
import traceback

import click

from elision.cli.output import OutputError, say
from elision.errors import ConfigError, ElisionError

WRONG_INPUT = 1
BUG = 3
INTERRUPTED = 130
READER_GONE = 141
"""What a shell reports of a program that wrote to a closed pipe."""


def exit_code(error: BaseException) -> int:
    """Say what went wrong in one line, and return the exit code for it."""
    if isinstance(error, BrokenPipeError):
        _let_go_of_stdout()
        return READER_GONE
    if isinstance(error, KeyboardInterrupt):
        return INTERRUPTED
    if isinstance(error, ElisionError):
        if isinstance(error, OutputError):
            _let_go_of_stdout()
        for line in _lines(error):
            say(line)
        return WRONG_INPUT
    say(_bug(error))
    return BUG


def _lines(error: ElisionError) -> list[str]:
    """Return one line for each thing that is wrong."""
    if isinstance(error, ConfigError):
        return list(map(str, error.problems))
    return list(getattr(error, "lines", ())) or [str(error)]


def _bug(error: BaseException) -> str:
    what = f"{type(error).__name__}: {error}".splitlines()[0][:200]
    text = "".join(traceback.format_exception(error))
    try:
        descriptor, path = tempfile.mkstemp(prefix="elision-", suffix=".log")
        with os.fdopen(descriptor, "w", encoding="utf-8", errors="backslashreplace") as log:
            log.write(f"{sys.version}\n{text}")
    except OSError:
        click.echo(text, err=True)
        return f"elision: this is a bug of Elision ({what}); report it with the traceback above"
    return f"elision: this is a bug of Elision ({what}); the traceback is in {path}; report it with that file"


def _let_go_of_stdout() -> None:
    """Point stdout at nothing, so that the interpreter does not fail again when it flushes at its end."""
    try:
        descriptor = os.open(os.devnull, os.O_WRONLY)
        os.dup2(descriptor, sys.stdout.fileno())
        os.close(descriptor)
    except (OSError, ValueError, AttributeError):
        return
