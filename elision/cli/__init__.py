"""The command line: one file per command, imported when it is used."""

from __future__ import annotations

import sys

import click

from elision import __version__
from elision.cli.group import LazyGroup

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
    cli.main(prog_name="elision")
