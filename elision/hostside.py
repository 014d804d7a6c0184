"""The host's own messages, for functions that know nothing of views: given out, and what they return read as edits."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from elision.dialect import Dialect, Patch
from elision.edits import Drop, Edit, Insert, Remove, Replace
from elision.history import Address, Content, History, Image, Message, Opaque, Part, Text, ToolResult, plain
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
                patch = Patch(overlay.changes(position))
                found.append((position, self._dialect.patch(history.messages[position], patch)))
            else:
                found.append((position, rendered))
        return found

    def edits_between(self, overlay: Overlay, given: list[Any], returned: list[Any]) -> list[Edit]:
        """Read a list of messages that a function returned as edits of the list that it was given."""
        for message in returned:
            if not isinstance(message, Mapping) and not hasattr(message, "model_dump"):
                raise TypeError(f"it returned {message!r:.80} among the messages, which is none")
        positions = [position for position, _ in self.sent(overlay)]
        pairs = _matched(given, returned)
        edits: list[Edit] = []
        for index, message in enumerate(returned):
            source = pairs.get(index)
            if source is None:
                edits.append(self._insert(message, self._following(pairs, index, positions)))
            elif message != self._as_sent(overlay, positions[source]):
                edits.extend(self._replacements(overlay, positions[source], message))
        gone = [positions[source] for source in range(len(given)) if source not in set(pairs.values())]
        return [*edits, *self._removals(gone)]

    def _as_sent(self, overlay: Overlay, position: int) -> Any:
        return dict(self.sent(overlay))[position]

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
        left = set(gone)
        for position in gone:
            index = self._history.step_of[position]
            step = self._history.steps[index] if index is not None else None
            if step is None or not left.issuperset(range(step.start, step.stop)):
                yield Remove(position, "not returned")
            elif position == step.start:
                yield Drop(step.index, "not returned")

    def _insert(self, message: Any, position: int) -> Edit:
        parsed = self._dialect.parse(message, self._history)
        if parsed.role not in {"user", "system"}:
            raise ValueError(f"it returned a new {parsed.role} message; only user and system messages can be new")
        text = plain(part for part in parsed.parts if isinstance(part, Text))
        return Insert(position, "system" if parsed.role == "system" else "user", text, "note", "returned new")

    @staticmethod
    def _following(pairs: dict[int, int], index: int, positions: list[int]) -> int:
        later = [source for target, source in pairs.items() if target > index]
        return positions[min(later)] if later else -1


def _contents(message: Message) -> list[tuple[Content, ...]]:
    return [_content_of(part) for part in message.parts if isinstance(part, Text | Image | Opaque | ToolResult)]


def _content_of(part: Part) -> tuple[Content, ...]:
    if isinstance(part, ToolResult):
        return part.content
    return (part,) if isinstance(part, Text | Image | Opaque) else ()


def _matched(given: list[Any], returned: list[Any]) -> dict[int, int]:
    """Match what came back with what was given: the same object, an equal one, or one of the same role and call."""
    by_identity = {id(message): index for index, message in enumerate(given)}
    pairs: dict[int, int] = {}
    after = -1
    for target, message in enumerate(returned):
        source = by_identity.get(id(message))
        if source is None:
            source = next((s for s in range(after + 1, len(given)) if given[s] == message), None)
        if source is not None and source > after:
            pairs[target], after = source, source
    return _fill_gaps(given, returned, pairs)


def _fill_gaps(given: list[Any], returned: list[Any], pairs: dict[int, int]) -> dict[int, int]:
    filled = dict(pairs)
    after = -1
    for target, message in enumerate(returned):
        if target in pairs:
            after = pairs[target]
            continue
        before = min((source for t, source in pairs.items() if t > target), default=len(given))
        for source in range(after + 1, before):
            if _likeness(given[source]) == _likeness(message):
                filled[target], after = source, source
                break
    return filled


def _likeness(message: Any) -> tuple[str, str]:
    if not isinstance(message, dict):
        return type(message).__name__, ""
    return str(message.get("role")), str(message.get("tool_call_id", message.get("tool_call_ids", "")))
