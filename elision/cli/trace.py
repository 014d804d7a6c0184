"""``elision trace``: where a text stops being visible, and how to get it back."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from elision.cli.output import print_json, print_table, printable, say, show

if TYPE_CHECKING:
    from elision.apply import Recorded
    from elision.chain import Chain
    from elision.traced import Trace, TracedPlace, TraceEvent

_LONGEST = 60


@click.command("trace")
@click.argument("source", metavar="INPUT")
@click.option("--chain", "chain_name", metavar="C", required=True, help="Chain: a file, or the name of a shipped one.")
@click.option("--find", metavar="TEXT", required=True, help="Text to follow: an identifier, a path, a sentence.")
@click.option("--attempt", metavar="N", type=click.IntRange(min=0), help="Agent config to take, where C has several.")
@click.option("--from", "dialect", metavar="D", help="Dialect of the input; found from its content if not given.")
@click.option("--run", "number", metavar="N", type=click.IntRange(min=0), help="Take run N of the file, from 0.")
@click.option("--model", metavar="M", help="Model of the requests; that of the input if not given.")
@click.option("--archive", metavar="URI", help="The archive: a folder or URL.  [default: $ELISION_ARCHIVE, memory:]")
@click.option("--json", "json_", is_flag=True, help="Print JSON instead of tables.")
@click.pass_context
def command(
    ctx: click.Context,
    *,
    source: str,
    chain_name: str,
    find: str,
    attempt: int | None,
    dialect: str | None,
    number: int | None,
    model: str | None,
    archive: str | None,
    json_: bool,
) -> None:
    """Follow a text through a recorded run: where it stops being visible, and why.

    INPUT is a file with one run, or - for the standard input.  Every request of the run is made under the chain.
    Exits with 0 if the text is visible in the last one or can be recalled, and with 1 if not.
    """
    from elision.tracing import trace

    chain = _chain(chain_name, attempt, archive)
    recorded = _recorded(source, number, dialect or (None if chain.dialect == "auto" else chain.dialect))
    run = recorded.run
    found = trace(
        chain,
        run.messages,
        find,
        system=run.system,
        tools=run.tools,
        model=model or run.model,
        dialect=recorded.dialect.name,
    )
    if json_:
        kept = {"archive": chain.opened_archive.where}
        print_json({"input": recorded.source, "run": recorded.number, "chain": chain_name, **kept, **found.as_dict()})
    else:
        _print(found, recorded, chain_name, in_memory=chain.opened_archive.where == "memory:")
    if found.lost:
        ctx.exit(1)


def _chain(name: str, attempt: int | None, archive: str | None) -> Chain:
    """Load the chain; its own archive is left alone, unless that takes nothing, which decides what is removed."""
    import elision
    from elision.archive.opening import VARIABLE, trial_archive

    chain = elision.load(name, attempt=attempt, archive=archive)
    if archive is not None or os.environ.get(VARIABLE) or not chain.opened_archive.keeps:
        return chain
    return replace(chain, archive=trial_archive(stored=chain.stored_policy))


def _recorded(source: str, number: int | None, dialect: str | None) -> Recorded:
    from elision.apply import gather
    from elision.errors import InputError

    gathered = gather([source], number=number, dialect=dialect, stdin=sys.stdin.buffer)
    if len(gathered.runs) != 1:
        raise InputError(f"{source}: {len(gathered.runs)} runs in this folder; one is followed; name a file")
    return gathered.runs[0]


def _print(found: Trace, recorded: Recorded, chain: str, *, in_memory: bool) -> None:
    for failure in found.failures:
        say(f"warning: {failure.told}")
    shown = printable(found.find)
    title = (
        f"{recorded.source}: run {recorded.number} ({found.dialect}): {shown} under {chain}, {found.steps:,} requests"
    )
    rows = [_place(index, place) for index, place in enumerate(found.places)]
    print_table(title, ("place", "message", "step", "in", "call", "where", "count", "visible", "recallable"), rows)
    show("")
    events = [_event(index, event) for index, place in enumerate(found.places) for event in place.events]
    print_table("events", ("place", "step", "stage", "what", "count", "details"), events)
    show("")
    if in_memory and any(event.ref for place in found.places for event in place.events):
        show("note: originals were kept in memory only; --archive FOLDER keeps them")
    show(printable(_told(found)))


def _place(index: int, place: TracedPlace) -> tuple[Any, ...]:
    inside = {"result": "result of", "call": "call of"}.get(place.found_in)
    return (
        index,
        "" if place.position is None else place.position,
        "" if place.step is None else place.step,
        f"{inside} {place.tool or '?'}" if inside else f"{place.role}'s {place.found_in}",
        _short(place.call_id),
        ", ".join(place.where),
        place.count,
        "yes" if place.visible else "no",
        "" if place.visible else "yes" if place.recallable else "no",
    )


def _event(index: int, event: TraceEvent) -> tuple[Any, ...]:
    return index, event.step, event.stage, event.what, event.count, "; ".join(_details(event))


def _details(event: TraceEvent) -> Iterator[str]:
    if event.processor and event.processor != event.stage:
        yield event.processor
    if event.operation:
        yield event.operation
    if event.rule:
        yield f"rule {event.rule}"
    classes = f"class {'+'.join(event.classes)}" if event.classes else ""
    if classes and not event.reason.startswith(classes):
        yield classes
    if event.reason:
        yield event.reason
    if event.ref:
        yield f"ref {event.ref}"


def _told(found: Trace) -> str:
    """Return the outcome in one line."""
    if found.visible:
        places = sum(place.visible for place in found.places)
        return f"visible: {found.sent:,} time(s) in the last request, at {places:,} of {len(found.places):,} place(s)"
    event = found.gone_by
    by = f"{event.stage} ({event.operation or event.reason})" if event else "?"
    gone = f"gone since step {found.gone_at}, by {by}"
    refs = list(dict.fromkeys(place.ref for place in found.places if place.recallable))
    if refs:
        return f"{gone}; recallable: {', '.join(refs)}"
    return f"{gone}; nothing brings it back"


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
