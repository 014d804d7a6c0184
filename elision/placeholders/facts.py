"""What a placeholder can say of the result that it stands for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class PlaceholderFacts:
    """The facts of one result that is removed, as they come from outside: nothing in it is clean yet."""

    tool: str
    """Name of the called tool; empty for a result without a call."""
    arguments: Mapping[str, Any] | str | None
    text: str
    """What stands there now."""
    chars: int
    """Characters of what is removed, as ``lines`` and ``images`` are of it."""
    lines: int
    images: int
    classes: frozenset[str]
    """Classes of the table; none where there is no table."""
    ref: str
    """Name of the original in the archive."""
    tool_offered: bool
    """Whether the request offers the tool again."""
    recall_tool: str
    """Name of the offered tool that brings originals back; empty where none is."""
    version: str = ""
    """Version of a skill."""
    path: str = ""
    """Path of a skill."""
    files: int = 0
    """Documents, sound and the like that are removed."""
