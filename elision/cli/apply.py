"""``elision apply``: the view of recorded histories under a chain."""

from __future__ import annotations

import os
import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from elision.cli.output import print_json, print_table, same_file, say, show, write_json

if TYPE_CHECKING:
    from elision.apply import Applied, Gathered

_UNITS = ("messages", "characters", "tokens")


@click.command("apply")
@click.argument("inputs", metavar="INPUT...", nargs=-1, required=True)
@click.option("--chain", "chain_name", metavar="C", required=True, help="Chain: a file, or the name of a shipped one.")
@click.option("--attempt", metavar="N", type=click.IntRange(min=0), help="Agent config to take, where C has several.")
@click.option("--from", "source", metavar="D", help="Dialect of the input; found from its content if not given.")
@click.option("--to", "target", metavar="D", help="Dialect to write; that of the input if not given.")
@click.option("--run", "number", metavar="N", type=click.IntRange(min=0), help="Take run N of each file, from 0.")
@click.option("--all", "every", is_flag=True, help="Take all runs; the output is an array of arrays.")
@click.option("-o", "--output", "out", metavar="OUT", type=click.Path(path_type=Path), help="File for the messages.")
@click.option("--report", metavar="R", type=click.Path(path_type=Path), help="JSON file for every decision.")
@click.option("--model", metavar="M", help="Model to count tokens for.")
@click.option(
    "--archive", metavar="URI", help="Where originals go: a folder or URL.  [default: $ELISION_ARCHIVE, the chain's]"
)
@click.option("--json", "json_", is_flag=True, help="Print the summary as JSON instead of a table.")
def command(
    *,
    inputs: tuple[str, ...],
    chain_name: str,
    attempt: int | None,
    source: str | None,
    target: str | None,
    number: int | None,
    every: bool,
    out: Path | None,
    report: Path | None,
    model: str | None,
    archive: str | None,
    json_: bool,
) -> None:
    """Show the view of recorded histories under a chain.

    INPUT is a file, a folder, or - for the standard input.  The messages go to OUT, or to the standard output; the
    summary goes to the other of the standard streams.  With several inputs, or --all, the messages are an array of
    arrays, one for each run.
    """
    if every and number is not None:
        raise click.UsageError("--run and --all exclude each other; give one of them")
    if report is not None and str(report) == "-":
        raise click.UsageError(
            "--report takes a file; the standard streams have the messages and the summary; name one"
        )
    if out is not None and report is not None and _is_kept(out) and same_file(out, report):
        raise click.UsageError(f"-o and --report name the same file {out}; name two")
    import elision
    from elision.apply import apply, gather
    from elision.dialect import by_name
    from elision.registry import plugins

    chain = elision.load(chain_name, attempt=attempt, archive=archive)
    for name in filter(None, (source, target)):
        by_name(plugins().dialects(), name)
    wanted = source or (None if chain.dialect == "auto" else chain.dialect)
    gathered = gather(inputs, number=number, every=every, dialect=wanted, stdin=sys.stdin.buffer)
    results = [apply(chain, recorded, target=target, model=model) for recorded in gathered.runs]
    nested = every or len(inputs) > 1 or os.path.isdir(inputs[0])
    messages: Any = [result.messages for result in results] if nested else results[0].messages

    keep = [*gathered.files, Path(chain_name)]
    if report is not None:
        found = {"runs": [result.report() for result in results], "skipped": list(gathered.skipped)}
        write_json(report, found, keep=keep)
    to_file = out is not None and str(out) != "-"
    if to_file and out is not None:
        write_json(out, messages, keep=keep)
    else:
        print_json(messages)
    _summarise(results, gathered, report, json_=json_, err=not to_file)


def _summarise(results: list[Applied], gathered: Gathered, report: Path | None, *, json_: bool, err: bool) -> None:
    """Print the summary on the stream that the messages did not take, and what the user should know on stderr."""
    summaries = [result.summary() for result in results]
    if json_:
        print_json({"runs": summaries, "skipped": list(gathered.skipped)}, err=err)
    if not (json_ and err):
        _say_notes(results, summaries, gathered, report)
    if not json_:
        _print_sizes(summaries, err=err)
        _print_edits(results, err=err)


def _say_notes(
    results: list[Applied], summaries: list[dict[str, Any]], gathered: Gathered, report: Path | None
) -> None:
    for line in gathered.skipped:
        say(f"skipped: {line}")
    for index, (result, summary) in enumerate(zip(results, summaries, strict=True)):
        where = f"{summary['input']}: run {summary['run']}"
        if not result.view.live:
            say(f"note: {where}: in shadow mode the original is sent; the figures are of what the chain decides")
        for failure in result.view.failures:
            say(f"warning: {where}: {failure.told}")
        for change in result.view.skill_changes:
            say(f"warning: {where}: {change.told}")
        if summary["note"]:
            say(f"note: {where}: {summary['note']}")
        for line in summary["lost"]:
            say(f"warning: {where}: {line}")
        written = summary["written"]
        if written and written["system"]:
            size = "{characters:,} characters, {tokens:,} tokens".format(**written["system"])
            key = f"runs[{index}].system"
            found = f"it is {key} in {report}" if report else f"--report R writes it to R as {key}"
            beside = f"in {written['dialect']} it stands beside the messages"
            say(f"warning: {where}: system prompt ({size}) left out; {beside}; {found}")


def _is_kept(path: Path) -> bool:
    """Whether what is written there stays there: a device or a pipe can take two files."""
    return os.path.isfile(path) or not os.path.exists(path)


def _print_sizes(summaries: list[dict[str, Any]], *, err: bool) -> None:
    (_print_run if len(summaries) == 1 else _print_runs)(summaries, err=err)
    refused = sum(sum(summary["refusals"].values()) for summary in summaries)
    views = [*summaries, *(summary["written"] for summary in summaries if summary["written"])]
    repaired = sum(sum(view["repairs"].values()) for view in views)
    pending = sum(summary["pending"] for summary in summaries)
    show(f"refused: {refused:,}  repaired: {repaired:,}  pending calls: {pending:,}", err=err)


def _print_run(summaries: list[dict[str, Any]], *, err: bool) -> None:
    (summary,) = summaries
    written = summary["written"]
    title = f"{summary['input']} ({summary['dialect']}{', written as ' + written['dialect'] if written else ''})"
    rows = [[unit, *_change(summary[unit]), *([written[unit]] if written else [])] for unit in _UNITS]
    print_table(title, ("", "before", "after", "change", *(["written"] if written else [])), rows, err=err)


def _print_runs(summaries: list[dict[str, Any]], *, err: bool) -> None:
    places = ("sent", "written") if any(summary["written"] for summary in summaries) else ("sent",)
    sizes = [_sizes(summary, written=len(places) > 1) for summary in summaries]
    names = _shortened([summary["input"] for summary in summaries])
    rows = [
        [name, summary["run"], *size, _change(summary["tokens"])[2]]
        for name, summary, size in zip(names, summaries, sizes, strict=True)
    ]
    tokens = {when: sum(summary["tokens"][when] for summary in summaries) for when in ("before", "after")}
    rows.append(["total", "", *map(sum, zip(*sizes, strict=True)), _change(tokens)[2]])
    columns = ("input", "run", *(label for unit in _UNITS for label in (unit, *places)), "change")
    title = f"{len(summaries)} runs{_targets(summaries)}"
    print_table(title, columns, rows, err=err)


def _targets(summaries: list[dict[str, Any]]) -> str:
    names = sorted({summary["written"]["dialect"] for summary in summaries if summary["written"]})
    return f" (written as {', '.join(names)})" if names else ""


def _print_edits(results: list[Applied], *, err: bool) -> None:
    edits: Counter[str] = Counter()
    refused: Counter[str] = Counter()
    removed: Counter[str] = Counter()
    for result in results:
        edits.update(edit.processor for edit in result.view.edits)
        refused.update(refusal.processor for refusal in result.view.refusals)
        for edit in result.view.edits:
            removed[edit.processor] += edit.chars_before - edit.chars_after
    rows = [(name, edits[name], removed[name], refused[name]) for name in sorted(edits | refused)]
    if rows:
        print_table("edits", ("processor", "edits", "characters removed", "refused"), rows, err=err)


def _shortened(names: list[str]) -> list[str]:
    """Return paths as seen from the folder that holds them all."""
    folders = {os.path.dirname(name) for name in names}
    shared = os.path.commonpath(folders) if all(folders) and len({f.startswith("/") for f in folders}) == 1 else ""
    return [name.removeprefix(shared).lstrip("/") if shared else name for name in names]


def _change(pair: dict[str, int]) -> list[Any]:
    before, after = pair["before"], pair["after"]
    return [before, after, f"{100 * (after - before) / before:+.1f} %" if before else ""]


def _sizes(summary: dict[str, Any], *, written: bool) -> list[int]:
    """Return the figures before and after, and as written; a run in that dialect already is written as it is sent."""
    sizes: list[int] = []
    for unit in _UNITS:
        before, after = summary[unit]["before"], summary[unit]["after"]
        sizes += [before, after, *([summary["written"][unit] if summary["written"] else after] if written else [])]
    return sizes
