"""The table: asked for the classes of a call, and what an operation may do to its result."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import chain
from operator import attrgetter
from typing import Any

from elision.classification.cells import Facts
from elision.classification.classes import ERROR, OPERATIONS, QUERIES, UNKNOWN, ClassRow
from elision.classification.keys import canonical, frozen, normalised, same_call
from elision.classification.patterns import OutOfTimeError
from elision.classification.rules import NO_RESOURCE, Reason, Rule, Status, arguments_of, begins_with_tool, strictly
from elision.classification.shapes import Shape, names_in
from elision.classification.shell_parts import CARRIERS, SHELL, ShellParts
from elision.message import ToolCall

MAX_REMEMBERED = 4096
"""Most calls whose classification is remembered."""

MAX_SHAPES = 1024
"""Most shapes of calls that are remembered."""

MAX_NAME_CHARS = 1000
"""Most characters of the names of a tool and its arguments whose shape is remembered."""


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


_ALLOWED = Verdict(allowed=True)


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """A classification table: a frozen value, as far as anybody can see."""

    name: str
    classes: Mapping[str, ClassRow]
    rules: tuple[Rule, ...]
    _known: dict[Hashable, Classification] = field(default_factory=dict, repr=False)
    _shapes: dict[tuple[str, ...], Shape] = field(default_factory=dict, repr=False)

    def classify(
        self, call: ToolCall, status: Status = None, annotations: Mapping[str, Any] | None = None
    ) -> Classification:
        """Return the classes of the result of a call: those of all rules that match, and of plugins.

        ``status`` is what the host says of the result, ``annotations`` are those of the tool (MCP).  Where nothing
        matches the class is ``unknown``; a failed call also has the class ``error``.
        """
        from elision.classification.plugged import plugged_reasons

        given, arguments = strictly(annotations) if annotations else {}, arguments_of(call)
        shape = self._shape(call.name, arguments)
        key = (shape, status, frozen(given) if given else None, shape.values(arguments))
        found = self._known.get(key)
        if found is None:
            if len(self._known) >= MAX_REMEMBERED:
                self._known.clear()
            found = self._known[key] = _classification(self._reasons(call, status, given, shape), status)
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
            return _ALLOWED
        facts = facts or Facts()
        refusals = []
        for name in sorted(classes):
            cell = self.classes[name].cell(operation) if name in self.classes else ClassRow(name).cell(operation)
            told = cell.refusal(name, facts)
            if told is not None:
                refusals.append((cell.allowed, f"class {name}: {operation} {told}"))
        if not refusals:
            return _ALLOWED
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
        arguments = arguments_of(call)
        for rule in self._shape(call.name, arguments).subjects:
            if not _holds(rule, call):
                continue
            if rule.resource == NO_RESOURCE:
                return None, ""
            if (found := rule.resource_of(arguments)) is not None:
                part = rule.part_of(arguments) if rule.extent else None
                return normalised(found), canonical(part) if part else ""
        return (same_call(call) if self.classify(call).classes <= QUERIES else None), ""

    def same_call(self, call: ToolCall) -> str:
        """Return the key that is the same for the same tool and arguments."""
        return same_call(call)

    def may_act(self, call: ToolCall) -> bool:
        """Whether a call can be an action in text: no rule on shell commands excludes its tool."""
        return not any(rule.excludes(call.name) for rule in self.rules if rule.shell is not None)

    def _shape(self, tool: str, arguments: Mapping[str, Any]) -> Shape:
        kind = (tool, *names_in(arguments))
        found = self._shapes.get(kind)
        if found is None:
            found = Shape.of(self.rules, tool, kind[1:])
            if len(self._shapes) >= MAX_SHAPES:
                self._shapes.clear()
            if sum(map(len, kind)) <= MAX_NAME_CHARS:
                self._shapes[kind] = found
        return found

    def _reasons(self, call: ToolCall, status: Status, annotations: Mapping[str, Any], shape: Shape) -> list[Reason]:
        shell, action = ShellParts(call), shape.runs and begins_with_tool(call) and self.may_act(call)
        found: list[Reason] = []
        spoken: set[str] = set()
        for rule in shape.rules if annotations else shape.unannotated:
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
        if shape.runs:
            if found and all(_LAX.issuperset(reason.classes) for reason in found):
                found += self._of_command(shell, spoken, status)
            found += shell.rest()
        return found

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

_classes_of = attrgetter("classes")


def _holds(rule: Rule, call: ToolCall) -> bool:
    """Whether a rule is about a call, whatever its result and the tool's annotations are."""
    try:
        return rule.matches(call, rule.status, rule.annotations)
    except OutOfTimeError:
        return False


def _classification(reasons: list[Reason], status: Status) -> Classification:
    if not reasons:
        reasons = [Reason((UNKNOWN,), "", "no rule matches")]
    if status == ERROR:
        reasons = [*(each for each in reasons if each.where != "status"), Reason((ERROR,), "status")]
    return Classification(frozenset(chain.from_iterable(map(_classes_of, reasons))), tuple(reasons))
