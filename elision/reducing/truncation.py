"""Head and tail of a long result, with the count of what is between."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import groupby
from typing import Literal, NamedTuple

from elision.message import Content, Text, plain
from elision.reducing.bounds import head_end, sendable, tail_start
from elision.reducing.data import binary_note, is_binary, without_base64, without_nuls
from elision.reducing.error_lines import error_lines, error_places
from elision.reducing.evenly import most_of_each
from elision.reducing.json_text import are_json_lines, is_json, is_json_line
from elision.reducing.limit import Limit, is_shorter

_LONGEST_SEARCHED = 2_000_000
"""Characters up to which all of a text is searched for data; of a longer one what is left of it is."""

_ROUNDS = 8
"""How often head and tail are halved where they are too long still."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Truncation:
    """How a long result is cut."""

    threshold_tokens: int | None = 8000
    threshold_chars: int | None = None
    head_chars: int = 6000
    tail_chars: int = 3000
    head_lines: int | None = None
    tail_lines: int | None = None
    keep_error_lines: int = 10
    error_pattern: str | None = None

    def halved(self, times: int) -> Truncation:
        """Return the same with shorter heads and tails, and fewer lines."""
        head, tail, errors = (length >> times for length in (self.head_chars, self.tail_chars, self.keep_error_lines))
        return replace(self, head_chars=head, tail_chars=tail, keep_error_lines=errors)

    def shared(self, chars: int) -> Truncation:
        """Return the same for one text of a result of several, which may have so many characters."""
        head = chars * self.head_chars // max(self.head_chars + self.tail_chars, 1)
        return replace(self, head_chars=head, tail_chars=chars - head)


class _Run(NamedTuple):
    """Texts of a result that stand side by side, as one text; or one part of it that is no text."""

    pieces: tuple[Content, ...]
    text: str | None
    """The text as it may be sent: data is named instead."""
    form: Literal["text", "JSON", "lines of JSON"] = "text"
    errors: Sequence[int] = ()
    """Where something in it looks like an error."""


def truncate_content(
    content: Iterable[Content],
    how: Truncation,
    *,
    way_back: Callable[[], str] = str,
    model: str | None = None,
    first_found: Callable[[str, str], str] = lambda _, found: found,
) -> tuple[Content, ...] | None:
    """Return a long result cut to its head and tail; ``None`` where it is short, or would not become shorter.

    Images stay.  ``way_back`` says how the whole is had; it is asked only where something is cut.  ``first_found`` is
    told about what, and what was found now, where that is a matter of time, and returns what was found first.
    """
    found = tuple(content)
    limit = Limit(how.threshold_tokens, how.threshold_chars, model)
    before = [part.text for part in found if isinstance(part, Text)]
    if not limit.passed(before):
        return None
    told = way_back()
    runs = [_looked_at(run, how, told, first_found) for run in _runs(found)]
    for times in range(-1, _ROUNDS):
        made = tuple(_cut(runs, how.halved(times), told) if times >= 0 else _uncut(runs))
        after = [part.text for part in made if isinstance(part, Text)]
        if not limit.passed(after) and is_shorter(after, before, model):
            return made
    return None


def _runs(content: Iterable[Content]) -> Iterator[_Run]:
    for are_texts, pieces in groupby(content, key=lambda piece: isinstance(piece, Text)):
        if are_texts:
            together = tuple(pieces)
            yield _Run(together, plain(together))
        else:
            yield from (_Run((piece,), None) for piece in pieces)


def _looked_at(run: _Run, how: Truncation, way_back: str, first_found: Callable[[str, str], str]) -> _Run:
    if run.text is None:
        return run
    text = without_nuls(run.text, way_back)
    if is_binary(text):
        return run._replace(text=binary_note(run.text, way_back))
    text = without_base64(text, way_back) if len(text) <= _LONGEST_SEARCHED else text
    errors: Sequence[int] = ()
    if how.keep_error_lines:
        about = f"error_pattern\0{how.error_pattern}\0{text}"
        errors = error_places(
            text, how.error_pattern, head=how.head_chars, tail=how.tail_chars, agreed=partial(first_found, about)
        )
    if is_json(text):
        return run._replace(text=text, form="JSON", errors=errors)
    return run._replace(text=text, form="lines of JSON" if are_json_lines(text) else "text", errors=errors)


def _uncut(runs: Iterable[_Run]) -> Iterator[Content]:
    for run in runs:
        if run.text is None or run.text == plain(run.pieces):
            yield from run.pieces
        else:
            yield Text(sendable(run.text))


def _cut(runs: list[_Run], how: Truncation, way_back: str) -> Iterator[Content]:
    room = most_of_each([len(run.text) for run in runs if run.text is not None], how.head_chars + how.tail_chars)
    for run in runs:
        if run.text is None or len(run.text) <= room:
            yield from _uncut([run])
        else:
            yield Text(_truncated(run.text, run, how.shared(room), way_back))


def _truncated(text: str, run: _Run, how: Truncation, way_back: str) -> str:
    """Return the head and the tail of a text and, between them, how much is left out and how it is had.

    JSON becomes an object with head and tail; so do lines of JSON where one of them would have to be cut.
    """
    start, stop = head_end(text, how.head_chars, how.head_lines), tail_start(text, how.tail_chars, how.tail_lines)
    if start >= stop:
        return text
    errors = error_lines(text, run.errors, start, stop, most=how.keep_error_lines)
    cut = _Cut(text, start, stop, way_back, [*map(str, errors)])
    if run.form == "text":
        return cut.as_text()
    return (cut.as_json_lines() if run.form == "lines of JSON" else None) or cut.as_object()


class _Cut(NamedTuple):
    """A text, and what is left out of it."""

    text: str
    start: int
    stop: int
    way_back: str
    errors: list[str]

    @property
    def head(self) -> str:
        return sendable(without_base64(self.text[: self.start], ""))

    @property
    def tail(self) -> str:
        return sendable(without_base64(self.text[self.stop :], ""))

    @property
    def chars(self) -> int:
        return self.stop - self.start

    @property
    def lines(self) -> int:
        return self.text.count("\n", self.start, self.stop)

    def facts(self) -> dict[str, object]:
        """Return what is said of the cut in JSON; what is empty is left out."""
        facts = {
            "left_out_chars": self.chars,
            "left_out_lines": self.lines,
            "way_back": self.way_back,
            "error_lines": self.errors,
        }
        return {"truncated": True, **{name: fact for name, fact in facts.items() if fact}}

    def as_object(self) -> str:
        return json.dumps({**self.facts(), "head": self.head, "tail": self.tail}, ensure_ascii=False)

    def as_json_lines(self) -> str | None:
        """Return the lines with one among them that says what is left out; ``None`` where what stays is no JSON."""
        head, tail = self.head, self.tail
        whole = (not head or head.endswith("\n")) and (not tail or self.text[self.stop - 1] == "\n")
        if not whole or not all(is_json_line(line) for line in f"{head}{tail}".split("\n") if line.strip()):
            return None
        return f"{head}{json.dumps(self.facts(), ensure_ascii=False)}{self._line_end}{tail}"

    def as_text(self) -> str:
        head, end, errors = self.head, self._line_end, self.errors
        lines = f", {self.lines} lines," if self.lines > 1 else ""
        told = "; ".join(part for part in (f"{self.chars} chars{lines} left out here", self.way_back) if part)
        if errors:
            told += f"; among them:{end}{end.join(errors)}{end}end of what is left out"
        return f"{head}{'' if not head or head.endswith(chr(10)) else end}[{told}]{end}{self.tail}"

    @property
    def _line_end(self) -> str:
        """The line end before the tail, so that a cut falls between characters; that of a text in lines."""
        return "\r\n" if self.text.endswith("\r\n", self.start, self.stop) else "\n"
