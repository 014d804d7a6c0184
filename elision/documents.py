"""Recorded histories in files: finding the lists of messages in a JSON or JSON Lines document."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from elision.errors import InputError, closest
from elision.misfit import not_a_message

MAX_BYTES = 100_000_000
"""Largest history file that is read whole."""

_KEYS = ("history", "messages", "traj")


@dataclass(frozen=True, slots=True)
class Run:
    """One recorded history, with what the request that carried it said besides."""

    messages: Sequence[Any]
    system: Any = None
    tools: Any = None
    model: str | None = None
    document: Any = None


Document: TypeAlias = Any


def read_runs(path: Path) -> list[Run]:
    """Read the histories in a file."""
    return runs_in(load_document(path), str(path))


def load_document(path: Path) -> Document:
    """Read a JSON or JSON Lines file."""
    try:
        size = path.stat().st_size
        if path.is_dir():
            raise InputError(f"{path}: this is a folder; name a file in it")
        if size > MAX_BYTES:
            raise InputError(f"{path}: {size:,} bytes; at most {MAX_BYTES:,} are read at once; split the file")
        with path.open("rb") as file:  # a device or a pipe has no size
            data = file.read(MAX_BYTES + 1)
        if len(data) > MAX_BYTES:
            raise InputError(f"{path}: more than {MAX_BYTES:,} bytes, the most that is read at once; split the file")
    except OSError as error:
        raise InputError(f"{path}: {error.strerror or error}; name a readable file") from error
    return parse_document(data, str(path))


def parse_document(data: bytes, where: str) -> Document:
    """Read JSON, or JSON Lines where the whole is not one JSON value."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise InputError(f"{where}: not a text file (UTF-8); give a history as JSON or JSON Lines") from None
    if not text.strip():
        raise InputError(f"{where}: the file is empty; give a history as JSON or JSON Lines")
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        whole = error
    # Not splitlines(): a JSON text may hold other line breaks inside its strings.
    lines = [(number, line) for number, line in enumerate(text.split("\n"), 1) if line.strip()]
    values: list[Any] = []
    for number, line in lines:
        try:
            values.append(json.loads(line))
        except (ValueError, RecursionError) as error:
            reason = f"line {number}: {_reason(error, located=False)}" if values else _reason(whole)
            raise InputError(f"{where}: not JSON ({reason}); give a history as JSON or JSON Lines") from None
    return values


def runs_in(document: Document, where: str = "input") -> list[Run]:
    """Find the histories in a document; requests that extend one another count as one run."""
    runs = list(_find(document))
    if not any(run.messages for run in runs):
        raise InputError(f"{where}: {_nothing(document)}")
    return _merged(runs)


def _nothing(document: Document) -> str:
    """Say why there is no history in a document."""
    inner = document.get("request", document) if isinstance(document, Mapping) else document
    keys = list(map(str, inner)) if isinstance(inner, Mapping) else []
    under = next((key for key in _KEYS if key in keys and isinstance(inner[key], list)), None)
    items = inner if under is None else inner[under]
    if items == []:
        return "the list of messages is empty; give at least one message"
    told = not_a_message(items) if isinstance(items, list) else ""
    if told:
        return f"no list of messages found: {told if under is None else f'{under}: {told}'}"
    meant = next(
        (f" (it has the key {key!r}; did you mean {closest(key, _KEYS)!r}?)" for key in keys if closest(key, _KEYS)), ""
    )
    return (
        f"no list of messages found, so no dialect fits yet{meant}; "
        f"expected a JSON array of messages, or an object with one of the keys {', '.join(_KEYS)}"
    )


def _find(document: Document) -> Iterator[Run]:
    if isinstance(document, Mapping):
        if _is_message(document) and "content" in document:
            yield Run([document])
        else:
            yield from _in_mapping(document.get("request", document))
    elif isinstance(document, list) and document:
        if all(_is_message(item) for item in document):
            yield Run(document)
        elif all(isinstance(item, Mapping) for item in document):
            for item in document:
                yield from _in_mapping(item.get("request", item))


def _in_mapping(document: Document) -> Iterator[Run]:
    if not isinstance(document, Mapping):
        return
    for key in _KEYS:
        messages = document.get(key)
        if isinstance(messages, list) and all(_is_message(item) for item in messages):
            model = document.get("model")
            yield Run(
                messages,
                system=document.get("system"),
                tools=document.get("tools"),
                model=model if isinstance(model, str) else None,
                document=document,
            )
            return


def _is_message(item: Any) -> bool:
    return isinstance(item, Mapping) and isinstance(item.get("role"), str)


def _merged(runs: list[Run]) -> list[Run]:
    kept: list[Run] = []
    for run in runs:
        if kept and run.messages[: len(kept[-1].messages)] == kept[-1].messages:
            kept.pop()
        kept.append(run)
    return kept


def _reason(error: Exception, *, located: bool = True) -> str:
    if isinstance(error, json.JSONDecodeError):
        return f"line {error.lineno}, column {error.colno}: {error.msg}" if located else error.msg
    return "it is nested too deeply" if isinstance(error, RecursionError) else str(error)
