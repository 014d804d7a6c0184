"""A long list of records in JSON: how many there are, the first ones in brief, and the handle by which each is had."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from elision.graphemes import bound_at
from elision.message import Content, Text
from elision.reducing.json_text import Number, write
from elision.reducing.limit import Limit, is_shorter
from elision.reducing.records import Records, find_records

_INNER = 3
"""Elements that are shown of a list inside a record."""

_SHORTEST_VALUE = 24
_DEEPEST = 32
"""Levels of a record that are shown; JSON can be as deep as it is long."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Slimming:
    """How a list of records is shown."""

    threshold_tokens: int | None = 2000
    threshold_chars: int | None = None
    records: int = 5
    fields: tuple[str, ...] = ()
    value_chars: int = 200

    def smaller(self) -> Iterable[tuple[int, int]]:
        """Yield how many records, and characters of a value, to show: less each time."""
        records, chars = self.records, self.value_chars
        while True:
            yield records, chars
            if chars <= _SHORTEST_VALUE and records <= 1:
                return
            if chars > _SHORTEST_VALUE:
                chars = max(chars // 2, _SHORTEST_VALUE)
            else:
                records //= 2


def slim_content(
    content: Iterable[Content], how: Slimming, *, way_back: Callable[[], str] = str, model: str | None = None
) -> tuple[Content, ...] | None:
    """Return a long result with its longest list of records in brief; ``None`` where it is short or has no records.

    ``way_back`` says how the whole is had; it is asked only where something is left out.
    """
    found = tuple(content)
    limit = Limit(how.threshold_tokens, how.threshold_chars, model)
    places = [index for index, part in enumerate(found) if isinstance(part, Text)]
    texts = [part.text for part in found if isinstance(part, Text)]
    records = find_records(texts) if limit.passed(texts) else None
    if records is None:
        return None
    chosen = records.text
    told = way_back()
    before, behind = texts[chosen][: records.start], texts[chosen][records.stop :]
    for count, chars in how.smaller():
        text = before + _Brief(records, count, chars, how.fields).text(told) + behind
        after = [*texts[:chosen], text, *texts[chosen + 1 :]]
        if not limit.passed(after) and is_shorter(after, texts, model):
            place = places[chosen]
            return (*found[:place], Text(text), *found[place + 1 :])
    return None


@dataclass(frozen=True, slots=True)
class _Brief:
    """Records, how many of them are shown, and how much of each."""

    found: Records
    count: int
    chars: int
    fields: tuple[str, ...]

    def text(self, way_back: str) -> str:
        records, at = self.found.records, ".".join(self.found.at)
        shown = [self._brief(record) for record in records[: self.count]]
        facts: dict[str, Any] = {"total": Number(len(records)), "shown": Number(len(shown))}
        if at:
            facts["at"] = at
        if way_back:
            facts["way_back"] = f"{way_back} with record=N, N from 1 to {len(records)}, or records=A:B"
        if self.found.are_lines:
            return "\n".join(map(write, [{"slim": facts}, *shown]))
        beside = self.found.beside
        return write({"slim": facts, **({"beside": self._short(beside)} if beside else {}), "records": shown})

    def _brief(self, record: Any) -> Any:
        picked = {field: value for field in self.fields for value in _at(record, field.split("."))}
        return self._short(picked or record)

    def _short(self, value: Any, depth: int = _DEEPEST) -> Any:
        match value:
            case Number():
                return value
            case str():
                return _shortened(value, self.chars)
            case dict() | list() if not depth:
                return "…"
            case dict():
                return {name: self._short(inner, depth - 1) for name, inner in value.items()}
            case list():
                more = [f"… {len(value) - _INNER} more"] if len(value) > _INNER else []
                return [self._short(inner, depth - 1) for inner in value[:_INNER]] + more
            case _:
                return value


def _at(value: Any, names: list[str], depth: int = _DEEPEST) -> list[Any]:
    """Return what stands at a dotted path, in a list; nothing where nothing does.  In lists, of each element."""
    if not names:
        return [value]
    if isinstance(value, list):
        found = [one for inner in value for one in _at(inner, names, depth - 1)] if depth else []
        return [found] if found else []
    if not isinstance(value, dict):
        return []
    whole = ".".join(names)
    if whole in value:
        return [value[whole]]
    return _at(value[names[0]], names[1:]) if names[0] in value else []


def _shortened(text: str, chars: int) -> str:
    if len(text) <= chars:
        return text
    end = bound_at(text, chars)
    cut = f"{text[:end]}… {len(text) - end} more chars"
    return cut if len(cut) < len(text) else text
