"""The classes that the results of a tool can have, whatever its arguments are."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from elision.classification.rules import Rule, strictly
from elision.message import ToolCall

if TYPE_CHECKING:
    from elision.classification.table import Table

ANY_TOOL = "*"


def possible_classes(table: Table, tool: str, annotations: Mapping[str, Any] | None = None) -> frozenset[str]:
    """Return the classes of a call of a tool without arguments, and of all rules that name the tool.

    A rule for any tool says nothing of this one before it is called.
    """
    call = ToolCall("", tool, {})
    given = strictly(annotations or {})
    found = set(table.classify(call, None, annotations).classes)
    for rule in table.rules:
        if _names(rule, call) and all(given.get(name) == value for name, value in rule.annotations.items()):
            found.update(rule.classes)
    return frozenset(found)


def _names(rule: Rule, call: ToolCall) -> bool:
    return any(each.source != ANY_TOOL for each in rule.tools) and bool(rule.matches_tool(call))
