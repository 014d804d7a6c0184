"""The host's own messages, for functions that know nothing of views: given out, and what they return read as edits."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from elision.dialect import Dialect, Patch
from elision.edits import Drop, Edit, Insert, Remove, Replace
from elision.history import History
from elision.message import Address, Content, Image, Message, Opaque, Part, Text, ToolResult, plain
from elision.overlay import Overlay, content_at


class HostSide:
    """The messages of one request in the host's dialect."""

    def __init__(self, dialect: Dialect, history: History, rendered: Sequence[Any]) -> None:
        self._dialect = dialect
        self._history = history
        self._rendered = rendered

    def sent(self, overlay: Overlay) -> list[tuple[int, Any]]:
        """Return the messages that are not dropped, with their positions, as the overlay leaves them."""
        history = self._history
        found = []
        for position, rendered in enumerate(self._rendered):
            step = history.step_of[position]
            if step is not None and overlay.is_dropped(step):
                continue
            if position in overlay.edited:
                message = history.messages[position]
                found.append((position, self._dialect.patch(message, Patch.of(message, overlay.changes(position)))))
            else:
                found.append((position, rendered))
        return found

    def edits_between(self, overlay: Overlay, given: list[Any], returned: list[Any]) -> list[Edit]:
        """Read a list of messages that a function returned as edits of the list that it was given."""
        for message in returned:
            if not isinstance(message, Mapping) and not hasattr(message, "model_dump"):
                raise TypeError(f"it returned {message!r:.80} among the messages, which is none")
        sent = self.sent(overlay)
        positions = [position for position, _ in sent]
        pairs = _matched(given, returned)
        before = _next_sources(pairs, len(returned), len(given))
        edits: list[Edit] = []
        for index, message in enumerate(returned):
            source = pairs.get(index)
            if source is None:
                following = positions[before[index]] if before[index] < len(given) else len(self._history)
                edits.append(self._insert(message, following))
            elif message != sent[source][1]:
                edits.extend(self._replacements(overlay, positions[source], message))
        kept = set(pairs.values())
        gone = [positions[source] for source in range(len(given)) if source not in kept]
        return [*edits, *self._removals(gone)]

    def _replacements(self, overlay: Overlay, position: int, changed: Any) -> Iterator[Edit]:
        message = self._history.messages[position]
        new = self._dialect.parse(changed, self._history)
        editable = [index for index, part in enumerate(message.parts) if isinstance(part, Text | ToolResult)]
        fresh = _contents(new)
        if len(editable) == len(fresh):
            for index, content in zip(editable, fresh, strict=True):
                address = Address(position, index)
                if content != content_at(self._history, overlay, address):
                    yield Replace(address, content, "returned changed")
        elif len(editable) == 1:
            yield Replace(Address(position, editable[0]), tuple(p for part in fresh for p in part), "returned changed")
        else:
            raise ValueError(f"message {position} came back with {len(fresh)} texts instead of {len(editable)}")

    def _removals(self, gone: list[int]) -> Iterator[Edit]:
        left = Counter(self._history.step_of[position] for position in gone)
        for position in gone:
            index = self._history.step_of[position]
            step = self._history.steps[index] if index is not None else None
            if step is None or left[index] < step.stop - step.start:
                yield Remove(position, "not returned")
            elif position == step.start:
                yield Drop(step.index, "not returned")

    def _insert(self, message: Any, position: int) -> Edit:
        parsed = self._dialect.parse(message, self._history)
        if parsed.role not in {"user", "system"}:
            raise ValueError(f"it returned a new {parsed.role} message; only user and system messages can be new")
        text = plain(part for part in parsed.parts if isinstance(part, Text))
        return Insert(position, "system" if parsed.role == "system" else "user", text, "note", "returned new")


def _contents(message: Message) -> list[tuple[Content, ...]]:
    return [_content_of(part) for part in message.parts if isinstance(part, Text | Image | Opaque | ToolResult)]


def _content_of(part: Part) -> tuple[Content, ...]:
    if isinstance(part, ToolResult):
        return part.content
    return (part,) if isinstance(part, Text | Image | Opaque) else ()


def _matched(given: list[Any], returned: list[Any]) -> dict[int, int]:
    """Match what came back with what was given: the same object, an equal one, or one of the same role and call."""
    by_identity = {id(message): index for index, message in enumerate(given)}
    equal: dict[Hashable, list[int]] | None = None
    pairs: dict[int, int] = {}
    after = -1
    for target, message in enumerate(returned):
        source = by_identity.get(id(message))
        if source is None:
            equal = _places(map(_frozen, given)) if equal is None else equal
            later = _later(equal, _frozen(message), after)
            source = next((s for s in later if given[s] == message), None)
        if source is not None and source > after:
            pairs[target], after = source, source
    return _fill_gaps(given, returned, pairs)


def _fill_gaps(given: list[Any], returned: list[Any], pairs: dict[int, int]) -> dict[int, int]:
    if len(pairs) == len(returned):
        return pairs
    filled = dict(pairs)
    alike = _places(map(_likeness, given))
    before = _next_sources(pairs, len(returned), len(given))
    after = -1
    for target, message in enumerate(returned):
        if target not in pairs:
            source = next(_later(alike, _likeness(message), after), len(given))
            if source >= before[target]:
                continue
            filled[target] = source
        after = filled[target]
    return filled


def _next_sources(pairs: Mapping[int, int], count: int, end: int) -> list[int]:
    """Return for each message that came back what the next pair after it was given as, or ``end``."""
    found = [end] * count
    for target in range(count - 1, 0, -1):
        found[target - 1] = pairs.get(target, found[target])
    return found


def _places(keys: Iterable[Hashable]) -> dict[Hashable, list[int]]:
    places: dict[Hashable, list[int]] = {}
    for index, key in enumerate(keys):
        places.setdefault(key, []).append(index)
    return places


def _later(places: Mapping[Hashable, list[int]], key: Hashable, after: int) -> Iterator[int]:
    found = places.get(key, [])
    return islice(found, bisect_right(found, after), None)


def _frozen(value: Any) -> Hashable:
    """Return a key that equal values share."""
    if isinstance(value, Mapping):
        return frozenset((key, _frozen(item)) for key, item in value.items())
    if isinstance(value, list | tuple):
        return tuple(map(_frozen, value))
    return value if value is None or isinstance(value, str | int | float) else _frozen(getattr(value, "content", None))


def _likeness(message: Any) -> tuple[str, str]:
    if not isinstance(message, dict):
        return type(message).__name__, ""
    ids = (str(message[key]) for key in ("tool_call_id", "tool_call_ids", "call_id") if key in message)
    return str(message.get("role", message.get("type"))), next(ids, "")
