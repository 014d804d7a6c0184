"""What of a request that is too long goes first, and how."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeAlias

from elision.message import Content
from elision.parts import Observation, PartView
from elision.reducing import Truncation, truncate_content
from elision.reducing.evenly import most_of_each
from elision.said import CallView

if TYPE_CHECKING:
    from elision.fitting import Fitting
    from elision.sizes import RequestSize

REASON = "over the budget"
LOW_SHARE = 0.8
"""Share of the limit to which old content goes once it is reached: a cut at each step would be a break each time."""
_LARGE_SHARE = 0.25
"""Share of the limit from which on a result of the newest step is cut before any step goes."""
_ORDER = ("static", "dynamic", "error", "recalled", "skill")
"""Classes whose results go first; those of others go last."""
_LEAST_TOKENS = 150
"""What is left of a text that is cut, at least."""
_NOTE_TOKENS = 60
"""Room for what a cut says of itself."""
_LONG_CHARS = 500

Reduction: TypeAlias = "Callable[[Fitting], None]"


def rank(observation: Observation) -> int:
    """Return the place of a result's last class in the order."""
    return max((_ORDER.index(name) if name in _ORDER else len(_ORDER) for name in observation.classes), default=0)


def _old_results(fitting: Fitting) -> None:
    """Put placeholders in place of old results; cut those that no tool could bring back."""
    for address, (_, tokens) in sorted(fitting.results.items(), key=lambda each: (each[1][0], -each[1][1], each[0])):
        if fitting.low_excess <= 0:
            return
        each = fitting.view.part(address)
        if isinstance(each, Observation) and fitting.replace(each.elide(reason=REASON), tokens):
            del fitting.results[address]
        else:
            fitting.cut(each, max(_LEAST_TOKENS, tokens - fitting.low_excess))


def _old_arguments(fitting: Fitting) -> None:
    """Put pointers in place of long values in the arguments of old calls, those of the longest first."""
    for address, tokens in sorted(fitting.calls.items(), key=lambda each: (-each[1], each[0])):
        if fitting.low_excess <= 0:
            return
        call = fitting.view.part(address)
        if isinstance(call, CallView):
            fitting.replace(call.elide(_LONG_CHARS, reason=REASON), tokens)
        del fitting.calls[address]


def _old_steps(fitting: Fitting) -> None:
    """Leave out the oldest closed steps."""
    for index in list(fitting.old):
        if fitting.low_excess <= 0:
            return
        fitting.drop(fitting.view.step(index))
        del fitting.old[index]


def _large_results(fitting: Fitting) -> None:
    """Cut results of the newest step that are large, but not below that."""
    _cut_alike(fitting, fitting.newest_results, int(fitting.limit * _LARGE_SHARE))


def _newest_results(fitting: Fitting) -> None:
    """Cut the results of the newest step, and of those that wait for some, to the same length."""
    _cut_alike(fitting, fitting.newest_results)


def _texts(fitting: Fitting) -> None:
    """Cut what the user and the assistant say to the same length."""
    _cut_alike(fitting, fitting.texts)


REDUCTIONS: tuple[Reduction, ...] = (
    _old_results,
    _old_arguments,
    _large_results,
    _old_steps,
    _newest_results,
    _texts,
)
"""What is done, in order, as long as the request is too long."""


def _cut_alike(fitting: Fitting, parts: Sequence[PartView], least: int = 0) -> None:
    """Cut the longest of some parts to one length that is short enough, or has ``least`` tokens."""
    sizes = {part.address: fitting.left(part) for part in parts}
    most = max(_LEAST_TOKENS, least, most_of_each(list(sizes.values()), sum(sizes.values()) - fitting.excess))
    for part in sorted(parts, key=lambda part: (-sizes[part.address], part.address)):
        if fitting.excess <= 0 or sizes[part.address] <= most:
            return
        fitting.cut(part, most)


def cut_content(size: RequestSize, part: PartView, tokens: int) -> tuple[Content, ...] | None:
    """Return head and tail of a part, with at most so many tokens, and the count of what is between."""
    chars = len(part.text)
    room = chars * max(tokens - _NOTE_TOKENS, 1) // max(size.count(part.content), 1)
    tail = room // 3
    how = Truncation(threshold_tokens=tokens, head_chars=room - tail, tail_chars=tail, keep_error_lines=3)
    return truncate_content(part.content, how, way_back=lambda: part.way_back, model=size.request.model)


def note_text(steps: int) -> str:
    """Return what stands for steps that are left out."""
    told = "1 earlier step is" if steps == 1 else f"{steps} earlier steps are"
    return f"[{told} left out here: with them the request would be longer than it may be]"
