"""What a model reads that is to write a summary: the originals of the steps, cut so that they fit."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import TYPE_CHECKING

from elision.placeholders.calls import call_text
from elision.reducing.bounds import head_end, tail_start
from elision.summaries.learning import said_in, source
from elision.summaries.wording import verbatim
from elision.tokens import count_text

if TYPE_CHECKING:
    from elision.view import View

_CHARS_A_TOKEN = 3
"""Characters that are taken for a token before any is counted."""

_LEAST = 200
_TRIES = 5


def fitting(made: Callable[[int], str], most_tokens: int, model: str | None) -> str:
    """Return a text that is made from so many characters, so few that it has no more tokens than it may.

    Base64, Chinese and the like have many tokens for their characters.
    """
    chars = most_tokens * _CHARS_A_TOKEN
    text = made(chars)
    for _ in range(_TRIES):
        tokens = count_text(text, model)
        if tokens <= most_tokens:
            break
        chars = chars * most_tokens * 9 // (tokens * 10)
        text = made(chars)
    return text


def transcript(view: View, steps: Sequence[int], most_chars: int) -> list[str]:
    """Return what was said in some steps, in about so many characters: what is long is cut in its middle.

    Where the steps are so many that each could say next to nothing, those in the middle are left out.
    """
    pieces = _within([each for number in steps for each in _pieces(view, number)], most_chars)
    room = most_chars
    left = len(pieces)
    shown = []
    for head, text in pieces:
        share = max(room // max(left, 1) - len(head), _LEAST)
        piece = f"{head}{cut(text, share)}"
        shown.append(piece)
        room, left = room - len(piece), left - 1
    return shown


def _within(pieces: list[tuple[str, str]], most_chars: int) -> list[tuple[str, str]]:
    """Return pieces that fit if each is short: a third of the room is for the first ones, the rest for the last."""
    least = [len(head) + min(len(text), _LEAST) for head, text in pieces]
    if sum(least) <= most_chars:
        return pieces
    first = _as_many(least, most_chars // 3)
    last = _as_many(least[::-1], most_chars - most_chars // 3)
    left_out = (f"… {len(pieces) - first - last} entries left out …", "")
    return [*pieces[:first], left_out, *pieces[len(pieces) - last :]]


def _as_many(lengths: Sequence[int], room: int) -> int:
    """Return how many of them there is room for."""
    return sum(1 for total in accumulate(lengths) if total <= room)


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
