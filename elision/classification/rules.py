"""Rules: which calls they match, and the classes that they give."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Literal, TypeAlias

from elision.classification.commands import CommandIndex
from elision.classification.patterns import Glob, Regex
from elision.history import ToolCall

Status: TypeAlias = Literal["ok", "error"] | None
Pattern: TypeAlias = Glob | Regex


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

    def given(self, call: ToolCall) -> tuple[str, Any] | None:
        """Return the first of the arguments that the call has, and its value."""
        given = arguments_of(call)
        return next(((name, given[name]) for name in self.arguments if name in given), None)

    def holds_action(self, call: ToolCall) -> bool:
        """Whether the call is an action in text: the tool's name is the first word of the command."""
        given = self.given(call)
        return (
            given is not None
            and isinstance(given[1], str)
            and bool(call.name)
            and given[1].startswith(call.name)
            and not given[1][len(call.name) :][:1].strip()
        )


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
            and self.matches_tool(call, action=action)
            and all(name in annotations and annotations[name] == value for name, value in self.annotations.items())
            and (not self.arguments or self._fits(arguments_of(call)))
        )

    def __str__(self) -> str:
        tools = [each.source for each in self.tools] + [f"!{each.source}" for each in self.excluded]
        told = [f"tool {', '.join(tools)}"] if tools else []
        told += [f"{key.source} = {', '.join(each.source for each in given)}" for key, given in self.arguments]
        if self.shell is not None:
            told += [f"runs {', '.join(each.source for each in self.shell.commands.patterns)}"]
            told += ["or writes a file"] if self.shell.writes else []
        told += [f"{name} is {next(texts(value), '')}" for name, value in self.annotations.items()]
        told += [f"status {self.status}"] if self.status else []
        return f"{'+'.join(self.classes) or 'resource'} ({self.where}): {'; '.join(told)}"

    def matches_tool(self, call: ToolCall, *, action: bool = False) -> bool:
        """Whether the call is of one of the tools that the rule names, or may be an ``action`` in text and is one."""
        named = _named(self, call.name)
        return named or (action and named is None and self.shell is not None and self.shell.holds_action(call))

    def excludes(self, tool: str) -> bool:
        """Whether the rule excludes a tool."""
        return bool(self.excluded) and _named(self, tool) is False

    def resource_of(self, call: ToolCall) -> str | None:
        """Return the value of the first argument that names the resource."""
        given = arguments_of(call)
        found = (next(texts(given[name]), None) for name in self.resource if name in given)
        return next((text for text in found if text), None)

    def _fits(self, given: Mapping[str, Any]) -> bool:
        return all(
            any(
                pattern.matches(text)
                for name in given
                if key.matches(name)
                for text in texts(given[name])
                for pattern in patterns
            )
            for key, patterns in self.arguments
        )


_LONGEST_NAME = 1_000
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


@lru_cache(maxsize=16384)
def _named(rule: Rule, tool: str) -> bool | None:
    """Whether a rule names a tool; ``False`` where it excludes it, nothing where it does neither."""
    names = spellings(tool)
    if len(tool) > _LONGEST_NAME or any(each.matches(name) for each in rule.excluded for name in names):
        return False
    return True if not rule.tools or any(each.matches(name) for each in rule.tools for name in names) else None


@lru_cache(maxsize=1024)
def spellings(tool: str) -> tuple[str, ...]:
    """Return a tool's name in small letters, and with its words joined by ``_``: ``getUser`` is ``get_user`` too."""
    plain = tool.lower()
    joined = _HUMP.sub("_", tool).lower().replace("-", "_").replace(" ", "_")
    return (plain,) if joined == plain else (plain, joined)


def arguments_of(call: ToolCall) -> Mapping[str, Any]:
    """Return the arguments of a call; those that could not be read are none."""
    return call.arguments if isinstance(call.arguments, Mapping) else {}


def texts(value: Any) -> Iterator[str]:
    """Yield the texts that a pattern is tried on: a value as YAML would write it, or the items of a list."""
    match value:
        case str():
            yield value
        case bool():
            yield "true" if value else "false"
        case None:
            yield "null"
        case int() | float():
            yield str(value)
        case list() | tuple():
            yield from (text for item in value if not isinstance(item, list | tuple) for text in texts(item))
