"""What a view leaves out of a history, and what an archive gives back: an oracle that knows of no dialect."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from elision import AppliedEdit, Archive, SentView

_OURS = frozenset({"cache_control", "tags"})
"""Keys that say nothing: marks and tags come and go without an edit of content."""
_TYPES = frozenset({"type", "role", "message_type"})
_IDS = frozenset({"id", "tool_use_id", "tool_call_id", "call_id"})


def missing(held: Sequence[Any], sent: Sequence[Any]) -> Counter[str]:
    """Return the texts of the host's messages that are not sent, each as often as it is missing."""
    kept = {id(message) for message in sent}
    return strings([each for each in held if id(each) not in kept]) - strings(
        [each for each in sent if id(each) not in {id(message) for message in held}]
    )


def strings(value: Any) -> Counter[str]:
    """Return every string in a value, names of types and marks left out."""
    return Counter(_strings(value))


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for key, inner in value.items():
            if key not in _OURS and not (key in _TYPES and isinstance(inner, str)):
                yield from _strings(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _strings(inner)


def lost(view: SentView, archive: Archive) -> Counter[str]:
    """Return the texts that the view leaves out and that no ref of its edits brings back, equal by hash.

    The id of a call that a wire refuses is replaced, and the report says so; what is blank says nothing.
    """
    ids = Counter(_ids(view.history)) if any(repair.fault == "call" for repair in view.repairs) else Counter[str]()
    gone = missing(view.history, view.messages) - recalled(view.edits, archive) - ids
    return Counter({text: count for text, count in gone.items() if text.strip()})


def _ids(value: Any) -> Iterator[str]:
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from [inner] if key in _IDS and isinstance(inner, str) else _ids(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _ids(inner)


def recalled(edits: Sequence[AppliedEdit], archive: Archive) -> Counter[str]:
    """Return every string that the refs of the edits bring back."""
    found: Counter[str] = Counter()
    originals: dict[tuple[int, int | None], str] = {(each.position, each.part): each.ref for each in edits if each.ref}
    inputs = {each.ref for each in edits if each.operation == "clear_inputs"}
    for ref in originals.values():
        original = archive.get(ref)
        if isinstance(original.content, str):
            assert hashlib.sha256(original.content.encode("utf-8", "surrogatepass")).hexdigest() == original.ref.sha256
        assert original.ref.short == ref
        found += strings(original.content)
        if isinstance(original.content, str) and ref in inputs:
            found += strings(json.loads(original.content))
    return found


def unexplained(view: SentView) -> list[int]:
    """Return the positions of messages whose content changed although no edit with a ref says so."""
    explained = {edit.position for edit in view.edits if edit.ref}
    return [
        position
        for position, (held, sent) in enumerate(zip(view.history, view.messages, strict=True))
        if held is not sent and strings(held) != strings(sent) and position not in explained
    ]
