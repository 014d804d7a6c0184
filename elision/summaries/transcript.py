"""What a model reads that is to write a summary: the originals of the steps, cut so that they fit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from elision.placeholders.calls import call_text
from elision.reducing.bounds import head_end, tail_start
from elision.summaries.learning import said_in, source
from elision.summaries.wording import verbatim

if TYPE_CHECKING:
    from elision.view import View

CHARS_A_TOKEN = 3
"""Characters that are taken for a token: few, so that what is cut by them fits."""

_LEAST = 200


def transcript(view: View, steps: Sequence[int], most_chars: int) -> list[str]:
    """Return what was said in some steps, in about so many characters at most: what is long is cut in the middle."""
    pieces = [each for number in steps for each in _pieces(view, number)]
    room = most_chars
    left = len(pieces)
    shown = []
    for head, text in pieces:
        share = max(room // max(left, 1) - len(head), _LEAST)
        piece = f"{head}{cut(text, share)}"
        shown.append(piece)
        room, left = room - len(piece), left - 1
    return shown


def said_at(view: View, number: int) -> str:
    """Return everything that was said in a step: by the model, in its calls, and in their results."""
    return "\n".join(f"{head}{text}" for head, text in _pieces(view, number))


def _pieces(view: View, number: int) -> list[tuple[str, str]]:
    step, history = view.history.steps[number], view.history
    found = []
    said = said_in(view, step)
    if said:
        found.append((f"step {number + 1}, you: ", said))
    for (_, call), address in zip(step.calls, step.results, strict=True):
        arguments = call.text or call_text(call.name, call.arguments)
        found.append((f"step {number + 1}, call {call.name}: ", arguments))
        if address is not None and address.position < len(history):
            part = history.messages[address.position].parts[address.part]
            status = getattr(part, "status", None)
            found.append((f"step {number + 1}, result{f' ({status})' if status else ''}: ", source(view, address)))
    return found


def cut(text: str, chars: int) -> str:
    """Return a text as it can be sent, without its middle where it is longer than so many characters."""
    if len(text) > chars:
        head, tail = head_end(text, chars * 2 // 3), tail_start(text, chars // 3)
        if head < tail:
            text = f"{text[:head]}\n… {tail - head} characters left out …\n{text[tail:]}"
    return verbatim(text)
