"""The guard: rules that every edit must pass, whichever processor proposes it.

It runs on each edit, naming the processor and the rule, and cannot be configured away.  Rules are values of one kind: a
name, a number from the design, and a function that returns why an edit is refused, or ``None``.  After a refusal that
may pass (``until``) the engine offers the same part to the processor again.
"""

from __future__ import annotations

from elision.guard import content, permission, reach, recovery, steps
from elision.guard.case import Case, Rule, Why, results_of
from elision.guard.recovery import can_come_back, redacts

__all__ = ["ARCHIVED_FIRST", "RULES", "Case", "Rule", "Why", "can_come_back", "first_refusal", "redacts", "results_of"]

ARCHIVED_FIRST = Rule(5, "archived_first", recovery.archived_first)

RULES: tuple[Rule, ...] = (
    Rule(0, "within_reach", reach.within_reach),
    Rule(0, "fits_stage", reach.fits_stage),
    Rule(0, "content_is_known", reach.content_is_known),
    Rule(8, "elided_stays", content.elided_stays),
    Rule(1, "step_is_atomic", steps.step_is_atomic),
    Rule(2, "missing_stays_missing", steps.missing_stays_missing),
    Rule(2, "newest_step_stays", steps.newest_step_stays),
    Rule(4, "touches_declared", permission.touches_declared),
    Rule(4, "operation_declared", permission.operation_declared),
    Rule(5, "archived_first", recovery.archive_keeps),
    Rule(4, "class_allows", permission.class_allows),
    Rule(11, "one_owner", permission.one_owner),
    Rule(6, "never_grows", content.never_grows),
    Rule(9, "clean_text", content.clean_text),
    Rule(5, "way_back", recovery.way_back),
    ARCHIVED_FIRST,
)


def first_refusal(case: Case) -> tuple[Rule, Why] | None:
    """Return the first rule that refuses the edit, and why."""
    for rule in RULES:
        why = rule.check(case)
        if why is not None:
            return rule, why
    return None
