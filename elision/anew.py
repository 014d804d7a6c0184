"""Placeholders made anew: what they say of the way back is as things are now."""

from __future__ import annotations

from dataclasses import replace

from elision.edits import Edit, Pointer, Replace, Template
from elision.message import Piece, Text
from elision.parts import Observation, PartView
from elision.said import CallView
from elision.view import View


def made_anew(edit: Edit, view: View) -> Edit:
    """Return an edit with its placeholder as things are now, where it has one."""
    if not isinstance(edit, Replace) or edit.template is None:
        return edit
    return replace(edit, content=elided(view.part(edit.address), edit.template) or edit.content)


def elided(part: PartView, template: Template | Pointer) -> tuple[Piece, ...]:
    """Return what stands for a result, or for a call with long values, as things are now; nothing for other parts."""
    if isinstance(template, Pointer):
        return part.pointed(template) if isinstance(part, Observation) else ()
    if isinstance(part, Observation):
        return (Text(part.placeholder(template)),)
    return (part.shortened(template.head_chars),) if isinstance(part, CallView) else ()
