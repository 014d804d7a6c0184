"""Rules 6, 8 and 9: nothing grows, what is elided stays, and text is fit for the wire."""

from __future__ import annotations

from elision.edits import SHRINKING, Insert, Replace, arguments_text, length
from elision.graphemes import splits_grapheme
from elision.guard.case import Case, Why, found_at
from elision.message import (
    Address,
    Image,
    Opaque,
    Part,
    Piece,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    has_surrogates,
    plain,
)
from elision.pairing import is_said, step_at
from elision.placeholders import is_placeholder


def never_grows(case: Case) -> Why | None:
    """Rule 6: an edit that elides, cuts or summarises never leaves more characters than it found."""
    edit = case.edit
    if not isinstance(edit, Replace) or case.processor.operation not in SHRINKING or case.sweagent:
        return None
    before, after = length(found_at(case, edit.address)), length(edit.content)
    if after > before:
        return Why(f"it would grow from {before} to {after} characters")
    return None


def elided_stays(case: Case) -> Why | None:
    """Rule 8: what is elided stays as it is, and a dropped step is gone."""
    edit = case.edit
    if isinstance(edit, Replace):
        text = plain(found_at(case, edit.address))
        if case.overlay.elided(edit.address) or is_placeholder(text) or case.view.originals.is_ours(text):
            return Why("a placeholder stands there already")
        history, address = case.history, edit.address
        of_step = address in history.paired or is_said(history, address)
        if of_step and case.overlay.is_dropped(step_at(history, address)):
            return Why("its step has been dropped")
    return None


def clean_text(case: Case) -> Why | None:
    """Rule 9: no blank text, no lone surrogates, cuts only between graphemes."""
    match case.edit:
        case Replace(address=address, content=content):
            found = found_at(case, address)
            if any(isinstance(part, Thinking) for part in found):
                return _without_thinking(case, address)
            texts = [arguments_text(part.arguments) for part in content if isinstance(part, ToolCall)]
            texts += [part.text for part in content if isinstance(part, Text)]
            if (found and not content and _alone(case, address)) or _blanks(content) > _blanks(found):
                return Why("it would leave a blank text")
            if any(has_surrogates(text) for text in texts if not text.isascii()):
                return Why("the new text holds a lone surrogate")
            if case.processor.operation == "truncate" and len(texts) == 1 and splits_grapheme(plain(found), texts[0]):
                return Why("the cut falls inside a character as a reader sees it (grapheme)")
        case Insert(text=text) if not text.isascii() and has_surrogates(text):
            return Why("the new text holds a lone surrogate")
        case _:
            pass
    return None


def _alone(case: Case, address: Address) -> bool:
    """Whether nothing else of the message's content is sent beside the part at ``address``."""
    parts = case.history.messages[address.position].parts
    if isinstance(parts[address.part], ToolResult):
        return True
    beside = [(Address(address.position, index), part) for index, part in enumerate(parts) if index != address.part]
    return not any(
        isinstance(part, Image | Opaque) or (isinstance(part, Text) and plain(found_at(case, other)).strip())
        for other, part in beside
    )


def _without_thinking(case: Case, address: Address) -> Why | None:
    """Say why a message cannot do without thinking: it would be empty, or end with thinking."""
    position = address.position
    parts = case.history.messages[position].parts
    beside = [(part, Address(position, index)) for index, part in enumerate(parts) if index != address.part]
    left = [part for part, other in beside if not isinstance(part, Thinking) or found_at(case, other)]
    if not any(_says_something(part) for part in left):
        return Why("its message would be left with nothing but thinking, or empty")
    if isinstance(left[-1], Thinking):
        return Why("its message would end with thinking")
    return None


def _says_something(part: Part) -> bool:
    return not isinstance(part, Thinking) and not (isinstance(part, Text) and not part.text.strip())


def _blanks(content: tuple[Piece, ...]) -> int:
    return sum(isinstance(part, Text) and not part.text.strip() for part in content)
