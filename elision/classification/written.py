"""A rule as it is written in YAML, and the rule that it means."""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypeAlias

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    StrictBool,
    StrictFloat,
    StrictInt,
    StrictStr,
    Tag,
    field_validator,
    model_validator,
)

from elision.classification.commands import CommandIndex, command_pattern
from elision.classification.patterns import Regex, compiled, glob
from elision.classification.rules import Pattern, Rule, ShellCondition, texts

CONDITIONS = ("tool", "arguments", "shell", "annotations", "status")
_MAX_SOURCE = 2_000


def _as_list(value: Any) -> Any:
    return [value] if isinstance(value, str | dict | bool | int | float) else value


Names: TypeAlias = Annotated[list[StrictStr], BeforeValidator(_as_list), Field(min_length=1)]
Scalar: TypeAlias = StrictBool | StrictInt | StrictFloat | StrictStr


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)


class WrittenRegex(_Strict):
    """``{regex: …}``."""

    regex: StrictStr

    @field_validator("regex")
    @classmethod
    def _compiles(cls, source: str) -> str:
        if len(source) > _MAX_SOURCE:
            raise ValueError(
                f"this has {len(source):,} characters; at most {_MAX_SOURCE:,} are allowed; make it shorter"
            )
        try:
            compiled(source)
        except ValueError as error:
            raise ValueError(f"this {error}") from None
        return source


class WrittenShell(_Strict):
    """``{argument: command, commands: [ls, "git log"]}``."""

    argument: Names = ["command"]
    commands: Annotated[list[StrictStr], BeforeValidator(_as_list)] = []
    writes: StrictBool = False

    @model_validator(mode="after")
    def _has_a_condition(self) -> WrittenShell:
        if not self.commands and not self.writes:
            raise ValueError("shell needs 'commands' or 'writes'; add 'commands: [\"git commit\"]' or 'writes: true'")
        blank = next((source for source in self.commands if not source.split()), None)
        if blank is not None:
            raise ValueError("a command is blank; write the words that it begins with, such as 'git commit'")
        return self


def _form(value: Any) -> str:
    return "regex" if isinstance(value, dict | WrittenRegex) else "text"


Written: TypeAlias = Annotated[
    Annotated[Scalar, Tag("text")] | Annotated[WrittenRegex, Tag("regex")], Discriminator(_form)
]
Patterns: TypeAlias = Annotated[list[Written], BeforeValidator(_as_list), Field(min_length=1)]


class WrittenRule(_Strict):
    """One item of ``rules``."""

    tool: Names | None = None
    arguments: dict[str, Patterns] = {}
    shell: WrittenShell | None = None
    annotations: dict[str, Scalar] = {}
    status: Literal["ok", "error"] | None = None
    class_: Annotated[Names | None, Field(alias="class")] = None
    resource: Names | None = None
    extent: Names | None = None

    @model_validator(mode="after")
    def _says_something(self) -> WrittenRule:
        if self.class_ is None and self.resource is None:
            raise ValueError("a rule needs 'class'; add 'class: static' or another class")
        if not any(getattr(self, name) for name in CONDITIONS):
            raise ValueError(f"a rule needs a condition; add one of: {', '.join(CONDITIONS)}")
        if self.extent is not None and self.resource is None:
            raise ValueError("'extent' is a part of a resource; add 'resource: …' or remove it")
        if self.resource is not None and self.shell is not None:
            raise ValueError("a rule on shell commands has no 'resource'; remove one of the two")
        return self

    def meant(self, where: str) -> Rule:
        """Return the rule; ``where`` is its place."""
        names = [(name.startswith("!"), glob(name.removeprefix("!"), fold=True)) for name in self.tool or ()]
        return Rule(
            classes=tuple(self.class_ or ()),
            where=where,
            tools=tuple(each for excluded, each in names if not excluded),
            excluded=tuple(each for excluded, each in names if excluded),
            arguments=tuple((glob(name), tuple(map(_pattern, given))) for name, given in self.arguments.items()),
            shell=self._shell(),
            annotations=dict(self.annotations),
            status=self.status,
            resource=tuple(self.resource or ()),
            extent=tuple(self.extent or ()),
        )

    def _shell(self) -> ShellCondition | None:
        if self.shell is None:
            return None
        patterns = CommandIndex(map(command_pattern, self.shell.commands))
        return ShellCondition(tuple(self.shell.argument), patterns, self.shell.writes)


def _pattern(written: Scalar | WrittenRegex) -> Pattern:
    if isinstance(written, WrittenRegex):
        return Regex(written.regex)
    return glob(texts(written)[0])
