"""Where edits have cut the cached prefix so far, as the history tells: the same in a session and from scratch."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from elision.history import History
from elision.message import Address, ToolResult
from elision.overlay import Overlay

if TYPE_CHECKING:
    from elision.report import AppliedEdit

CUTTING = frozenset({"replace", "elide", "drop", "insert"})
"""Actions that change what the provider may have cached."""


class Cut(NamedTuple):
    """Where the prefix of the requests before ends, and what of it is still to be found; positions in the history.

    ``broken_at`` is the earliest message that has changed since the newest step began to enter, ``survives_to`` the
    newest one before it at which an earlier request ended or had a breakpoint, ``changed_to`` the newest message that
    the last break has changed.
    """

    broken_at: int | None = None
    survives_to: int | None = None
    changed_to: int | None = None


UNCUT = Cut()


@dataclass(slots=True)
class Cuts:
    """The breaks of one growing history.

    Each step is taken to have been sent with the step before it as its end: then the ends of requests lie close
    together behind the last break, and before it there are only the boundaries at which breaks have been.
    """

    _boundaries: list[int] = field(default_factory=list)
    _first: int | None = None
    _last: int | None = None
    _sent: int = -1
    _entering: int = 0

    def enter(self, start: int) -> None:
        """A new step begins at ``start``: what has been sent ends before it."""
        if self._first is not None:
            del self._boundaries[bisect_left(self._boundaries, self._first) :]
            self._boundaries += sorted({self._first - 1, self._last or 0} - {-1})
            self._sent = start - 1
        self._first = None
        self._entering = start

    def note(self, edits: Iterable[AppliedEdit], history: History, overlay: Overlay) -> None:
        """Take in edits that have just been made; a message of which results still stand is the next one to change."""
        for position, action in dict.fromkeys((edit.position, edit.action) for edit in edits):
            if action == "drop" and (step := history.step_of[position]) is not None:
                self.change(position, history.steps[step].stop)
            elif action in CUTTING and position < self._entering:
                self.change(position, position + (not _has_results(history, overlay, position)))

    def change(self, start: int, stop: int) -> None:
        """Messages from ``start`` on have changed, gone, or have got one before them; up to ``stop`` they are done."""
        if start < self._entering:
            last = stop - 1 if self._first is None or self._last is None else max(self._last, stop - 1)
            self._last = min(last, self._entering - 1)
            self._first = start if self._first is None else min(self._first, start)

    @property
    def cut(self) -> Cut:
        """How things stand."""
        if self._first is None:
            return Cut(changed_to=self._last)
        survives = self._first - 1
        if self._first <= self._sent:
            below = bisect_left(self._boundaries, self._first)
            survives = self._boundaries[below - 1] if below else -1
        return Cut(self._first, survives if survives >= 0 else None, self._last)


def _has_results(history: History, overlay: Overlay, position: int) -> bool:
    """Whether results of a message stand that are no placeholders."""
    return any(
        isinstance(part, ToolResult) and not overlay.elided(Address(position, index))
        for index, part in enumerate(history.messages[position].parts)
    )
