"""What a SWE-agent style config implies for SWE-agent's own seven types."""

from __future__ import annotations

SWEAGENT = "sweagent"

SWEAGENT_TYPES = frozenset(
    {
        "default",
        "last_n_observations",
        "tag_tool_call_observations",
        "closed_window",
        "cache_control",
        "remove_regex",
        "image_parsing",
    }
)
"""The types that SWE-agent has; the exemptions are those of the classes that ship under these names."""
