"""Recall: an original, or some lines of it, by its ref; paged, and redacted as the view was."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from elision.archive.archive import Archive
from elision.archive.content import Content
from elision.archive.entry import Original, Ref
from elision.archive.excerpt import Line, grep_lines, lines_of, page_of, range_of, records_in
from elision.archive.opening import DEFAULT, open_archive
from elision.redaction import Policy, redact_content

PAGE_CHARS = 20_000
_DATA_SHOWN = 60


@dataclass(frozen=True, slots=True)
class Recalled:
    """One page of what was asked for.  The texts of all pages, one after the other, are all of it.

    ``total_lines`` are those of the whole original, ``lines`` those that were asked for.
    """

    ref: str
    text: str
    total_lines: int
    lines: int
    page: int
    pages: int
    policy: Policy
    records: str = ""
    """Which records were asked for, of how many: ``3 of 812``; empty if none were."""

    @property
    def note(self) -> str:
        """What a reader must know beside the text; empty if it is all of the original."""
        said = []
        if self.pages > 1:
            said.append(f"page {self.page} of {self.pages}")
        if self.records:
            said.append(f"record {self.records}")
        if self.lines != self.total_lines:
            said.append(f"{self.lines:,} of {self.total_lines:,} lines")
        if self.policy != "none":
            said.append(f"redacted ({self.policy})")
        return "; ".join(said)


def recall(
    ref: Ref | str,
    *,
    lines: str | None = None,
    grep: str | None = None,
    record: int | None = None,
    records: str | None = None,
    page: int = 1,
    page_chars: int | None = PAGE_CHARS,
    raw: bool = False,
    archive: Archive | str | None = None,
) -> Recalled:
    """Return an original, as the view's policy lets the model see it.

    ``lines`` is a range (``10:20``, ``10:``, ``:20``, ``7``; from 1, both ends included), ``grep`` a pattern: its lines
    come with their numbers.  ``record`` is one of the records of a result in JSON, exactly as it stands there, counted
    from 1, and ``records`` a range of them, one after the other; lines and pattern are then those of that.  ``raw``
    goes past the policy; parts then come as the JSON that they are.  ``page_chars=None`` gives all at once.  Raises
    :class:`elision.ArchiveError` when there is nothing to give.
    """
    original = _get(ref, archive)
    policy: Policy = "none" if raw else original.view_policy
    content = redact_content(original.content, policy)
    picked = ""
    text = _raw_text(content) if raw and record is None and records is None else as_text(content)
    if record is not None or records is not None:
        text, picked = records_in(_texts(content), record, records)
    every = lines_of(text)
    chosen: list[Line] = range_of(every, lines)
    if grep is not None:
        chosen = grep_lines(chosen, grep)
        text = "".join(f"{line.number}:{line.text}" for line in chosen)
    else:
        text = "".join(line.text for line in chosen)
    cut, pages = page_of(text, page, page_chars)
    return Recalled(original.ref.short, cut, len(every), len(chosen), page, pages, policy, picked)


def _get(ref: Ref | str, archive: Archive | str | None) -> Original:
    if isinstance(archive, Archive):
        return archive.get(ref)
    with open_archive(archive or DEFAULT) as opened:
        return opened.get(ref)


def _texts(content: Content) -> list[str]:
    """Return the texts of content, in which records can be."""
    parts = [content] if isinstance(content, str | Mapping) else content
    return [text for part in parts if isinstance(text := part.get("text") if isinstance(part, Mapping) else part, str)]


def as_text(content: Content) -> str:
    """Return content as a model reads it: the texts of its parts; data is named, and anything else is JSON."""
    if isinstance(content, str):
        return content
    parts = [content] if isinstance(content, Mapping) else content
    return "\n".join(_part_text(part) for part in parts)


def _part_text(part: Any) -> str:
    if isinstance(part, str):
        return part
    if isinstance(part, Mapping) and isinstance(part.get("text"), str):
        return str(part["text"])
    return json.dumps(_without_data(part), ensure_ascii=False)


def _without_data(value: Any) -> Any:
    """Return a part with its data, which is no text, named instead of written out."""
    if isinstance(value, str) and value.startswith("data:") and len(value) > _DATA_SHOWN:
        return f"[{value[5:].partition(',')[0][:_DATA_SHOWN]}: {len(value):,} characters]"
    if isinstance(value, Mapping):
        is_data = value.get("type") == "base64" and isinstance(value.get("data"), str)
        given = {**value, "data": f"[{len(value['data']):,} characters]"} if is_data else value
        return {key: _without_data(inner) for key, inner in given.items()}
    return [_without_data(inner) for inner in value] if isinstance(value, list) else value


def _raw_text(content: Content) -> str:
    return content if isinstance(content, str) else json.dumps(content, ensure_ascii=False, separators=(",", ":"))
