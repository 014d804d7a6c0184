"""Lines and pages of a text."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from elision.errors import ArchiveError
from elision.expressions import compile_regex

GREP_SECONDS = 2.0
_LINE = re.compile(r"[^\n]*\n|[^\n]+")
_RANGE = re.compile(r"\s*(\d{0,12})\s*(:?)\s*(\d{0,12})\s*")


class Line(NamedTuple):
    """One line with its end, and its number, from 1."""

    number: int
    text: str


def lines_of(text: str) -> list[Line]:
    """Return the lines of a text; put together they are the text."""
    return [Line(number, match[0]) for number, match in enumerate(_LINE.finditer(text), start=1)]


def range_of(lines: list[Line], asked: str | None) -> list[Line]:
    """Return the lines ``A:B``, counted from 1, both included; either end can be left out."""
    if asked is None:
        return lines
    first, last = _range(asked, len(lines), "lines")
    return lines[first - 1 : last]


def records_in(texts: Sequence[str], record: int | None, records: str | None) -> tuple[str, str]:
    """Return the records of a result that were asked for, each exactly as it stands there, and which they are."""
    from elision.reducing import record_texts

    if record is not None and records is not None:
        raise ArchiveError("record: 'records' is given, too; give one of them")
    found = record_texts(texts)
    if found is None:
        raise ArchiveError(
            "record: the original has no records: it is no JSON with a list in it, nor lines of JSON; ask for lines"
        )
    asked = records if records is not None else str(record)
    first, last = _range(asked, len(found), "records" if records is not None else "record")
    told = f"{first}" if first == last else f"{first}:{min(last, len(found))}"
    return "\n".join(found[first - 1 : last]), f"{told} of {len(found):,}"


def _range(asked: str, count: int, what: str) -> tuple[int, int]:
    """Return the first and the last of a range ``A:B``; either end can be left out."""
    match = _RANGE.fullmatch(asked)
    if match is None or not (match[1] or match[3]) or (not match[2] and match[3]):
        raise ArchiveError(f"{what}: {asked[:80]!r} is no range; write 10:20, 10:, :20 or 7")
    first = int(match[1] or 1)
    last = int(match[3] or count) if match[2] else first
    if first < 1 or last < first or first > count:
        noun = "lines" if what == "lines" else "records"
        raise ArchiveError(f"{what}: there is no {asked.strip()[:80]}; the original has the {noun} 1:{count}")
    return first, last


def grep_lines(lines: list[Line], pattern: str) -> list[Line]:
    """Return the lines in which a pattern is found, each with an end."""
    try:
        found = list(_matching(lines, compile_regex(pattern)))
    except ValueError as error:
        raise ArchiveError(f"grep: {pattern[:80]!r} {error}") from error
    except MemoryError as error:
        raise ArchiveError(f"grep: {pattern[:80]!r} needs too much memory; use a simpler pattern") from error
    except TimeoutError:
        raise ArchiveError(
            f"grep: {pattern[:80]!r} took longer than {GREP_SECONDS:g} seconds; use a simpler pattern, or name lines"
        ) from None
    return [line if line.text.endswith("\n") else Line(line.number, f"{line.text}\n") for line in found]


def _matching(lines: list[Line], pattern: Any) -> Iterator[Line]:
    deadline = time.monotonic() + GREP_SECONDS
    for line in lines:
        left = deadline - time.monotonic()
        if left <= 0:
            raise TimeoutError
        if pattern.search(line.text.rstrip("\r\n"), timeout=left):
            yield line


def page_of(text: str, page: int, page_chars: int | None) -> tuple[str, int]:
    """Return one page of a text, and how many there are; cuts are between lines where they can be."""
    if page_chars is not None and page_chars < 1:
        raise ArchiveError("page_chars: a page has at least 1 character; give more")
    cuts = [0, *_cuts(text, page_chars), len(text)] if page_chars else [0, len(text)]
    pages = len(cuts) - 1
    if not 1 <= page <= pages:
        raise ArchiveError(f"page: there is no page {page}; there are the pages 1 to {pages}")
    return text[cuts[page - 1] : cuts[page]], pages


def _cuts(text: str, page_chars: int) -> Iterator[int]:
    at = 0
    while len(text) - at > page_chars:
        limit = at + page_chars
        line_end = text.rfind("\n", at, limit) + 1
        at = line_end if line_end > at else _between_graphemes(text, at, limit)
        yield at


def _between_graphemes(text: str, start: int, limit: int) -> int:
    """Return the last place up to ``limit`` that does not fall inside what a reader sees as one character."""
    import regex

    window = max(start, limit - 64)
    found = regex.finditer(r"\X", text, pos=window, endpos=min(len(text), limit + 64))
    fitting = [match.end() for match in found if start < match.end() <= limit]
    return fitting[-1] if fitting else limit
