"""``elision schema``: the JSON Schema of chain files."""

from __future__ import annotations

import click

from elision.cli.output import print_json


@click.command("schema")
def command() -> None:
    """Print the JSON Schema of chain files.

    It covers the processors of all installed plugins; editors complete and check a chain.yaml with it.
    """
    from elision.config import schema

    print_json(schema())
