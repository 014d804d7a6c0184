"""Counting tokens, offline and in time linear in the text; each long text once in a process.

Counted is what a message says: its texts, calls, results, thinking, images and files.  What the provider puts around
messages is not: see ``docs/tokens.md``.
"""

from elision.tokens.calibration import Calibration
from elision.tokens.counters import counting_of
from elision.tokens.counting import (
    IMAGE_TOKENS,
    count_beside,
    count_messages,
    count_part,
    count_parts,
    count_system,
    count_text,
    count_tools,
)

__all__ = [
    "IMAGE_TOKENS",
    "Calibration",
    "count_beside",
    "count_messages",
    "count_part",
    "count_parts",
    "count_system",
    "count_text",
    "count_tools",
    "counting_of",
]
