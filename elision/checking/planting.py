"""What is planted for a table: an observation of each of its classes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from elision.checking.demand import Demand
from elision.checking.samples import Sample, sample_for
from elision.checking.script import Planted, Script
from elision.classification import Table

_ERROR = "error"
_FALLBACK = Sample("read_file", {"path": "app/settings.py"})


def script_for(table: Table, demand: Demand) -> tuple[Script, tuple[str, ...]]:
    """Return the conversation for a table, and the classes to which no rule leads."""
    planted: list[Planted] = []
    missing: list[str] = []
    for name in table.classes:
        found = list(_errors(table) if name == _ERROR else _of_class(table, name))
        planted.extend(found)
        if not found:
            missing.append(name)
    ordinary = [each.sample for name in ("static", "dynamic") for each in planted if each.classes == {name}]
    return Script(tuple(planted), (ordinary or [_FALLBACK])[0], demand), tuple(missing)


def _of_class(table: Table, name: str) -> Iterator[Planted]:
    wanted = frozenset({name})
    sample = sample_for(table, wanted)
    if sample is not None:
        yield Planted(name, sample.classes(table), sample)


def _errors(table: Table) -> Iterator[Planted]:
    """Yield a failed call that never succeeds, one that does later, and a failed write."""
    for base in ("dynamic", "static"):
        sample = sample_for(table, frozenset({_ERROR, base}))
        if sample is not None:
            yield Planted(_ERROR, sample.classes(table), _marked(sample, "once"))
            yield Planted("error, resolved", sample.classes(table), _marked(sample, "twice"), resolved=True)
            break
    write = sample_for(table, frozenset({_ERROR, "receipt"}))
    if write is not None:
        yield Planted("error, receipt", write.classes(table), _marked(write, "write"))


def _marked(sample: Sample, mark: str) -> Sample:
    """Make the call unlike any other, so that none but its own repetition resolves it."""
    return replace(sample, arguments={**sample.arguments, "note": mark})
