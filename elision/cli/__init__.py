"""The command line: one file per command, imported when it is used."""

from __future__ import annotations

import sys
import warnings
from typing import Any

import click

from elision import __version__
from elision.cli.group import LazyGroup
from elision.cli.output import say

EPILOG = "Exit codes: 0 fine, 1 the input or the config is wrong, 2 usage, 3 a bug of Elision, 130 interrupted."


@click.group(cls=LazyGroup, epilog=EPILOG, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="elision")
def cli() -> None:
    """Decide what of an agent's history is still sent to the model."""


def main() -> None:
    """Run the command line."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")
    warnings.showwarning = _show_warning
    cli.main(prog_name="elision")


def _show_warning(message: Warning | str, category: type[Warning], *place: Any, **more: Any) -> None:
    """Print one of Elision's own warnings as one line, any other as Python does."""
    if category.__name__ == "ElisionWarning":
        say(f"warning: {message}")
    else:
        _python_shows(message, category, *place, **more)


_python_shows = warnings.showwarning
