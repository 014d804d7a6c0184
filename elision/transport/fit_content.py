"""Content as every provider takes it: something in each message, and where it is asked for a user who begins."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from elision.repair import BLANK, OPENING

_RULES = frozenset({"system", "developer"})
_SAYS_OTHERWISE = ("tool_calls", "function_call", "refusal", "audio")


def with_fit_content(messages: Iterable[Mapping[str, Any]], *, first_user: bool) -> Iterator[dict[str, Any]]:
    """Yield the messages with content as every provider takes it.

    With ``first_user`` the first message after those of the system is the user's: one is put before another's.
    """
    begun = not first_user
    for message in messages:
        role = message.get("role")
        if not begun and role not in _RULES:
            begun = True
            if role != "user":
                yield {"role": "user", "content": OPENING}
        content = message.get("content")
        fit = _fit(message, content)
        yield dict(message) if fit is content else {**message, "content": fit}


def _fit(message: Mapping[str, Any], content: Any) -> Any:
    """Return what a message says: one of the system, or with calls, may say nothing."""
    if isinstance(content, list):
        kept = [part for part in content if not _is_blank(part)]
        if kept:
            return content if len(kept) == len(content) else kept
    elif content is not None and not _is_blank(content):
        return content
    if any(message.get(key) for key in _SAYS_OTHERWISE):
        return None if isinstance(content, list) else content
    return "" if message.get("role") in _RULES else BLANK


def _is_blank(part: Any) -> bool:
    text = part.get("text") if isinstance(part, Mapping) and part.get("type") == "text" else part
    return isinstance(text, str) and not text.strip()
