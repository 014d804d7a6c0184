"""``elision recall``: an original that left the view, by its ref."""

from __future__ import annotations

import click

from elision.cli.output import print_json, say, show


@click.command("recall")
@click.argument("ref", metavar="REF")
@click.option("--lines", metavar="A:B", help="Only these lines, counted from 1: 10:20, 10:, :20 or 7.")
@click.option("--grep", metavar="RE", help="Only the lines that match, with their numbers.")
@click.option("--record", metavar="N", type=click.IntRange(min=1), help="One record of a JSON list, exactly, from 1.")
@click.option("--records", metavar="A:B", help="These records of a JSON list, a line each: 10:20, 10:, :20 or 7.")
@click.option("--page", metavar="N", type=click.IntRange(min=1), help="One page instead of all.")
@click.option("--page-chars", metavar="N", type=click.IntRange(min=1), help="Size of a page.  [default: 20000]")
@click.option("--raw", is_flag=True, help="Past the view's redaction policy: the bytes as the archive has them.")
@click.option("--archive", metavar="URI", help="The archive: a folder or URL.  [default: $ELISION_ARCHIVE, .elision]")
@click.option("--json", "json_", is_flag=True, help="Print text, refs and sizes as JSON.")
def command(
    *,
    ref: str,
    lines: str | None,
    grep: str | None,
    record: int | None,
    records: str | None,
    page: int | None,
    page_chars: int | None,
    raw: bool,
    archive: str | None,
    json_: bool,
) -> None:
    """Print an original that left the view, by its ref.

    REF is what the placeholder names, or the beginning of the original's sha256.  Without --raw it is redacted as the
    view was.
    """
    from dataclasses import asdict

    from elision.archive.recall import PAGE_CHARS, recall
    from elision.cli.archive import opened_to_read

    paged = page is not None or page_chars is not None
    size = (page_chars or PAGE_CHARS) if paged else None
    with opened_to_read(archive) as source:
        found = recall(
            ref,
            lines=lines,
            grep=grep,
            record=record,
            records=records,
            page=page or 1,
            page_chars=size,
            raw=raw,
            archive=source,
        )
    if json_:
        print_json(asdict(found))
        return
    show(found.text.encode("utf-8", "surrogatepass"))
    if found.note:
        say(f"recall {found.ref}: {found.note}")
