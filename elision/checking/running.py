"""``check``: canaries through a chain in every dialect, and the chain's own tests."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from elision.archive import Archive, open_archive
from elision.chain import Chain, require_chain
from elision.checking.demand import demand_of
from elision.checking.expectations import outcomes
from elision.checking.following import Run, run_in, sent_text
from elision.checking.judging import fates, own_of_sweagent
from elision.checking.planting import script_for
from elision.checking.report import CheckReport, Fate
from elision.checking.script import ALWAYS_KEPT, Planted, Script
from elision.classification import Table, load_table
from elision.classification.classes import REMOVING
from elision.errors import ElisionError
from elision.session import ElisionWarning

_WIRES = ("openai", "anthropic")
_GIVEN_AWAY = {
    "receipt": "the only record that something was done",
    "skill": "the instructions that the model works by",
}


@dataclass(slots=True)
class _Found:
    """What has been found so far; each line once."""

    fates: list[Fate] = field(default_factory=list)
    problems: dict[str, None] = field(default_factory=dict)
    missing: dict[str, list[str]] = field(default_factory=dict)
    proposed: set[str] = field(default_factory=set)
    requests: int = 0


def check(chain: Chain, *, archive: Archive | str | None = None) -> CheckReport:
    """Follow canaries through a chain, and run the tests that it has.

    Canaries stand at head, middle and tail of an observation of each class, in a conversation that makes the chain's
    processors act.  It is lost where one is gone that had to stay, or does not come back with equal bytes.  ``archive``
    is tried instead of one in memory, and the canaries stay in it; the chain's own is never touched.
    """
    require_chain(chain, "check")
    if isinstance(archive, str):
        with open_archive(archive, stored=chain.stored_policy, environ={}) as opened:
            return check(chain, archive=opened)
    chain = replace(chain, mode="live", share=None)
    script, unreached = script_for(chain.table or load_table(), demand_of(chain.processors))
    found = _Found()
    with warnings.catch_warnings():
        # What failed is in the views, and is reported here.
        warnings.simplefilter("ignore", ElisionWarning)
        for name in _dialects(chain):
            _try(chain, script, name, archive, found)
        tests = tuple(outcomes(chain))
    lost = [fate for fate in found.fates if fate.state == "lost"]
    problems = [*_told(lost), *found.problems]
    problems += [f"{each.name} ({each.history}): {line}" for each in tests for line in each.problems]
    return CheckReport(
        tuple(found.fates),
        tests,
        tuple(problems),
        tuple(_warnings(chain, found)),
        tuple(_notes(chain, unreached, found)),
        found.requests,
    )


def _dialects(chain: Chain) -> tuple[str, ...]:
    if chain.dialect != "auto":
        return (chain.dialect,)
    return (*_WIRES, "sweagent") if chain.compat == "sweagent" else _WIRES


def _try(chain: Chain, script: Script, name: str, archive: Archive | None, found: _Found) -> None:
    run = run_in(name, chain, script, archive)
    tried = [each for each in script.planted if _has_its_classes(run, each)]
    for each in script.planted:
        if each not in tried:
            found.missing.setdefault(each.of, []).append(name)
    followed = {each.of for each in tried} | set(ALWAYS_KEPT)
    text = sent_text(run.messages)
    canaries = [each for each in script.canaries() if each.of in followed and each.line in text]
    try:
        gone, last = run.follow(canaries)
        again = run.afresh()
        run.ask_without_those_behind()
    except ElisionError as error:
        found.problems[f"{name}: {error}"] = None
        return
    finally:
        found.requests += run.requests
        found.proposed |= run.proposed
    found.fates.extend(fates(run, canaries, gone, last))
    found.problems.update(dict.fromkeys(f"{name}: {failure.told}" for failure in last.failures))
    for told in _differences(last.messages, again.messages):
        found.problems[f"{name}: {told}"] = None


def _has_its_classes(run: Run, planted: Planted) -> bool:
    """Whether an observation has the classes in this dialect that it was planted for: not each marks failed calls."""
    paired = run.paired.get(planted.of)
    if paired is None or run.standing.table is None:
        return paired is not None
    run.advance(len(run.history))
    return run.standing.classes(paired) == planted.classes


def _differences(session: Sequence[object], fresh: Sequence[object]) -> Iterator[str]:
    if sent_text(session) == sent_text(fresh):
        return
    pairs = enumerate(zip(session, fresh, strict=False))
    at = next(
        (at for at, (one, other) in pairs if sent_text([one]) != sent_text([other])), min(len(session), len(fresh))
    )
    yield f"a fresh process sends another view of the same history: message {at} differs; plan must keep no state"


def _told(lost: Iterable[Fate]) -> list[str]:
    """Say each failure once, with all dialects that have it."""
    found: dict[tuple[str, ...], list[str]] = {}
    for fate in lost:
        key = (fate.of, fate.where, str(fate.step), fate.problem)
        found.setdefault(key, []).append(fate.dialect)
    return [
        f"{of}, {where}, step {step} ({', '.join(dialects)}): {problem}"
        for (of, where, step, problem), dialects in found.items()
    ]


def _warnings(chain: Chain, found: _Found) -> Iterator[str]:
    names = dict.fromkeys(processor.type_name for processor in chain.processors)
    for name in names:
        if name not in found.proposed:
            yield (
                f"{name} never proposed an edit in this conversation, so nothing is known of it; "
                "add a history in which it does to 'tests:'"
            )
    if chain.table is not None:
        yield from _given_away(chain, chain.table)
    withheld = dict.fromkeys(fate.by for fate in found.fates if fate.state == "withheld")
    if withheld and chain.opened_archive.stored == "full":
        yield "stored_policy: full keeps nothing of an original, so what is removed does not come back"
    for by in withheld if chain.opened_archive.stored != "full" else ():
        yield f"{by} withholds whole results (policy full), whatever their class"


def _given_away(chain: Chain, table: Table) -> Iterator[str]:
    """Yield where the table lets the chain remove what cannot be had again."""
    operations = dict.fromkeys(each.operation for each in chain.processors if each.operation in REMOVING)
    for name, what in _GIVEN_AWAY.items():
        for operation in operations if name in table.classes else ():
            cell = table.classes[name].cell(operation)
            if cell.allowed and not (name == "skill" and cell.max_tokens is not None):
                yield (
                    f"the table {table.name!r} lets '{operation}' remove a {name} ({cell}): {what}; "
                    "write 'never' there to keep it"
                )


def _notes(chain: Chain, unreached: Iterable[str], found: _Found) -> Iterator[str]:
    if chain.table is None:
        yield f"classification: none: nothing must be kept but {', '.join(ALWAYS_KEPT)}"
    elif exempt := [each.type_name for each in chain.processors if own_of_sweagent(chain, each)]:
        yield f"compat: sweagent: these ask no table, so what they remove need only come back: {', '.join(exempt)}"
    for name in unreached:
        yield f"{name}: not tried: no rule leads to it"
    by_dialects: dict[tuple[str, ...], list[str]] = {}
    for name, missed in found.missing.items():
        by_dialects.setdefault(tuple(missed), []).append(name)
    for dialects, names in by_dialects.items():
        yield (
            f"{'; '.join(names)}: not tried in {', '.join(dialects)}: "
            "results have other classes there (it has no mark for a call that failed)"
        )
