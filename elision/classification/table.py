"""The table: asked for the classes of a call, and what an operation may do to its result."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

from elision.classification.cells import Facts
from elision.classification.classes import ERROR, OPERATIONS, QUERIES, UNKNOWN, ClassRow
from elision.classification.keys import canonical, frozen, normalised, relevant, same_call
from elision.classification.patterns import OutOfTimeError
from elision.classification.rules import NO_RESOURCE, Reason, Rule, Status, begins_with_tool, strictly
from elision.classification.shell_parts import CARRIERS, FURTHER, SHELL, ShellParts
from elision.message import ToolCall

MAX_REMEMBERED = 4096
"""Most calls whose classification is remembered."""

MAX_NAME_CHARS = 200
"""Longest name of a tool whose rules are remembered."""


@dataclass(frozen=True, slots=True)
class Classification:
    """The classes of one result, and what decided each."""

    classes: frozenset[str]
    rules: tuple[Reason, ...]


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether an edit may be made; ``lasting`` says that a refusal stays, whatever happens later."""

    allowed: bool
    reason: str = ""
    lasting: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """A classification table: a frozen value, as far as anybody can see."""

    name: str
    classes: Mapping[str, ClassRow]
    rules: tuple[Rule, ...]
    _known: dict[Hashable, Classification] = field(default_factory=dict, repr=False)
    _of_tools: dict[str, tuple[Rule, ...]] = field(default_factory=dict, repr=False)
    _names: frozenset[str] | None = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_names", _looked_at(self.rules))

    def classify(
        self, call: ToolCall, status: Status = None, annotations: Mapping[str, Any] | None = None
    ) -> Classification:
        """Return the classes of the result of a call: those of all rules that match, and of plugins.

        ``status`` is what the host says of the result, ``annotations`` are those of the tool (MCP).  Where nothing
        matches the class is ``unknown``; a failed call also has the class ``error``.
        """
        from elision.classification.plugged import plugged_reasons

        given = strictly(annotations or {})
        key = (relevant(call, self._names), status, frozen(given))
        found = self._known.get(key)
        if found is None:
            if len(self._known) >= MAX_REMEMBERED:
                self._known.clear()
            found = self._known.setdefault(key, _classification([*self._reasons(call, status, given)], status))
        plugged = plugged_reasons(call, status, given, self.classes)
        if not plugged:
            return found
        # What a plugin knows takes the place of what no rule knows, and of nothing else.
        known = (reason for reason in found.rules if reason.where not in {"", SHELL})
        return _classification([*known, *plugged], status)

    def verdict(self, operation: str, classes: Iterable[str], facts: Facts | None = None) -> Verdict:
        """Say whether an operation may be done to a result: the strictest cell of all its classes applies.

        What is no column of the table (a change of form) is allowed.
        """
        if operation not in OPERATIONS:
            return Verdict(allowed=True)
        facts = facts or Facts()
        refusals = []
        for name in sorted(classes):
            cell = self.classes[name].cell(operation) if name in self.classes else ClassRow(name).cell(operation)
            told = cell.refusal(name, facts)
            if told is not None:
                refusals.append((cell.allowed, f"class {name}: {operation} {told}"))
        if not refusals:
            return Verdict(allowed=True)
        soft, reason = min(refusals)
        return Verdict(allowed=False, reason=reason, lasting=not soft)

    def resource(self, call: ToolCall) -> str | None:
        """Return what a call reads or writes: the argument that a rule names, or the call itself if it is a query."""
        return self.subject(call)[0]

    def extent(self, call: ToolCall) -> str:
        """Return which part of its resource a call is about (lines, pages); nothing for the whole."""
        return self.subject(call)[1]

    def subject(self, call: ToolCall) -> tuple[str | None, str]:
        """Return the resource of a call, and which part of it the call is about."""
        for rule in self._with_resource(call):
            if rule.resource == NO_RESOURCE:
                return None, ""
            if (found := rule.resource_of(call)) is not None:
                part = rule.part_of(call)
                return normalised(found), canonical(part) if part else ""
        return (same_call(call) if self.classify(call).classes <= QUERIES else None), ""

    def same_call(self, call: ToolCall) -> str:
        """Return the key that is the same for the same tool and arguments."""
        return same_call(call)

    def may_act(self, call: ToolCall) -> bool:
        """Whether a call can be an action in text: no rule on shell commands excludes its tool."""
        return not any(rule.excludes(call.name) for rule in self.rules if rule.shell is not None)

    def _about(self, tool: str) -> tuple[Rule, ...]:
        """Return the rules that can match calls of a tool, in order."""
        found = self._of_tools.get(tool)
        if found is None:
            if len(self._of_tools) >= MAX_REMEMBERED:
                self._of_tools.clear()
            try:
                found = tuple(rule for rule in self.rules if rule.concerns(tool))
            except OutOfTimeError:
                return self.rules
            if len(tool) <= MAX_NAME_CHARS:
                self._of_tools[tool] = found
        return found

    def _with_resource(self, call: ToolCall) -> Iterator[Rule]:
        """Yield the rules that say what a call is about, the last one of the table first."""
        for rule in reversed(self._about(call.name)):
            if rule.resource and rule.shell is None and _holds(rule, call, rule.status, rule.annotations):
                yield rule

    def _reasons(self, call: ToolCall, status: Status, annotations: Mapping[str, Any]) -> Iterator[Reason]:
        shell, action = ShellParts(call), begins_with_tool(call) and self.may_act(call)
        found: list[Reason] = []
        spoken: set[str] = set()
        for rule in self._about(call.name):
            try:
                if not rule.matches(call, status, annotations, action=action):
                    continue
                if rule.shell is not None:
                    found += shell.reasons(rule, rule.shell)
                elif rule.classes:
                    found.append(Reason(rule.classes, rule.where))
                    spoken |= _spoken_of(rule)
            except OutOfTimeError:
                found.append(Reason((UNKNOWN,), rule.where, "out of time"))
        yield from found
        if found and all(_LAX.issuperset(reason.classes) for reason in found):
            yield from self._of_command(shell, spoken, status)
        yield from shell.rest()

    def _of_command(self, shell: ShellParts, spoken: Iterable[str], status: Status) -> Iterator[Reason]:
        """Yield what rules on shell commands say of a command that a tool carries which is no shell for them."""
        carried = shell.carried(frozenset(spoken))
        shell.look_at(carried)
        for rule in self.rules if carried else ():
            if rule.shell is not None and rule.of_any_call(status):
                try:
                    yield from shell.reasons(rule, replace(rule.shell, arguments=tuple(carried)))
                except OutOfTimeError:
                    yield Reason((UNKNOWN,), rule.where, "out of time")


@lru_cache(maxsize=4096)
def _spoken_of(rule: Rule) -> frozenset[str]:
    return frozenset(name for name in CARRIERS if rule.speaks_of(name))


_LAX = QUERIES | {ERROR}


def _looked_at(rules: Iterable[Rule]) -> frozenset[str] | None:
    """Return the names of the arguments that rules look at; nothing where these may be any."""
    names: set[str] = {*CARRIERS, *FURTHER}
    for rule in rules:
        names.update(rule.shell.arguments if rule.shell else ())
        for key, _ in rule.arguments:
            if not key.plain:
                return None
            names |= key.literals
    return frozenset(names)


def _holds(rule: Rule, call: ToolCall, status: Status, annotations: Mapping[str, Any]) -> bool:
    try:
        return rule.matches(call, status, annotations)
    except OutOfTimeError:
        return False


def _classification(reasons: list[Reason], status: Status) -> Classification:
    if not reasons:
        reasons = [Reason((UNKNOWN,), "", "no rule matches")]
    if status == ERROR:
        reasons = [*(each for each in reasons if each.where != "status"), Reason((ERROR,), "status")]
    return Classification(frozenset(name for reason in reasons for name in reason.classes), tuple(reasons))
