"""Long results made shorter as they come in: pure functions, for processors and for tools alike."""

from __future__ import annotations

from elision.reducing.limit import Limit
from elision.reducing.records import record_texts
from elision.reducing.slimming import Slimming, slim_content
from elision.reducing.truncation import Truncation, truncate_content

__all__ = [
    "Limit",
    "Slimming",
    "Truncation",
    "record_texts",
    "slim_content",
    "truncate_content",
]
