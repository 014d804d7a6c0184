"""Regular expressions from outside: refused where they would take too much memory before any time bound could act."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

MAX_CHARS = 1000
MAX_SIZE = 20_000
"""Most characters that a pattern may stand for, its repetitions written out."""

_COUNT = re.compile(r"\{(\d{0,18})(?:,(\d{0,18}))?\}")
_RECURSION = re.compile(r"\(\?(?:R|[+-]?\d|&|P>)")
_CLASS = re.compile(r"\[\^?\]?(?:\\.|[^\]\\])*\]", re.DOTALL)


@lru_cache(maxsize=512)
def compile_regex(pattern: str, *, dotall: bool = False) -> Any:
    """Compile a pattern with the ``regex`` package; raise ``ValueError`` where it is none, or is too large."""
    import regex

    if len(pattern) > MAX_CHARS:
        raise ValueError(f"has {len(pattern):,} characters; give one of at most {MAX_CHARS:,}")
    if _RECURSION.search(pattern):
        raise ValueError("calls itself, which has no bound; write it without recursion")
    if written_out(pattern) > MAX_SIZE:
        raise ValueError("is too long with its repetitions written out; use smaller counts, or * and +")
    try:
        return regex.compile(pattern, regex.DOTALL if dotall else 0)
    except (regex.error, OverflowError, RecursionError, MemoryError) as error:
        raise ValueError(f"is not a regular expression ({error}); correct it") from None


def written_out(pattern: str) -> int:
    """Return about how many characters a pattern has when its counted repetitions are written out."""
    sizes, last, at = [0], 0, 0
    while at < len(pattern):
        character, step = pattern[at], 1
        if character == "(":
            sizes.append(0)
        elif character == "{" and (count := _COUNT.match(pattern, at)):
            times = max(int(number or 0) for number in count.groups(default="0"))
            sizes[-1] += last * max(times - 1, 0)
            last, step = last * max(times, 1), count.end() - at
        else:
            if character == ")" and len(sizes) > 1:
                last = sizes.pop() + 1
            else:
                skipped = _CLASS.match(pattern, at) if character == "[" else None
                step = skipped.end() - at if skipped else 2 if character == "\\" else 1
                last = 1
            sizes[-1] += last
        at += step
    return sum(sizes)
