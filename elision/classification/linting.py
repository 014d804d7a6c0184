"""What a table that can be read is warned of: rules that add nothing, and cells that give away what must stay."""

from __future__ import annotations

from collections.abc import Sequence

from elision.classification.classes import REMOVING
from elision.classification.patterns import Glob
from elision.classification.reading import ReadTable
from elision.classification.rules import Pattern, Rule, ShellCondition
from elision.config.problems import Problems
from elision.errors import Problem

_MUST_STAY = {
    "receipt": "the only record that something was done would go",
    "skill": "the instructions that the model works by would go",
}


def warned(read: ReadTable) -> list[Problem]:
    """Return the problems of a table with its warnings, in the order of the file."""
    problems = Problems(read.source)
    earlier: list[Rule] = list(read.base.rules) if read.base else []
    for placed, rule in read.rules:
        told = _unreachable(rule, earlier)
        if told is not None:
            problems.add(placed.node, placed.path, told, "warning")
        earlier.append(rule)
    for (name, operation), placed in read.cells.items():
        cell = read.table.classes[name].cell(operation)
        if name in _MUST_STAY and operation in REMOVING and cell.allowed and not _only_older(name, operation, read):
            told = f"this lets '{operation}' remove a {name}: {_MUST_STAY[name]}; write 'never' or remove the line"
            problems.add(placed.node, placed.path, told, "warning")
    return sorted([*read.problems, *problems.in_order()], key=lambda each: (each.line, each.column))


def _only_older(name: str, operation: str, read: ReadTable) -> bool:
    """Whether a skill goes only when newer ones have used up the budget of their class: it can be loaded again."""
    return name == "skill" and read.table.classes[name].cell(operation).max_tokens is not None


def _unreachable(rule: Rule, earlier: Sequence[Rule]) -> str | None:
    if rule.tools and all(any(out.covers(each) for out in rule.excluded) for each in rule.tools):
        return "this rule matches no call: it excludes every tool that it names; correct 'tool'"
    if not rule.classes or rule.resource:
        return None
    for other in earlier:
        if set(rule.classes) <= set(other.classes) and _covers(other, rule):
            return f"this rule adds nothing: {other.where} matches all that it matches, with the same class; remove it"
    return None


def _covers(other: Rule, rule: Rule) -> bool:
    """Whether ``other`` certainly matches every call that ``rule`` matches."""
    return (
        other.status in (None, rule.status)
        and other.annotations.items() <= rule.annotations.items()
        and (not other.tools or (bool(rule.tools) and _all_covered(rule.tools, other.tools)))
        and all(any(out.covers(each) for out in rule.excluded) for each in other.excluded)
        and all(
            any(key.covers(mine) and _all_covered(given, patterns) for mine, given in rule.arguments)
            for key, patterns in other.arguments
        )
        and _shell_covered(other.shell, rule.shell)
    )


def _all_covered(patterns: Sequence[Pattern], others: Sequence[Pattern]) -> bool:
    return all(any(_pattern_covers(other, each) for other in others) for each in patterns)


def _pattern_covers(other: Pattern, pattern: Pattern) -> bool:
    if isinstance(other, Glob) and isinstance(pattern, Glob):
        return other.covers(pattern)
    return other == pattern


def _shell_covered(other: ShellCondition | None, rule: ShellCondition | None) -> bool:
    if other is None:
        # A rule on the whole call does not say that a part of the command is known.
        return rule is None
    if rule is None or rule.arguments != other.arguments or rule.writes > other.writes:
        return False
    return all(any(mine.covers(each) for mine in other.commands.patterns) for each in rule.commands.patterns)
