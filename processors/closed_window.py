"""``closed_window``: outdate all but the last window that shows a file."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from typing import ClassVar, Literal

from elision import Address, Content, Edit, Observation, Operation, PartView, Processor, Role, Stage, Text, View

_BEGIN = re.compile(r"\[File:[ \t]")
_TOTAL = re.compile(r"[ \t]\(\d+[ \t]+lines total\)\]")
_OUTDATED = "Outdated window with"
_NUMBERED_LINE = re.compile(r"^(\d{1,9}):[^\n]*(?:\n|\Z)", re.MULTILINE)


class ClosedWindow(Processor):
    """Replace the lines of every window that shows a file which a later window shows again.

    Cost: rewrites the cached prefix from the outdated window, whenever a file is shown again.

    ```yaml
    history_processors:
      - type: closed_window
    ```

    A window begins with a line ``[File: path (N lines total)]`` and holds numbered lines (``12:code``), as SWE-agent's
    windowed tools print them.  Shape: the numbered lines become ``Outdated window with N lines omitted...``; everything
    else in the message stays, and numbered lines after such a note are no window.  Never touches messages without such
    a header, the last window of a file, demonstrations, system and assistant messages.  Source: SWE-agent's processor
    of the same name (docs/compatibility.md lists where it differs).
    """

    stage: ClassVar[Stage] = "history"
    operation: ClassVar[Operation] = "supersede"
    touches: ClassVar[frozenset[Role]] = frozenset({"user"})
    cost: ClassVar[str] = "rewrites the cached prefix when a file is shown again"

    type: Literal["closed_window"] = "closed_window"

    def plan(self, view: View) -> Iterator[Edit]:
        """Propose to outdate the earlier windows of the files that have just been shown."""
        index = view.index(_files)
        entered = frozenset(index.entered)
        outdated: dict[Address, set[str]] = {}
        for file in sorted({str(key) for address in entered for key in index.keys_of.get(address, ())}):
            for address in _superseded(view, sorted(index.by_key[file]), entered):
                outdated.setdefault(address, set()).add(file)
        for address, files in outdated.items():
            part = view.part(address)
            closed = tuple(_closed(piece, files, always=view.compat is not None) for piece in part.content)
            if closed != part.content:
                yield part.replace(closed, reason="shown again later")


def _superseded(view: View, shown: list[Address], entered: frozenset[Address]) -> list[Address]:
    """Return which of a file's windows have just stopped being the last; those before them were proposed earlier."""
    *earlier, last = shown
    found = [address for address in earlier if address in entered]
    known = [address for address in earlier if address not in entered]
    if last in entered and known:
        found.append(known.pop())
        # The guard leaves the newest step alone, so its first windows were refused when its last one came in.
        while known and _same_step(view.part(known[-1]), view.part(found[-1])):
            found.append(known.pop())
    return sorted(found)


def _same_step(one: PartView, other: PartView) -> bool:
    return isinstance(one, Observation) and isinstance(other, Observation) and one.step == other.step >= 0


def _files(part: PartView) -> list[str]:
    if part.role not in {"user", "tool"} or part.demo:
        return []
    return [file for piece in part.content if isinstance(piece, Text) for file, *_ in _windows(piece.text)]


def _headers(text: str) -> list[tuple[str, int, int]]:
    """Return the path in each header, and where the header begins and ends; every character is looked at once."""
    found: list[tuple[int, int, int, int]] = []
    upto = 0
    for total in _TOTAL.finditer(text):
        line = text.rfind("\n", upto, total.start()) + 1
        if found and not line and found[-1][3] == upto:
            found[-1] = (*found[-1][:2], total.start(), total.end())
        elif begin := _BEGIN.search(text, max(line, upto), total.start()):
            found.append((begin.start(), begin.end(), total.start(), total.end()))
        upto = total.end()
    return [(text[path:stop].strip(" \t"), start, end) for start, path, stop, end in found]


def _windows(text: str) -> list[tuple[str, int, int, int]]:
    """Return each file shown, with the span and the number of its lines: those numbered in a row after its header."""
    headers = _headers(text)
    limits = [start for _, start, _ in headers[1:]] + [len(text)]
    found = []
    for (path, _, begin), limit in zip(headers, limits, strict=False):
        first = line = _NUMBERED_LINE.search(text, begin, limit)
        if not path or not first or text.find(_OUTDATED, begin, first.start()) >= 0:
            continue
        count = 0
        while line:
            count, end = count + 1, line.end()
            following = _NUMBERED_LINE.match(text, end, limit)
            line = following if following and int(following[1]) == int(line[1]) + 1 else None
        found.append((posixpath.normpath(path), first.start(), end, count))
    return found


def _closed(piece: Content, files: set[str], *, always: bool) -> Content:
    """Put the note in place of the files' windows; of one that is shorter than the note only ``always``."""
    if not isinstance(piece, Text):
        return piece
    kept, upto = "", 0
    for file, start, end, count in _windows(piece.text):
        note = f"{_OUTDATED} {count} lines omitted...\n"
        if file in files and (always or len(note) <= end - start):
            kept += piece.text[upto:start] + note
            upto = end
    return Text(kept + piece.text[upto:], piece.raw) if upto else piece
