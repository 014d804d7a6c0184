"""Asking a ``request`` processor that may propose again what it proposed for the request before."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from elision.question import Question


def ask_again(question: Question) -> None:
    """Ask for edits; those that are kept, and proposed again as the same objects, have been judged and stand."""
    edits, size = question.asked(), question.view.size
    if size is None:
        for edit in edits:
            question.decide(edit)
        return
    known, judged, made = size.judged(), {}, question.decisions.edits
    for edit in edits:
        count, found = len(made), known.get(id(edit))
        if found is None:
            question.decide(edit)
        else:
            question.make_again(*found)
        if len(made) > count:
            # The edit is kept, too: so no other one can have its id.
            judged[id(edit)] = edit, made[count]
    size.keep_judged(judged)
