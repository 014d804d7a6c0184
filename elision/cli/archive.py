"""``elision archive``: check, count, export and prune what was archived."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from elision.cli.output import print_json, print_table, printable, show

if TYPE_CHECKING:
    from elision.archive import Archive

_ARCHIVE = click.option(
    "--archive", metavar="URI", help="The archive: a folder or URL.  [default: $ELISION_ARCHIVE, .elision]"
)
_JSON = click.option("--json", "json_", is_flag=True, help="Print JSON.")


def opened(where: str | None) -> Archive:
    """Open the archive of ``--archive``, else that of the environment, else the default one."""
    from elision.archive import open_archive

    return open_archive() if where is None else open_archive(where, environ={})


def opened_to_read(where: str | None) -> Archive:
    """Open an archive that must be there: what is mistyped is not an empty one."""
    from elision.errors import ArchiveError

    found = opened(where)
    if found.begun and found.where not in _OF_THIS_PROCESS:
        return found
    place = found.where if found.begun else str(Path(found.where).parent)
    raise ArchiveError(
        f"{place.removesuffix(':')}: there is no archive; name the folder that a chain wrote to "
        "(archive: in its file, .elision in its working directory)"
    )


_OF_THIS_PROCESS = {"memory:", "none"}


@click.group("archive")
def command() -> None:
    """Check, count, export or prune what was archived."""


@command.command("verify")
@_ARCHIVE
@_JSON
@click.pass_context
def verify(ctx: click.Context, *, archive: str | None, json_: bool) -> None:
    """Check every original and every record.

    All hash chains, the hash of every original, and the database itself.  Exits with 1 when anything is wrong.
    """
    with opened_to_read(archive) as source:
        found = source.verify()
    if json_:
        print_json(found.as_dict())
    else:
        for problem in found.problems:
            show(printable(problem))
        state = "clean" if found.clean else f"{len(found.problems)} problem(s)"
        show(printable(f"{found.where}: {found.originals:,} originals, {found.records:,} records: {state}"))
    if not found.clean:
        ctx.exit(1)


@command.command("stats")
@_ARCHIVE
@_JSON
def stats(*, archive: str | None, json_: bool) -> None:
    """Count originals, records and bytes."""
    with opened_to_read(archive) as source:
        found = source.stats()
    if json_:
        print_json(found.as_dict())
        return
    rows: list[tuple[str, Any]] = [
        (name.replace("_", " "), value) for name, value in found.as_dict().items() if name not in _APART
    ]
    print_table(found.where, ("what", "value"), [(name, _shown(value)) for name, value in rows])
    if found.by_operation:
        show("")
        print_table("removed by", ("operation", "records", "chars"), found.by_operation)


_APART = {"where", "by_operation"}


@command.command("export")
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
@_ARCHIVE
@_JSON
def export(*, folder: Path, archive: str | None, json_: bool) -> None:
    """Write originals and records to plain files.

    DIR must be new or empty.  Every original becomes a file named by its ref (.txt, or .json where it has parts), as
    the archive has it; the records go to records.jsonl.
    """
    from dataclasses import asdict

    with opened_to_read(archive) as source:
        done = source.export(folder)
    if json_:
        print_json(asdict(done))
    else:
        show(printable(f"{done.folder}: {done.originals:,} originals, {done.records:,} records"))


@command.command("prune")
@click.option("--older-than-days", metavar="N", type=click.FloatRange(min=0), required=True, help="Age to delete from.")
@click.option("--keep-session", "keep_sessions", metavar="ID", multiple=True, help="A session to spare; repeatable.")
@_ARCHIVE
@_JSON
def prune(*, older_than_days: float, keep_sessions: tuple[str, ...], archive: str | None, json_: bool) -> None:
    """Delete the bytes of old originals.

    An original is old when no record of the last N days names it.  The records stay, and each deletion adds one.
    """
    from dataclasses import asdict

    with opened_to_read(archive) as source:
        done = source.prune(older_than_days=older_than_days, keep_sessions=keep_sessions)
    if json_:
        print_json(asdict(done))
    else:
        show(printable(f"{source.where}: pruned {done.originals:,} originals, {done.bytes:,} bytes"))


def _shown(value: Any) -> str:
    return f"{value:,}" if isinstance(value, int) else str(value)
