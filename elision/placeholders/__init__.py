"""The texts that stand where content was."""

from elision.placeholders.facts import PlaceholderFacts
from elision.placeholders.offered import offered_tools, recall_tool_in
from elision.placeholders.sentence import is_placeholder
from elision.placeholders.templates import check_template, render_placeholder

__all__ = [
    "PlaceholderFacts",
    "check_template",
    "is_placeholder",
    "offered_tools",
    "recall_tool_in",
    "render_placeholder",
]
