"""Cutting several texts to one length."""

from __future__ import annotations

from collections.abc import Sequence


def most_of_each(sizes: Sequence[int], total: int) -> int:
    """Return the most that each text may have so that all together have no more than ``total``."""
    left = len(sizes)
    for size in sorted(sizes):
        if size * left > total:
            return total // left
        total, left = total - size, left - 1
    return total
