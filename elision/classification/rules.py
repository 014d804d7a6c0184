"""Rules: which calls they match, and the classes that they give."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Literal, TypeAlias

from elision.classification.classes import QUERIES
from elision.classification.commands import CommandIndex
from elision.classification.patterns import Glob, Regex
from elision.message import ToolCall
from elision.shell import SimpleCommand

Status: TypeAlias = Literal["ok", "error"] | None
Pattern: TypeAlias = Glob | Regex


NO_RESOURCE = ("none",)
"""What a rule names whose calls go on from where the one before ended: no later one says the same again."""

ASIDE = frozenset(
    {"description", "explanation", "reason", "reasoning", "thought", "purpose", "intent", "justification", "summary"}
    | {"security_risk", "timeout", "timeout_ms", "timeout_seconds"}
)
"""Arguments that say why or how a call is made, and nothing of what it is about."""


@dataclass(frozen=True, slots=True)
class Reason:
    """Why a result has some of its classes: a rule by its place, and what of the call it was about."""

    classes: tuple[str, ...]
    where: str
    matched: str = ""

    def __str__(self) -> str:
        matched = f" ({self.matched})" if self.where and self.matched else self.matched
        return f"{'+'.join(self.classes)}: {self.where}{matched}"


@dataclass(frozen=True, slots=True)
class ShellCondition:
    """Which argument holds a shell command, and which of its parts the rule is about.

    ``writes`` is for parts that write a file through a redirection.  A list is the words of one command, or, in an
    argument named ``commands``, command lines.
    """

    arguments: tuple[str, ...]
    commands: CommandIndex
    writes: bool = False

    def given(self, call: ToolCall) -> Mapping[str, Any]:
        """Return those of the arguments that the call has, with their values; empty ones are none."""
        given = arguments_of(call)
        return {name: given[name] for name in self.arguments if given.get(name) not in (None, "")}

    def holds_action(self, call: ToolCall) -> bool:
        """Whether the call is an action in text: the tool's name is the first word of the command."""
        return bool(call.name) and any(
            isinstance(text, str) and text.startswith(call.name) and text[len(call.name) :][:1] in _AFTER_WORD
            for text in self.given(call).values()
        )

    def claims(self, part: SimpleCommand, classes: Collection[str]) -> bool:
        """Whether the rule gives its classes to a part: what may be so counts only where it is no query."""
        if self.commands.matches(part) or (self.writes and part.writes):
            return True
        return not QUERIES.issuperset(classes) and self.commands.may_match(part)


@dataclass(frozen=True, slots=True, eq=False)
class Rule:
    """One rule.  All its conditions must hold; one that is not given always does."""

    classes: tuple[str, ...]
    where: str
    tools: tuple[Glob, ...] = ()
    excluded: tuple[Glob, ...] = ()
    arguments: tuple[tuple[Glob, tuple[Pattern, ...]], ...] = ()
    shell: ShellCondition | None = None
    annotations: Mapping[str, Any] = field(default_factory=dict)
    status: Status = None
    resource: tuple[str, ...] = ()
    extent: tuple[str, ...] = ()

    def matches(self, call: ToolCall, status: Status, annotations: Mapping[str, Any], *, action: bool = False) -> bool:
        """Whether all conditions hold, the one on shell commands left aside; ``action`` as in ``matches_tool``."""
        return (
            (self.status is None or self.status == status)
            and (_named(self, call.name) or (action and self.matches_tool(call, action=action)))
            and (not self.annotations or self._is_told(annotations))
            and (not self.arguments or self._fits(arguments_of(call)))
        )

    def __str__(self) -> str:
        tools = [each.source for each in self.tools] + [f"!{each.source}" for each in self.excluded]
        told = [f"tool {', '.join(tools)}"] if tools else []
        told += [f"{key.source} = {', '.join(each.source for each in given)}" for key, given in self.arguments]
        if self.shell is not None:
            told += [f"runs {', '.join(each.source for each in self.shell.commands.patterns)}"]
            told += ["or writes a file"] if self.shell.writes else []
        told += [f"{name} is {''.join(texts(value)[:1])}" for name, value in self.annotations.items()]
        told += [f"status {self.status}"] if self.status else []
        return f"{'+'.join(self.classes) or 'resource'} ({self.where}): {'; '.join(told)}"

    def matches_tool(self, call: ToolCall, *, action: bool = False) -> bool:
        """Whether the call is of one of the tools that the rule names, or may be an ``action`` in text and is one."""
        named = _named(self, call.name)
        return named or (action and named is None and self.shell is not None and self.shell.holds_action(call))

    def excludes(self, tool: str) -> bool:
        """Whether the rule excludes a tool."""
        return bool(self.excluded) and _named(self, tool) is False

    def concerns(self, tool: str, names: Collection[str]) -> bool:
        """Whether the rule can match calls of a tool, or actions in text, whose arguments have these names."""
        named = _named(self, tool)
        if not named and (named is False or self.shell is None):
            return False
        if self.shell is not None and not any(name in names for name in self.shell.arguments):
            return False
        return not self.arguments or any(map(self.arguments[0][0].matches, names))

    def speaks_of(self, argument: str) -> bool:
        """Whether the rule has a condition on an argument, or one on what the tool's owner says of it."""
        return bool(self.annotations) or any(key.matches(argument) for key, _ in self.arguments)

    def of_any_call(self, status: Status) -> bool:
        """Whether a call needs no arguments or annotations of its own to match."""
        return not self.arguments and not self.annotations and self.status in (None, status)

    def resource_of(self, given: Mapping[str, Any]) -> str | None:
        """Return the value of the first argument that names the resource."""
        for name in self.resource:
            if name in given and (text := _one_of(given[name])):
                return text
        return None

    def part_of(self, given: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return which part of its resource a call with these arguments is about; nothing for the whole.

        Where the rule names arguments that narrow a call, others do, too, that nobody knows: a result stays rather than
        that a part of it takes its place.
        """
        return {
            name: value
            for name, value in given.items()
            if value is not None
            and (name in self.extent or not (name in self.resource or name in ASIDE))
            and not any(key.matches(name) for key, _ in self.arguments)
        }

    def _is_told(self, annotations: Mapping[str, Any]) -> bool:
        return all(name in annotations and annotations[name] == value for name, value in self.annotations.items())

    def _fits(self, given: Mapping[str, Any]) -> bool:
        found = entries(given)
        return all(_has(found, key, patterns) for key, patterns in self.arguments)


def _has(found: Sequence[tuple[str, Any]], key: Glob, patterns: Sequence[Pattern]) -> bool:
    """Whether an argument of a name holds a text that one of some patterns matches."""
    for name, value in found:
        if key.matches(name):
            for text in texts(value):
                for pattern in patterns:
                    if pattern.matches(text):
                        return True
    return False


_LONGEST_NAME = 1_000
_AFTER_WORD = ("", *" \t\n\r;&|<>()")
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


@lru_cache(maxsize=16384)
def _named(rule: Rule, tool: str) -> bool | None:
    """Whether a rule names a tool; ``False`` where it excludes it, nothing where it does neither."""
    names = spellings(tool)
    if len(tool) > _LONGEST_NAME or not tool.isprintable():
        return False
    if any(each.matches(name) for each in rule.excluded for name in names):
        return False
    # A blank is no part of a name, unless a rule writes it.
    tools = [each for each in rule.tools if " " not in tool or " " in each.source]
    return True if not rule.tools or any(each.matches(name) for each in tools for name in names) else None


@lru_cache(maxsize=1024)
def spellings(tool: str) -> tuple[str, ...]:
    """Return a tool's name in small letters, and with its words joined by ``_``: ``getUser`` is ``get_user`` too."""
    plain = tool.lower()
    joined = _HUMP.sub("_", tool).lower().replace("-", "_")
    return (plain,) if joined == plain else (plain, joined)


def arguments_of(call: ToolCall) -> Mapping[str, Any]:
    """Return the arguments of a call; those that could not be read are none."""
    return call.arguments if isinstance(call.arguments, dict | Mapping) else {}


def begins_with_tool(call: ToolCall) -> bool:
    """Whether an argument begins with the tool's name, as all actions in text do."""
    name = call.name
    return any(isinstance(value, str) and value.startswith(name) for value in arguments_of(call).values())


def entries(arguments: Mapping[str, Any]) -> list[tuple[str, Any]]:
    """Return the arguments with their names, those within others too: ``options.method`` is ``method``."""
    found: list[tuple[str, Any]] = []
    open_, seen = [arguments], {id(arguments)}
    while open_:
        for name, value in open_.pop().items():
            if isinstance(name, str):
                found.append((name, value))
            if type(value) is not str:
                for inner in value if isinstance(value, list | tuple) else (value,):
                    if isinstance(inner, Mapping) and id(inner) not in seen:
                        seen.add(id(inner))
                        open_.append(inner)
    return found


_STRICTER = {"readOnlyHint": False, "destructiveHint": True}


def strictly(annotations: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return annotations in which a hint that is neither true nor false has its stricter value."""
    malformed = [name for name in _STRICTER if not isinstance(annotations.get(name), bool | None)]
    return {**annotations, **{name: _STRICTER[name] for name in malformed}} if malformed else annotations


def _one_of(value: Any) -> str | None:
    """Return what an argument names: the one text, or all of them in one."""
    if isinstance(value, str):
        return value
    found = [*texts(value)]
    return found[0] if len(found) == 1 else json.dumps(found, ensure_ascii=False) if found else None


def texts(value: Any) -> Sequence[str]:
    """Return the texts that a pattern is tried on: a value as YAML would write it, or the items of a list."""
    match value:
        case str():
            return (value,)
        case bool():
            return ("true" if value else "false",)
        case None:
            return ("null",)
        case int() | float():
            return (str(value),)
        case list() | tuple():
            return [text for item in value if not isinstance(item, list | tuple) for text in texts(item)]
        case _:
            return ()
