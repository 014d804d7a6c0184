"""The guard: rules that every edit must pass, whichever processor proposes it.

It runs on each edit, naming the processor and the rule, and cannot be configured away.  Rules are values of one kind: a
name, a number from the design, and a function that returns why an edit is refused, or ``None``.  After a refusal that
may pass (``until``) the engine offers the same part to the processor again.
"""

from __future__ import annotations

from elision.edits import CacheBreakpoint, Drop, Insert, Remove, Replace, Tag
from elision.guard import content, permission, reach, recovery, steps, thinking
from elision.guard.case import Case, Rule, Why, results_of
from elision.guard.recovery import arguments_can_come_back, can_come_back, file_can_be_read, redacts
from elision.guard.thinking import bound_to

__all__ = [
    "ARCHIVED_FIRST",
    "BOUND_THINKING",
    "NEVER_GROWS",
    "RULES",
    "Case",
    "Rule",
    "Why",
    "arguments_can_come_back",
    "bound_to",
    "can_come_back",
    "file_can_be_read",
    "first_refusal",
    "redacts",
    "results_of",
]

ARCHIVED_FIRST = Rule(5, "archived_first", recovery.archived_first, (Replace, Drop))

BOUND_THINKING = Rule(3, "bound_thinking", thinking.bound_thinking, (Replace, Drop, Insert))

NEVER_GROWS = Rule(6, "never_grows", content.never_grows, (Replace,))

RULES: tuple[Rule, ...] = (
    Rule(0, "within_reach", reach.within_reach),
    Rule(0, "fits_stage", reach.fits_stage, (Tag, CacheBreakpoint, Insert)),
    Rule(0, "content_is_known", reach.content_is_known, (Replace,)),
    Rule(8, "elided_stays", content.elided_stays, (Replace,)),
    Rule(1, "step_is_atomic", steps.step_is_atomic, (Drop, Remove, Insert)),
    Rule(2, "missing_stays_missing", steps.missing_stays_missing, (Replace, Drop)),
    Rule(2, "newest_step_stays", steps.newest_step_stays, (Replace, Drop)),
    Rule(3, "thinking_stays", thinking.thinking_stays, (Replace,)),
    Rule(4, "touches_declared", permission.touches_declared, (Replace,)),
    Rule(4, "operation_declared", permission.operation_declared, (Replace,)),
    Rule(5, "archived_first", recovery.archive_keeps, (Replace, Drop)),
    Rule(4, "class_allows", permission.class_allows, (Replace, Drop)),
    Rule(11, "one_owner", permission.one_owner, (Replace, Drop)),
    NEVER_GROWS,
    Rule(9, "clean_text", content.clean_text, (Replace, Insert)),
    Rule(5, "way_back", recovery.way_back, (Replace,)),
    ARCHIVED_FIRST,
    BOUND_THINKING,
)

_ABOUT = {
    kind: tuple(rule for rule in RULES if not rule.about or kind in rule.about)
    for kind in (Replace, Drop, Remove, Insert, Tag, CacheBreakpoint)
}


def first_refusal(case: Case) -> tuple[Rule, Why] | None:
    """Return the first rule that refuses the edit, and why."""
    for rule in _ABOUT[type(case.edit)]:
        why = rule.check(case)
        if why is not None:
            return rule, why
    return None
