"""What a conversation must have so that the processors of a chain act: read off their options."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from elision.checking.matching import matching_regex
from elision.processor import Processor

_UNITS = {"tokens": 6.0, "chars": 1.2, "bytes": 1.2}
"""Characters that a result must have for each unit of an option that ends in this word."""
_SHORTEST, _LONGEST = 2_000, 100_000
_FEWEST, _MOST = 12, 300
_MOST_STEPS_OF_AN_OPTION = 250
_RECORDS = 60
_RECORD_CHARS = 40


@dataclass(frozen=True, slots=True)
class Demand:
    """How many ordinary steps follow the canaries, how long results are, which tools are called, what stands in texts.

    ``patterns`` are the regular expressions among the options.
    """

    steps: int
    chars: int
    tools: tuple[str, ...]
    patterns: tuple[str, ...]
    records: int = _RECORDS
    """Records in a list of JSON."""


def demand_of(processors: Iterable[Processor]) -> Demand:
    """Read the options of a chain's processors."""
    steps, chars, records = _FEWEST, _SHORTEST, _RECORDS
    tools: dict[str, None] = {}
    patterns: dict[str, None] = {}
    for processor in processors:
        options = list(_flat(processor.model_dump(exclude={"type"})))
        counts = [value for name, value in options if _is_count(name, value)]
        steps = max(steps, sum(counts) + _FEWEST)
        sizes = [value * _UNITS[unit] for name, value in options if (unit := _unit(name)) and _is_number(value)]
        chars = max([chars, *map(int, sizes)])
        if processor.operation == "slim":
            records = max([records, *(int(size) // _RECORD_CHARS for size in sizes)])
        for name, value in options:
            if isinstance(value, str) and ("tool" in name or "function" in name):
                tools[value] = None
            elif isinstance(value, str) and not value.isidentifier() and matching_regex(value):
                patterns[value] = None
    return Demand(min(steps, _MOST), min(chars, _LONGEST), tuple(tools), tuple(patterns), records)


def _flat(value: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the plain values among options, each with the name of the option that holds it."""
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _flat(inner, str(key))
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _flat(inner, name)
    elif isinstance(value, set | frozenset):
        for inner in sorted(value, key=repr):
            yield from _flat(inner, name)
    else:
        yield name, value


def _unit(name: str) -> str:
    last = name.rpartition("_")[2]
    return last if last in _UNITS else ""


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_count(name: str, value: Any) -> bool:
    whole = isinstance(value, int) and not isinstance(value, bool)
    return whole and not _unit(name) and 0 < value <= _MOST_STEPS_OF_AN_OPTION
