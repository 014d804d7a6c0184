"""``closed_window``: outdate all but the last window that shows a file."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from typing import ClassVar, Literal

from elision import Address, Content, Edit, Operation, PartView, Processor, Role, Stage, Text, View

_HEADER = re.compile(r"\[File:[ \t]+(.*)[ \t]+\(\d+[ \t]+lines total\)\]")
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
    else in the message stays.  Never touches messages without such a header, the last window of a file,
    demonstrations, system and assistant messages.  Source: SWE-agent's processor of the same name
    (docs/compatibility.md lists where it differs).
    """

    stage: ClassVar[Stage] = "history"
    operation: ClassVar[Operation] = "supersede"
    touches: ClassVar[frozenset[Role]] = frozenset({"user"})
    cost: ClassVar[str] = "rewrites the cached prefix when a file is shown again"

    type: Literal["closed_window"] = "closed_window"

    def plan(self, view: View) -> Iterator[Edit]:
        """Propose to outdate the earlier windows of the files that have just been shown."""
        index = view.index(_files)
        shown = {key for address in index.entered for key in index.keys_of.get(address, ())}
        outdated: dict[Address, set[str]] = {}
        for file in sorted(map(str, shown)):
            for address in sorted(index.by_key[file])[:-1]:
                outdated.setdefault(address, set()).add(file)
        for address, files in outdated.items():
            part = view.part(address)
            closed = [_closed(piece, files, always=view.compat is not None) for piece in part.content]
            yield part.replace(closed, reason="shown again later")


def _files(part: PartView) -> list[str]:
    if part.role not in {"user", "tool"} or part.demo:
        return []
    return [file for piece in part.content if isinstance(piece, Text) for file, *_ in _windows(piece.text)]


def _windows(text: str) -> list[tuple[str, int, int, int]]:
    """Return each file shown, with the span and the number of its lines: those numbered in a row after its header."""
    headers = list(_HEADER.finditer(text))
    ends = [header.start() for header in headers[1:]] + [len(text)]
    found = []
    for header, limit in zip(headers, ends, strict=False):
        first = line = _NUMBERED_LINE.search(text, header.end(), limit)
        count = 0
        while line:
            count, end = count + 1, line.end()
            following = _NUMBERED_LINE.match(text, end, limit)
            line = following if following and int(following[1]) == int(line[1]) + 1 else None
        if first:
            found.append((posixpath.normpath(header[1]), first.start(), end, count))
    return found


def _closed(piece: Content, files: set[str], *, always: bool) -> Content:
    """Put the note in place of the files' windows; of one that is shorter than the note only ``always``."""
    if not isinstance(piece, Text):
        return piece
    text = piece.text
    for file, start, end, count in reversed(_windows(text)):
        note = f"Outdated window with {count} lines omitted...\n"
        if file in files and (always or len(note) <= end - start):
            text = f"{text[:start]}{note}{text[end:]}"
    return Text(text, piece.raw)
