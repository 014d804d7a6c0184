"""``elision lint``: all problems of chain files and tables, one a line."""

from __future__ import annotations

from dataclasses import asdict

import click

from elision.cli.output import print_json, printable, show


@click.command("lint")
@click.argument("chains", metavar="C...", nargs=-1, required=True)
@click.option("--json", "json_", is_flag=True, help="Print the problems as JSON.")
@click.pass_context
def command(ctx: click.Context, chains: tuple[str, ...], json_: bool) -> None:
    """Name all problems of chain files and classification tables.

    C is a file, or the name of a chain or a table that ships.  Each problem is one line: file:line:column: path: what
    is wrong; the nearest name or what is allowed; what to do.  Warnings alone leave the exit code at 0.
    """
    from elision.classification import lint_table
    from elision.classification.loading import is_table
    from elision.config import lint_file

    found = {chain: lint_table(chain) if is_table(chain) else lint_file(chain) for chain in chains}
    problems = [problem for each in found.values() for problem in each]
    if json_:
        print_json([asdict(problem) for problem in problems])
    else:
        for chain, each in found.items():
            for line in map(str, each) if each else [f"{chain}: no problems"]:
                show(printable(line))
    if any(problem.severity == "error" for problem in problems):
        ctx.exit(1)
