"""``elision classify``: what a classification table says of the results in recorded histories."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from elision.cli.output import print_json, print_table, say, show

if TYPE_CHECKING:
    from elision.apply import Gathered
    from elision.classification import Table
    from elision.classification.census import Classified, Share
    from elision.classification.suggest import Suggestion

_LONGEST = 100


class _Asked(NamedTuple):
    """The table that is asked: what it is called here, whether rules can be added to a file, and to which chain."""

    table: Table
    name: str
    file: bool = False
    chain: str = ""


@click.command("classify")
@click.argument("inputs", metavar="INPUT...", nargs=-1, required=True)
@click.option("--table", "name", metavar="T", help="Table: a name, or a file.  [default: default]")
@click.option("--chain", "chain_name", metavar="C", help="Take the table of a chain: a file, or a shipped one.")
@click.option("--attempt", metavar="N", type=click.IntRange(min=0), help="Agent config to take, where C has several.")
@click.option("--suggest", is_flag=True, help="Print the rules to add for what the table does not know.")
@click.option("--from", "source", metavar="D", help="Dialect of the input; found from its content if not given.")
@click.option("--run", "number", metavar="N", type=click.IntRange(min=0), help="Take run N of each file, from 0.")
@click.option("--model", metavar="M", help="Model to count tokens for.")
@click.option("--json", "json_", is_flag=True, help="Print JSON instead of tables.")
def command(
    *,
    inputs: tuple[str, ...],
    name: str | None,
    chain_name: str | None,
    attempt: int | None,
    suggest: bool,
    source: str | None,
    number: int | None,
    model: str | None,
    json_: bool,
) -> None:
    """Show the class of each tool result in recorded histories.

    INPUT is a file, a folder, or - for the standard input.  Each observation is shown with its classes and the rules
    that decided; then how much is unknown, which no processor may clear.
    """
    if name is not None and chain_name is not None:
        raise click.UsageError("--table and --chain exclude each other; give one of them")
    from elision.apply import gather
    from elision.classification.census import classified
    from elision.classification.suggest import suggestions
    from elision.convert import parsed

    asked = _of_chain(chain_name, attempt) if chain_name is not None else _by_name(name or "default")
    gathered = gather(inputs, number=number, every=number is None, dialect=source, stdin=sys.stdin.buffer)
    found = [
        list(classified(parsed(each.run.messages, each.dialect), asked.table, model or each.run.model))
        for each in gathered.runs
    ]
    every = [each for run in found for each in run]
    rules = suggestions(every, asked.table) if suggest else []
    if json_:
        print_json(_data(asked.name, gathered, found, rules))
        return
    for line in gathered.skipped:
        say(f"skipped: {line}")
    if suggest:
        _print_suggestions(rules, asked)
    else:
        _print_observations(gathered, found)
    _print_shares(every, asked.name, err=suggest)


def _by_name(name: str) -> _Asked:
    from elision.classification import load_table
    from elision.errors import ConfigError, InputError
    from elision.registry import plugins

    try:
        return _Asked(load_table(name), name, file=name not in plugins().tables())
    except ConfigError:
        if _is_chain(name):
            raise InputError(f"{name}: this is a chain, no table; give it with --chain") from None
        raise


def _is_chain(name: str) -> bool:
    import elision
    from elision.classification.loading import is_table
    from elision.errors import ElisionError

    try:
        return not is_table(name) and bool(elision.load(name, archive="memory:"))
    except ElisionError:
        return False


def _of_chain(chain: str, attempt: int | None) -> _Asked:
    import elision
    from elision.errors import InputError
    from elision.registry import plugins

    loaded = elision.load(chain, attempt=attempt, archive="memory:")
    if loaded.table is None:
        raise InputError(
            f"{chain}: it asks no table (classification: none), so nothing is unknown; name one with --table"
        )
    given = loaded.classification
    if isinstance(given, str | Path):
        return _Asked(loaded.table, str(given), file=str(given) not in plugins().tables())
    return _Asked(loaded.table, f"of {chain}", chain=chain)


def _data(name: str, gathered: Gathered, found: list[list[Classified]], rules: list[Suggestion]) -> dict[str, Any]:
    from elision.classification.census import share_of, shares

    every = [each for run in found for each in run]
    return {
        "table": name,
        "runs": [
            {"input": each.source, "run": each.number, "observations": [one.as_dict() for one in observations]}
            for each, observations in zip(gathered.runs, found, strict=True)
        ],
        "classes": {names: _share(share) for names, share in shares(every).items()},
        "unknown": _share(share_of(each for each in every if each.unknown)),
        "all": _share(share_of(every)),
        "suggestions": [
            {**each.rule(), "observations": each.observations, "tokens": each.tokens, "about": each.about}
            for each in rules
        ],
        "skipped": list(gathered.skipped),
    }


def _share(share: Share) -> dict[str, int]:
    return {"observations": share.observations, "tokens": share.tokens}


def _print_observations(gathered: Gathered, found: list[list[Classified]]) -> None:
    for recorded, observations in zip(gathered.runs, found, strict=True):
        rows = [
            (each.step, each.tool, "+".join(sorted(each.classes)), each.tokens, _reasons(each)) for each in observations
        ]
        title = f"{recorded.source}: run {recorded.number}"
        print_table(title, ("step", "tool", "classes", "tokens", "decided by"), rows)
        show("")


def _reasons(each: Classified) -> str:
    text = "; ".join(map(str, each.reasons))
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


def _print_suggestions(rules: list[Suggestion], asked: _Asked) -> None:
    from elision.classification.suggest import as_yaml

    if not rules:
        say(f"the table {asked.name} knows every tool and command here; there is nothing to add")
    elif asked.chain:
        show(f"# Add these rules to the table under 'classification:' in {asked.chain}; look at each rule before.")
        show("\n".join(["rules:", *(line for each in rules for line in each.lines())]))
    else:
        show(as_yaml(rules, asked.name, file=asked.file))


def _print_shares(every: list[Classified], name: str, *, err: bool) -> None:
    from elision.classification.census import share_of, shares

    total = share_of(every)
    rows = [
        (names, share.observations, share.tokens, _percent(share.tokens, total.tokens))
        for names, share in shares(every).items()
    ]
    print_table(f"classes (table {name})", ("classes", "observations", "tokens", "share"), rows, err=err)
    unknown = share_of(each for each in every if each.unknown)
    stay = "; no processor may clear them" if unknown.observations else ""
    show(
        f"unknown: {unknown.observations:,} of {total.observations:,} observations, {unknown.tokens:,} of "
        f"{total.tokens:,} tokens ({_percent(unknown.tokens, total.tokens)}){stay}"
        + ("; --suggest prints the rules to add" if stay and not err else ""),
        err=err,
    )


def _percent(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f} %" if whole else "0.0 %"
