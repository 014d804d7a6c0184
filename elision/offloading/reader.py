"""Which tool of a request can read a file."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from elision.message import ToolCall

if TYPE_CHECKING:
    from elision.classification import Table

_PROBE = "src/probe.txt"
_PATHS = ("path", "file_path", "filePath", "filename", "file", "target_file", "absolute_path", "uri")
_COMMANDS = ("command", "cmd")
_READERS = re.compile(
    r"(?i)(?:.*(?:__|[./]))?(?:read|view|open|get|cat|load|show)(?:_?(?:text_?)?(?:file|lines|document))?(?:_?contents?)?"
)
_SHELLS = re.compile(
    r"(?i)(?:.*(?:__|[./]))?(?:execute_|run_|local_)*(?:bash|shell|terminal|sh|command|execute)(?:_command)?"
)


def file_reader(offered: frozenset[str] | None, table: Table | None) -> str:
    """Return the offered tool that reads files best: one made for it before a shell, the shorter name first.

    What the table says of a tool's calls counts before its name; nothing where no tool is known to read files.
    """
    return "" if not offered else _best(offered, table)


@lru_cache(maxsize=256)
def _best(offered: frozenset[str], table: Table | None) -> str:
    names = sorted(offered, key=lambda name: (len(name), name))
    ways: tuple[Callable[[str], bool], ...] = (
        lambda name: table is not None and _reads(name, table),
        lambda name: _READERS.fullmatch(name) is not None,
        lambda name: table is not None and _runs(name, table),
        lambda name: _SHELLS.fullmatch(name) is not None,
    )
    return next((name for way in ways for name in names if way(name)), "")


def _reads(name: str, table: Table) -> bool:
    """Whether a tool, by the table, reproducibly reads the file that an argument of it names."""
    for arguments in _of_path():
        call = ToolCall("", name, arguments)
        if table.resource(call) == _PROBE and table.classify(call).classes == {"static"}:
            return True
    return False


def _runs(name: str, table: Table) -> bool:
    """Whether a tool, by the table, runs a shell command that reads a file."""
    commands: Iterable[Mapping[str, Any]] = ({key: f"cat {_PROBE}"} for key in _COMMANDS)
    bare, *given = (table.classify(ToolCall("", name, each)).classes == {"static"} for each in ({}, *commands))
    return not bare and any(given)


def _of_path() -> Iterator[Mapping[str, Any]]:
    for key in _PATHS:
        yield {key: _PROBE}
        yield {"command": "view", key: _PROBE}
