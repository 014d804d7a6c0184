"""The note of one result, from what the view knows of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from elision.edits import Pointer
from elision.offloading.files import offloaded_file
from elision.offloading.note import Offloaded, note
from elision.offloading.reader import file_reader
from elision.placeholders.calls import call_text, tool_name
from elision.tokens import count_text

if TYPE_CHECKING:
    from elision.parts import Observation
    from elision.view import View

_LONGEST_COUNTED = 1_000_000
"""Characters that are counted exactly; what comes after them is taken to be like them."""


def note_of(observation: Observation, pointer: Pointer, view: View) -> str:
    """Return the note that stands for a result which is offloaded, as things stand."""
    text, call = observation.text, observation.call
    found = Offloaded(
        call=call_text(call.name if call else "", call.arguments if call else None),
        text=text,
        lines=observation.lines,
        tokens=_tokens(text, view.model),
        path=offloaded_file(pointer.folder, text).path,
        reader=tool_name(file_reader(view.request.offered, view.standing.table)),
        recalled=observation.way_back,
    )
    return note(found, head_lines=pointer.head_lines, tail_lines=pointer.tail_lines)


def _tokens(text: str, model: str | None) -> str:
    counted = count_text(text[:_LONGEST_COUNTED], model)
    if len(text) <= _LONGEST_COUNTED:
        return str(counted)
    return f"about {counted * len(text) // _LONGEST_COUNTED}"
