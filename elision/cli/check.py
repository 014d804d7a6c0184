"""``elision check``: canaries through a chain, and the tests that its file has."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from elision.cli.output import print_json, print_table, printable, show

if TYPE_CHECKING:
    from collections.abc import Sequence

    from elision.checking import CheckReport, Fate


@click.command("check")
@click.option("--chain", "chain_name", metavar="C", required=True, help="Chain: a file, or the name of a shipped one.")
@click.option("--attempt", metavar="N", type=click.IntRange(min=0), help="Agent config to take, where C has several.")
@click.option("--archive", metavar="URI", help="Archive to try; canaries stay in it.  [default: memory:]")
@click.option("--json", "json_", is_flag=True, help="Print everything as JSON.")
@click.pass_context
def command(ctx: click.Context, *, chain_name: str, attempt: int | None, archive: str | None, json_: bool) -> None:
    """Follow canaries through a chain, and run its tests.

    Canaries are lines at head, middle and tail of a result of each class.  Exits with 1 where one is gone that had to
    stay, where one does not come back from the archive with equal bytes, or where a test of the chain file fails.
    """
    import elision

    report = elision.check(elision.load(chain_name, attempt=attempt), archive=archive)
    if json_:
        print_json(report.as_dict())
    else:
        _print(chain_name, report)
    if not report.passed:
        ctx.exit(1)


def _print(name: str, report: CheckReport) -> None:
    columns = ("class", "where", "dialects", "fate", "step", "by", "ref")
    print_table("canaries", columns, _rows(report.fates))
    show("")
    for outcome in report.tests:
        show(printable(f"{outcome.name} ({outcome.history}): {'passed' if outcome.passed else 'failed'}"))
    for line in (*report.problems, *_marked("warning", report.warnings), *_marked("note", report.notes)):
        show(printable(line))
    tests = f", {len(report.tests)} test(s)" if report.tests else ""
    done = f"{len(report.fates)} canaries over {report.requests} requests ({', '.join(report.dialects)}){tests}"
    show(printable(f"{name}: {done}: {'passed' if report.passed else f'{len(report.problems)} problem(s)'}"))


def _marked(severity: str, lines: Sequence[str]) -> list[str]:
    return [f"{severity}: {line}" for line in lines]


def _rows(fates: Sequence[Fate]) -> list[tuple[object, ...]]:
    """Return a row for all canaries that fared alike."""
    dialects: dict[tuple[str, ...], list[str]] = {}
    for fate in fates:
        key = (fate.of, fate.where, fate.state, str(fate.step or ""), fate.by, fate.ref)
        dialects.setdefault(key, []).append(fate.dialect)
    wheres: dict[tuple[str, ...], list[str]] = {}
    for (of, where, *rest), tried in dialects.items():
        wheres.setdefault((of, ", ".join(tried), *rest), []).append(where)
    return [(of, ", ".join(where), tried, *rest) for (of, tried, *rest), where in wheres.items()]
