"""``elision list``: what the installed plugins offer."""

from __future__ import annotations

from typing import Any

import click

from elision.cli.output import print_json, print_table, show
from elision.errors import nearest

KINDS = ("processors", "dialects", "chains", "tables", "profiles", "hosts", "templates", "plugins")


@click.command("list")
@click.argument("kind", metavar="[KIND]", required=False)
@click.option("--json", "json_", is_flag=True, help="Print JSON instead of tables.")
def command(kind: str | None, json_: bool) -> None:
    """List what the installed plugins offer.

    KIND is one of processors, dialects, chains, tables, profiles, hosts, templates, plugins; without it, all of them.
    """
    if kind is not None and kind not in KINDS:
        raise click.UsageError(f"there is no kind {kind!r}; {nearest(kind, KINDS, what='kinds')}")
    from elision.cli.catalogue import rows

    found = {each: rows(each) for each in ((kind,) if kind else KINDS)}
    if json_:
        print_json(found[kind] if kind else found)
        return
    for number, (each, entries) in enumerate(found.items()):
        if number:
            show("")
        columns = list(entries[0]) if entries else ["name"]
        print_table(each, columns, [[_shown(entry[column]) for column in columns] for entry in entries], whole=1)


def _shown(value: Any) -> Any:
    return ", ".join(map(str, value)) if isinstance(value, list) else value
