"""What processors propose, looked at by itself: whether it is an edit at all, and what a report calls it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from elision.edits import (
    CacheBreakpoint,
    Drop,
    Edit,
    Insert,
    Pointer,
    Remove,
    Replace,
    Tag,
    Template,
    chars_of,
)
from elision.guard import results_of
from elision.history import History
from elision.message import Address, Image, Opaque, Text, ToolCall, texts_of
from elision.overlay import content_at
from elision.report import AppliedEdit

if TYPE_CHECKING:
    from elision.processor import Processor
    from elision.view import View


def checked(planned: Any) -> list[Edit]:
    """Return what ``plan`` gave as a list of edits; raise where it is none."""
    if planned is None:
        raise TypeError("plan gave None; it gives edits (yield them, or return a list)")
    edits = list(planned)
    for edit in edits:
        if not _well_formed(edit):
            raise TypeError(f"plan gave {edit!r:.200}, which is no edit; edits are made with the view's builders")
    return edits


_EDITS = (Replace, Drop, Remove, Insert, Tag, CacheBreakpoint)


def _well_formed(edit: Any) -> bool:
    """Whether this is an edit as the builders make them: no subclass, every field of its type."""
    if type(edit) not in _EDITS or not isinstance(edit.reason, str):
        return False
    match edit:
        case Replace(address=Address(position=int(), part=int()), content=tuple() as content, elides=bool()):
            return all(map(_is_content, content)) and _is_template(edit.template)
        case Tag(address=Address(position=int(), part=int()), tags=frozenset() as tags):
            return all(isinstance(tag, str) for tag in tags)
        case Insert(position=int(), role="user" | "system", text=str(), kind="note" | "summary", key=str()):
            return isinstance(edit.replaces, tuple) and all(isinstance(key, str) for key in edit.replaces)
        case (
            CacheBreakpoint(position=int(), on=bool(), ttl="5m" | "1h" | None)
            | Drop(step=int())
            | Remove(position=int())
        ):
            return True
    return False


def _is_template(given: Any) -> bool:
    match given:
        case Pointer(folder=str(), head_lines=int(), tail_lines=int()):
            return type(given) is Pointer
        case _:
            return given is None or type(given) is Template


def _is_content(part: Any) -> bool:
    if type(part) is Text:
        return isinstance(part.text, str)
    if type(part) is ToolCall:
        return isinstance(part.arguments, str | Mapping)
    return isinstance(part.url, str) if type(part) is Image else type(part) is Opaque


def action_of(edit: Edit) -> str:
    """Return what a report calls an edit."""
    match edit:
        case Replace(elides=True):
            return "elide"
        case CacheBreakpoint(on=on):
            return "set_cache_breakpoint" if on else "clear_cache_breakpoint"
        case _:
            return type(edit).__name__.lower()


def call_at(history: History, address: Address) -> ToolCall | None:
    """Return the call at an address, if one stands there."""
    known = 0 <= address.position < len(history)
    parts = history.messages[address.position].parts if known else ()
    part = parts[address.part] if 0 <= address.part < len(parts) else None
    return part if isinstance(part, ToolCall) else None


def new_call(edit: Replace) -> ToolCall | None:
    """Return the call with other arguments that an edit puts in place, if it does."""
    match edit.content:
        case (ToolCall() as call,):
            return call
    return None


def step_chars(history: History, step: int) -> int:
    """Return the characters of all texts in a step."""
    found = history.steps[step]
    return sum(len(text) for message in history.messages[found.start : found.stop] for text in texts_of(message.parts))


def place_in(history: History, edit: Edit) -> tuple[int, int | None, str, str]:
    """Return the message and the part that an edit is about, and the id and the tool of the call there."""
    match edit:
        case Replace(address=address) | Tag(address=address):
            paired = history.paired.get(address)
            call = paired.call if paired else call_at(history, address)
            return address.position, address.part, call.id if call else "", call.name if call else ""
        case Drop(step=step):
            return (history.steps[step].start if 0 <= step < len(history.steps) else -1), None, "", ""
        case Insert(position=position) | CacheBreakpoint(position=position) | Remove(position=position):
            return position, None, "", ""


def classes_of(edit: Edit, view: View) -> tuple[str, ...]:
    """Return the classes of the results that an edit is about."""
    found = (view.standing.classes(paired) for paired in results_of(view.history, edit))
    return tuple(sorted(frozenset().union(*found)))


def applied_edit(edit: Edit, processor: Processor, view: View) -> AppliedEdit:
    """Return what a report says of an edit that is made in a view."""
    position, part, call_id, tool = place_in(view.history, edit)
    name, action, operation = processor.type_name, action_of(edit), processor.operation
    if isinstance(edit, Tag | CacheBreakpoint):
        return AppliedEdit(name, action, operation, position, part, call_id, tool, 0, 0, edit.reason, elides=False)
    if operation == "clear" and isinstance(edit, Replace) and new_call(edit) is not None:
        operation = "clear_inputs"
    before = after = 0
    ref: str | None = None
    if isinstance(edit, Replace):
        found = content_at(view.history, view.overlay, edit.address, view.stage)
        before, after = chars_of(found), chars_of(edit.content)
        ref = getattr(view.originals.sealed(view.history, edit.address), "ref", None)
    elif isinstance(edit, Drop):
        before = step_chars(view.history, edit.step)
        ref = getattr(view.originals.sealed(view.history, edit.step), "ref", None)
    elif isinstance(edit, Insert):
        after = len(edit.text)
    elides, classes = isinstance(edit, Replace) and edit.elides, classes_of(edit, view)
    return AppliedEdit(
        name, action, operation, position, part, call_id, tool, before, after, edit.reason, elides, classes, ref or ""
    )
