"""What a result says of the outcome of its call: that it is pending, or that it was aborted."""

from __future__ import annotations

import re

from elision.message import ToolResult, plain

OUTCOME_UNKNOWN = "The outcome of this call is unknown: its result is missing from the history."
"""What is sent for a result that is missing."""

_ABORTED = re.compile(r"\b(abort|cancel|interrupt|skip)(p?ed|l?ed)?\b", re.IGNORECASE)
_PENDING = re.compile(
    r"\b(?:pending|running|queued|in[ _-]progress|started|starting|scheduled|submitted|accepted|waiting|processing"
    r"|(?:in|to) (?:the )?background|not (?:yet )?(?:done|finished|complete|ready)|later)\b",
    re.IGNORECASE,
)
_LONGEST_NOTE = 200
_LOOKED_AT = 400


def stands_for_none(result: ToolResult) -> bool:
    """Whether a result was made up on the way out, in a view that comes back as a history."""
    return plain(result.content) == OUTCOME_UNKNOWN


def is_abort_note(result: ToolResult) -> bool:
    """Whether a result only says that its call came to nothing."""
    return result.status != "ok" and (result.status == "error" or _says_aborted(result))


def is_news(later: ToolResult, first: ToolResult) -> bool:
    """Whether what came after a result of the same call is to be known: an abort after the real result is not."""
    if later.content == first.content:
        return False
    return later.status == "ok" or not _says_aborted(later) or bool(_PENDING.search(plain(first.content)[:_LOOKED_AT]))


def _says_aborted(result: ToolResult) -> bool:
    text = plain(result.content)
    return len(text) < _LONGEST_NOTE and bool(_ABORTED.search(text))
