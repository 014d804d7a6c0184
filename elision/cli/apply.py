"""``elision apply``: the view of recorded histories under a chain."""

from __future__ import annotations

import os
import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from elision.cli.output import print_json, print_table, say, show, write_json

if TYPE_CHECKING:
    from elision.apply import Applied, Gathered


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
    json_: bool,
) -> None:
    """Show the view of recorded histories under a chain.

    INPUT is a file, a folder, or - for the standard input.  The messages go to OUT, or to the standard output; the
    summary goes to the other of the standard streams.  With several inputs, or --all, the messages are an array of
    arrays, one for each run.
    """
    if every and number is not None:
        raise click.UsageError("--run and --all exclude each other; give one of them")
    import elision
    from elision.apply import apply, gather
    from elision.dialect import by_name
    from elision.registry import plugins

    chain = elision.load(chain_name, attempt=attempt)
    for name in filter(None, (source, target)):
        by_name(plugins().dialects(), name)
    wanted = source or (None if chain.dialect == "auto" else chain.dialect)
    gathered = gather(inputs, number=number, every=every, dialect=wanted, stdin=sys.stdin.buffer)
    results = [apply(chain, recorded, target=target, model=model) for recorded in gathered.runs]
    nested = every or len(inputs) > 1 or Path(inputs[0]).is_dir()
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
    _summarise(results, gathered, json_=json_, err=not to_file)


def _summarise(results: list[Applied], gathered: Gathered, *, json_: bool, err: bool) -> None:
    """Print the summary on the stream that the messages did not take, and what the user should know on stderr."""
    summaries = [result.summary() for result in results]
    if json_:
        print_json({"runs": summaries, "skipped": list(gathered.skipped)}, err=err)
    if not (json_ and err):
        _say_notes(summaries, gathered)
    if not json_:
        _print_sizes(summaries, err=err)
        _print_edits(results, err=err)


def _say_notes(summaries: list[dict[str, Any]], gathered: Gathered) -> None:
    for line in gathered.skipped:
        say(f"skipped: {line}")
    for summary in summaries:
        where = f"{summary['input']}: run {summary['run']}"
        for failure in summary["failures"]:
            say(f"warning: {where}: {failure['processor']} raised {failure['error']}; its new edits are left out")
        for line in summary["lost"]:
            say(f"warning: {where}: {line}")


def _print_sizes(summaries: list[dict[str, Any]], *, err: bool) -> None:
    if len(summaries) == 1:
        summary = summaries[0]
        rows = [[unit, *_change(summary[unit])] for unit in ("messages", "characters", "tokens")]
        title = f"{summary['input']} ({summary['dialect']})"
        print_table(title, ("", "before", "after", "change"), rows, err=err)
    else:
        columns = ("input", "run", "messages", "sent", "characters", "sent", "tokens", "sent", "change")
        names = _shortened([summary["input"] for summary in summaries])
        rows = [
            [name, summary["run"], *_sizes(summary), _change(summary["tokens"])[2]]
            for name, summary in zip(names, summaries, strict=True)
        ]
        sums = [sum(column) for column in zip(*map(_sizes, summaries), strict=True)]
        rows.append(["total", "", *sums, _change({"before": sums[-2], "after": sums[-1]})[2]])
        print_table(f"{len(summaries)} runs", columns, rows, err=err)
    counts = [
        (label, sum(_total(summary[key]) for summary in summaries))
        for label, key in (("refused", "refusals"), ("repaired", "repairs"), ("pending calls", "pending"))
    ]
    show("  ".join(f"{label}: {count:,}" for label, count in counts), err=err)


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


def _sizes(summary: dict[str, Any]) -> list[int]:
    return [summary[unit][when] for unit in ("messages", "characters", "tokens") for when in ("before", "after")]


def _total(counted: dict[str, int] | int) -> int:
    return counted if isinstance(counted, int) else sum(counted.values())
