"""The conversation that canaries are planted in: the same in every dialect."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, get_args

from elision.checking.demand import Demand
from elision.checking.matching import matching_regex
from elision.checking.report import Where
from elision.checking.samples import Sample
from elision.testing.builders import Conversation, conversation, image, result
from elision.testing.parts import CallPart, ResultPart, Shape

SYSTEM, TASK, OPEN_STEP = "system prompt", "task message", "open step"
ALWAYS_KEPT = (SYSTEM, TASK, OPEN_STEP)
"""What the guard keeps, whatever a table says."""

_WHERES: tuple[Where, ...] = get_args(Where)

_LINES: Mapping[str, tuple[str, str, str]] = {
    "receipt": ("Created order {}: it was paid.", "The booking has the number {}.", "Mail sent, message id {}."),
    "skill": ("Rule {}: never deploy on Fridays.", "Rule {}: do not edit generated files.", "Rule {}: ask first."),
    "error": ("ERROR {}: the disk is full", "ERROR {}: nothing was written", "ERROR {}: exit status 1"),
    "input": ("The account is {}.", "Do not pay invoice {}.", "The limit of {} is not to be exceeded."),
    "dynamic": ("Run {}: 3 passed, 1 failed", "not ok: {}", "page 2 of 7, truncated: {}"),
}
_OTHER = ("The port of {} is 8443.", "Never restart {} by hand.", "page 2 of 7, truncated: {}")

# Pieced together, so that nobody who scans this file takes it for a secret.
_SECRET = "key = AKIA" + "IOSFODNN7QUSMPLE"
_IMAGE = "![plot](data:image/png;base64,iVBORw0KGgo=)"
_FILLER_CHARS = 600
_SHOWN_FILE = "app/main.py"


@dataclass(frozen=True, slots=True)
class Canary:
    """One planted line; ``of`` says what it is planted in."""

    of: str
    where: Where
    line: str


@dataclass(frozen=True, slots=True)
class Planted:
    """One observation with canaries: the classes that it must have (any without a table), and the call."""

    of: str
    classes: frozenset[str]
    sample: Sample
    resolved: bool = False
    """Whether the same call succeeds later."""


@dataclass(frozen=True, slots=True)
class Script:
    """A conversation, to be written in any shape."""

    planted: tuple[Planted, ...]
    filler: Sample
    demand: Demand

    def canaries(self) -> list[Canary]:
        """Return all canaries."""
        names = [SYSTEM, TASK, *(each.of for each in self.planted), OPEN_STEP]
        return [canary for name in names for canary in canaries_of(name)]

    def write(self, shape: Shape) -> list[Any]:
        """Return new messages; the last step is open: its second call, which holds canaries, has no result."""
        talk = conversation(shape).system(_lines_of(SYSTEM)).user(_lines_of(TASK))
        for number, each in enumerate(self.planted):
            text = canary_text(each.of, self.demand)
            talk = talk.step(f"Step {number}.", _call(each.sample), result(text, error=each.sample.failed))
        for number, each in enumerate(each for each in self.planted if each.resolved):
            talk = talk.step(f"Again {number}.", _call(each.sample), result("done, at last"))
        for filler in self._fillers():
            talk = filler.added_to(talk)
        pending = replace(self.filler, arguments={**self.filler.arguments, "note": _lines_of(OPEN_STEP)})
        return talk.step("Two at once.", _call(self.filler), _call(pending), result("the first")).messages()

    def tools(self, style: str) -> list[dict[str, Any]]:
        """Return definitions of all tools that are called, and of recall."""
        from elision.archive.recall_tool import recall_tool_schema

        samples = [*(each.sample for each in self.planted), self.filler, *map(_plain_call, self.demand.tools)]
        found = {sample.tool: sample for sample in samples}
        kind = "anthropic" if style == "anthropic" else "openai"
        return [*(_definition(sample, kind) for sample in found.values()), recall_tool_schema(kind)]

    def _fillers(self) -> Iterator[_Filler]:
        """Yield what makes the conversation longer: ordinary steps, and one of each that some processor waits for."""
        tools = list(self.demand.tools)
        for number in range(max(self.demand.steps, len(tools) + 6)):
            sample = _plain_call(tools[number]) if number < len(tools) else self.filler
            yield _Filler(number - len(tools), sample, self.demand)


@dataclass(frozen=True, slots=True)
class _Filler:
    """One ordinary step."""

    number: int
    sample: Sample
    demand: Demand

    def added_to(self, talk: Conversation) -> Conversation:
        """Return the conversation with this step."""
        said = f"I go on ({self.number})."
        return talk.step(said, *self._answered(), then="Go on, please." if self.number == 3 else None)

    def _answered(self) -> list[CallPart | ResultPart]:
        call, words = _call(self.sample), _prose(f"part {self.number}", _FILLER_CHARS)
        match self.number:
            case 0:
                return [call, call, result(words), result(f"{words}\n{_SECRET}")]
            case 1:
                said = {**self.sample.arguments, "note": _prose("a note", self.demand.chars)}
                return [_call(replace(self.sample, arguments=said)), result("here it is", image())]
            case 2:
                items = ",".join(
                    f'{{"id": {index}, "name": "item {index}", "ok": true}}' for index in range(self.demand.records)
                )
                return [call, result(f"[{items}]")]
            case 4 | 5:
                return [call, result(f"{_window('pass')}\n{_IMAGE}\n{_patterns(self.demand)}")]
            case _:
                return [call, result(words)]


def canaries_of(name: str) -> list[Canary]:
    """Return the canaries that are planted in something."""
    lines = next((lines for key, lines in _LINES.items() if name.startswith(key)), _OTHER)
    slug = re.sub(r"[^A-Za-z0-9]+", "-", name)
    return [
        Canary(name, where, line.format(f"canary-{slug}-{where}")) for where, line in zip(_WHERES, lines, strict=True)
    ]


def canary_text(name: str, demand: Demand) -> str:
    """Return the text of an observation: canaries at head and tail, and one in the middle, in what is often cut."""
    head, middle, tail = (canary.line for canary in canaries_of(name))
    filler = _prose(name, demand.chars // 2)
    cut = [text for source in demand.patterns if middle in (text := matching_regex(source, middle) or "")]
    inside = _window(cut[0] if cut else middle)
    others = [matching_regex(source) or "" for source in demand.patterns]
    block = [f"<diff>\n{inside}\n</diff>", _SECRET, _IMAGE, *others]
    return "\n".join([head, filler, *block, filler, tail])


def _lines_of(name: str) -> str:
    return "\n".join(canary.line for canary in canaries_of(name))


def _window(line: str) -> str:
    return f"[File: {_SHOWN_FILE} (120 lines total)]\n1:import os\n2:{line}\n3:print(os.name)\n"


def _patterns(demand: Demand) -> str:
    return "\n".join(matching_regex(source) or "" for source in demand.patterns)


def _prose(name: str, chars: int) -> str:
    lines = max(1, chars // 60)
    return "\n".join(f"{name}, line {number}: nothing here that anybody needs." for number in range(lines))


def _call(sample: Sample) -> CallPart:
    return CallPart(sample.tool, dict(sample.arguments))


def _plain_call(tool: str) -> Sample:
    return Sample(tool, {"name": "deploy"})


def _definition(sample: Sample, style: str) -> dict[str, Any]:
    schema = {"type": "object", "properties": {name: {} for name in sample.arguments}}
    notes = {"annotations": dict(sample.annotations)} if sample.annotations else {}
    if style == "anthropic":
        return {"name": sample.tool, "input_schema": schema, **notes}
    return {"type": "function", "function": {"name": sample.tool, "parameters": schema, **notes}}
