"""Recorded histories in files: finding the lists of messages in a JSON or JSON Lines document."""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from elision.errors import InputError, closest
from elision.misfit import not_a_message
from elision.torn import Lines, decoded, is_damaged, read_lines, up_to_the_cut

MAX_BYTES = 100_000_000
"""Largest history file that is read whole."""

_NAMED = 3
"""How many damaged lines are named."""

_KEYS = ("history", "messages", "traj", "contents", "input")
_ITEM_TYPES = frozenset({"reasoning", "compaction", "compaction_summary", "context_compaction", "item_reference"})
_SYSTEM_KEYS = ("system", "instructions", "systemInstruction", "system_instruction")


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
    """Read JSON, or JSON Lines where the whole is not one JSON value; of a damaged file what is complete."""
    text = decoded(data)
    if not text:
        raise InputError(f"{where}: the file is empty; give a history as JSON or JSON Lines")
    whole = "not UTF-8"
    try:
        if not is_damaged(text):
            return json.loads(text)
    except (ValueError, RecursionError) as error:
        whole = _reason(error)
    lines = read_lines(text)
    if lines.values and (not lines.aside or lines.usable):
        _tell_of(lines, where)
        return lines.values
    cut = up_to_the_cut(text)
    if cut is not None and any(run.messages for run in _find(cut)):
        _warn(f"{where}: the file ends too early ({whole}); what is complete is read")
        return cut
    if is_damaged(text):
        raise InputError(f"{where}: not a text file (UTF-8); give a history as JSON or JSON Lines")
    number = min(lines.aside)
    reason = f"line {number}: {lines.aside[number]}" if lines.values else whole
    raise InputError(f"{where}: not JSON ({reason}); give a history as JSON or JSON Lines")


def _tell_of(lines: Lines, where: str) -> None:
    """Say which lines of a file are set aside."""
    named = [f"line {number} ({reason})" for number, reason in lines.aside.items()]
    if named:
        more = f" and {len(named) - _NAMED} more" if len(named) > _NAMED else ""
        _warn(f"{where}: damaged, as by a writer that was cut off: {', '.join(named[:_NAMED])}{more}; the rest is read")


def _warn(told: str) -> None:
    from elision.session import ElisionWarning

    warnings.warn(told, ElisionWarning, stacklevel=2)


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
        (
            f" (it has the key {key!r}; did you mean {closest(key, _KEYS)!r}?)"
            for key in keys
            if key not in _KEYS and closest(key, _KEYS)
        ),
        "",
    )
    return (
        f"no list of messages found, so no dialect fits yet{meant}; "
        f"expected a JSON array of messages, or an object with one of the keys {', '.join(_KEYS)}"
    )


def _find(document: Document) -> Iterator[Run]:
    if isinstance(document, Mapping):
        if isinstance(document.get("role"), str) and ("content" in document or "parts" in document):
            yield Run([document])
        else:
            yield from _in_mapping(document.get("request", document))
    elif isinstance(document, list) and document:
        if _are_messages(document):
            yield Run(document)
        elif all(isinstance(item, Mapping) for item in document):
            yield from _in_rollout(document)
            for item in document:
                yield from _in_mapping(item.get("request", item))


def _in_mapping(document: Document) -> Iterator[Run]:
    if not isinstance(document, Mapping):
        return
    for key in _KEYS:
        messages = document.get(key)
        if isinstance(messages, list) and _are_messages(messages, loosely=key == "input"):
            yield _run(messages, document)
            return
    yield from _in_session(document)


def _run(messages: Sequence[Any], document: Mapping[str, Any]) -> Run:
    model = document.get("model")
    system = next((document[key] for key in _SYSTEM_KEYS if document.get(key)), None)
    return Run(messages, system, document.get("tools"), model if isinstance(model, str) else None, document)


def _in_session(document: Mapping[str, Any]) -> Iterator[Run]:
    """Find what the agent kits of OpenAI and Google store: items in envelopes, contents in events."""
    begun, items, events = (document.get(key) for key in ("original_input", "generated_items", "events"))
    if isinstance(begun, str | list) and isinstance(items, list):
        first = [{"role": "user", "content": begun}] if isinstance(begun, str) else begun
        yield _run([*first, *_inside(items, "raw_item")], document)
    elif isinstance(events, list) and (contents := [each for each in _inside(events, "content") if "parts" in each]):
        yield _run(contents, document)


def _in_rollout(lines: Sequence[Mapping[str, Any]]) -> Iterator[Run]:
    """Find the items in Codex's rollout; a line on a compaction says what the context is from there."""
    items: list[Any] = []
    for line in lines:
        (payload,) = _inside([line], "payload") or ({},)
        if line.get("type") == "response_item":
            items.append(payload)
        elif line.get("type") == "compacted" and isinstance(payload.get("replacement_history"), list):
            if items:
                yield Run(items)
            items = list(payload["replacement_history"])
    if items:
        yield Run(items)


def _inside(envelopes: Sequence[Any], key: str) -> list[Mapping[str, Any]]:
    found = (each.get(key) for each in envelopes if isinstance(each, Mapping))
    return [each for each in found if isinstance(each, Mapping)]


def _are_messages(items: Sequence[Any], *, loosely: bool = False) -> bool:
    known = loosely and any(map(_is_message, items))
    return all(_is_message(item, loosely=known) for item in items)


def _is_message(item: Any, *, loosely: bool = False) -> bool:
    """Whether this is a message, or an item of the Responses API; ``loosely`` takes any item that tells its type."""
    if not isinstance(item, Mapping) or isinstance(item.get("role"), str):
        return isinstance(item, Mapping)
    kind = item.get("type")
    return isinstance(kind, str) and (loosely or "call_id" in item or kind in _ITEM_TYPES or kind.endswith("_call"))


def _merged(runs: list[Run]) -> list[Run]:
    kept: list[Run] = []
    for run in runs:
        if kept and run.messages[: len(kept[-1].messages)] == kept[-1].messages:
            kept.pop()
        kept.append(run)
    return kept


def _reason(error: Exception) -> str:
    if isinstance(error, json.JSONDecodeError):
        return f"line {error.lineno}, column {error.colno}: {error.msg}"
    return "it is nested too deeply" if isinstance(error, RecursionError) else str(error)
