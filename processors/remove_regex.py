"""``remove_regex``: remove what matches a pattern from every message."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator
from typing import Annotated, Any, ClassVar, Literal

from pydantic import AfterValidator

from elision import (
    Content,
    Edit,
    ElisionWarning,
    Image,
    Opaque,
    Operation,
    PartView,
    Processor,
    Role,
    Stage,
    Text,
    View,
    compile_regex,
    first_found,
)

TIMEOUT_SECONDS = 1.0
"""Longest time for one text, over all patterns and rounds; a text that needs more is reported and left as it is."""

SLOW_SECONDS = 0.05
"""A text that needs longer may be in time once and out of time the next: what came of it first is recorded."""

PATIENCE_SECONDS = 30.0
"""Longest time for a text that was in time once."""

REMOVED = "(removed)"
"""Stands where a pattern would have left a message without text; one dot where the text was shorter than this."""


def _compiled(pattern: str) -> Any:
    return compile_regex(pattern, dotall=True)


def _checked(pattern: str) -> str:
    try:
        _compiled(pattern)
    except ValueError as error:
        raise ValueError(f"{pattern!r:.80} {error}") from None
    return pattern


class RemoveRegex(Processor):
    r"""Remove what matches one of the patterns from the text of every message.

    Cost: none with ``keep_last: 0`` (each message is changed when it comes in); else rewrites the cached prefix
    ``keep_last`` messages from the end, on every step.

    ```yaml
    history_processors:
      - type: remove_regex
        remove: ["<diff>.*?</diff>"]
        keep_last: 0
    ```

    ``.`` matches line ends.  ``.*`` is greedy: the default removes everything from the first ``<diff>`` to the last
    ``</diff>`` of a text, as in SWE-agent.  Shape: the text without the matches; a message is never left empty, but
    reads ``(removed)``.  Never touches thinking, tool arguments, images and placeholders.  Raises nothing: a
    text on which the patterns need more than a second stays as it is, with an ``ElisionWarning``; the others are cut.
    Source: SWE-agent's processor of the same name.
    """

    stage: ClassVar[Stage] = "history"
    operation: ClassVar[Operation] = "truncate"
    touches: ClassVar[frozenset[Role]] = frozenset({"system", "user", "assistant"})
    cost: ClassVar[str] = "none with keep_last: 0, else rewrites the cached prefix on every step"

    type: Literal["remove_regex"] = "remove_regex"
    remove: tuple[Annotated[str, AfterValidator(_checked)], ...] = ("<diff>.*</diff>",)
    """Patterns to remove, one after the other."""
    keep_last: int = 0
    """Messages at the end that are left as they are."""

    @property
    def runs_at(self) -> Stage:
        """Entry where every message is changed at once, else history."""
        return "entry" if self.keep_last <= 0 else "history"

    def plan(self, view: View) -> Iterator[Edit]:
        """Propose the texts without what matches."""
        messages = view.messages if self.keep_last <= 0 else view.older_messages(keep_last=self.keep_last)
        for message in messages:
            again = view.compat is None
            cuts = [(part, self._cut(part, view, again=again)) for part in message.parts if not part.elided]
            kept = any(isinstance(part, Image | Opaque) for part in message.message.parts)
            kept = kept or any(bool(part.content if cut is None else cut) for part, cut in cuts)
            for part, cut in cuts:
                if cut is not None:
                    new = cut or (() if kept and not part.is_result else (_emptied(part),))
                    kept = True
                    yield part.replace(new, reason="matches a pattern")

    def _cut(self, part: PartView, view: View, *, again: bool) -> tuple[Content, ...] | None:
        """Return the content without what matches and without texts that are blank then; None if nothing matches."""
        content = part.content
        cut = [(self._without(piece, view, again=again), piece) for piece in content]
        if all(new is old for new, old in cut):
            return None
        return tuple(new for new, old in cut if new is old or not _blank(new))

    def _without(self, piece: Content, view: View, *, again: bool) -> Content:
        if not isinstance(piece, Text) or piece.text == REMOVED:
            return piece
        text = self._text_without(piece.text, view, again=again)
        return piece if text == piece.text else Text(text, piece.raw)

    def _text_without(self, text: str, view: View, *, again: bool) -> str:
        """Return the text without what matches, or as it is if that takes too long, or once did."""
        start = time.monotonic()
        after, stopped = self._cut_until(start + TIMEOUT_SECONDS, text, again=again)
        if stopped is None and time.monotonic() - start < SLOW_SECONDS:
            return after
        about = "\0".join(("remove_regex", *self.remove, str(again), text))
        in_time = first_found(view, about, "in time" if stopped is None else "out of time") == "in time"
        if in_time and stopped is not None:
            after, stopped = self._cut_until(time.monotonic() + PATIENCE_SECONDS, text, again=again)
        if stopped is not None:
            _warn(stopped, text)
        return after if in_time and stopped is None else text

    def _cut_until(self, deadline: float, text: str, *, again: bool) -> tuple[str, str | None]:
        """Return the text without what matches, and the pattern that was stopped at the deadline."""
        before, after = None, text
        # Cutting can bring a new match together; outside SWE-agent configs what is sent must stay as it is.
        while after != before and (again or before is None):
            before = after
            for pattern in self.remove:
                try:
                    after = _sub(pattern, after, deadline)
                except TimeoutError:
                    return text, pattern
        return after, None


def _sub(pattern: str, text: str, deadline: float) -> str:
    # A timeout below zero would mean none.
    remaining = max(deadline - time.monotonic(), 0)
    return str(_compiled(pattern).sub("", text, timeout=remaining))


def _warn(pattern: str, text: str) -> None:
    warnings.warn(
        f"remove_regex: {pattern!r} was stopped after {TIMEOUT_SECONDS:g} s on a text of {len(text)} characters, which "
        "is sent as it is; write a pattern that needs less time",
        ElisionWarning,
        stacklevel=2,
    )


def _blank(piece: Content) -> bool:
    return isinstance(piece, Text) and not piece.text.strip()


def _emptied(part: PartView) -> Text:
    first = next(piece for piece in part.content if isinstance(piece, Text))
    return Text(REMOVED if len(first.text) >= len(REMOVED) else ".", first.raw)
