"""SWE-agent's own sentence, which is known by its looks."""

from __future__ import annotations

import re

_SWEAGENT = re.compile(r"Old environment output: \(\d+ lines omitted\)(?: \(\d+ images omitted\))?")


def is_placeholder(text: str) -> bool:
    """Whether ``text`` is SWE-agent's own sentence for an elided observation."""
    return text.startswith("Old environment output: (") and _SWEAGENT.fullmatch(text) is not None
