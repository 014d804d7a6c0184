"""Whether a call names the folder of offloaded results: what it reads there has been brought back."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import PurePosixPath
from typing import Any

_DEPTH = 4
_STEPS = re.compile(r"/(?:\.?/)+")
_FILE = re.compile(r"[0-9a-f]{32}\.(?:txt|json)(?![\w.-])")
"""A file of an offloaded result, by its name."""


def names_folder(arguments: Mapping[str, Any] | str, folder: str) -> bool:
    """Whether the arguments of a call name a folder, or a path in it, alone or in a command.

    So does the name of one of its files behind the last part of the folder's, a pattern, or nothing: who has changed
    into a folder leaves out the way to it.
    """
    path = PurePosixPath(folder)
    name, last = str(path), path.name
    return any(
        (name in text and _mention(name).search(text) is not None)
        or (_FILE.search(text) is not None and _inside(last).search(text) is not None)
        for text in _texts(arguments, _DEPTH)
    )


@lru_cache(maxsize=64)
def _mention(name: str) -> re.Pattern[str]:
    # A name of one word stands in many commands; only what follows makes it a path.
    end = r"(?![\w.-])" if "/" in name else "/"
    return re.compile(rf"(?<![\w.-]){re.escape(name)}{end}")


@lru_cache(maxsize=64)
def _inside(last: str) -> re.Pattern[str]:
    return re.compile(rf"(?:(?<![\w.-]){re.escape(last)}/|\*/|(?<![\w./*-])(?:\./)?){_FILE.pattern}")


def _texts(value: Any, depth: int) -> Iterator[str]:
    if isinstance(value, str):
        yield _STEPS.sub("/", value.replace("\\", "/"))
    elif isinstance(value, Mapping) and depth > 0:
        for inner in value.values():
            yield from _texts(inner, depth - 1)
    elif isinstance(value, list | tuple) and depth > 0:
        for inner in value:
            yield from _texts(inner, depth - 1)
