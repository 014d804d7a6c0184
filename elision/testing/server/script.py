"""What the model of the server says: one neutral script for every shape."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count
from typing import Any, Literal, TypeAlias

from elision.testing.parts import CallPart, ThinkingPart

WireShape = Literal["openai", "anthropic", "responses"]
"""Chat completions, Anthropic's messages, and Responses: the names of their dialects."""

ReplyPart: TypeAlias = str | CallPart | ThinkingPart


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer: texts, thinking and calls in their order; ``truncated`` says that it ended at the token limit."""

    parts: tuple[ReplyPart, ...] = ()
    truncated: bool = False
    delay_seconds: float = 0.0

    @property
    def calls(self) -> tuple[CallPart, ...]:
        """The calls."""
        return tuple(part for part in self.parts if isinstance(part, CallPart))

    @property
    def thinking(self) -> tuple[ThinkingPart, ...]:
        """The thinking."""
        return tuple(part for part in self.parts if isinstance(part, ThinkingPart))

    @property
    def text(self) -> str:
        """The texts as one."""
        return "".join(part for part in self.parts if isinstance(part, str))


@dataclass(frozen=True, slots=True)
class Failure:
    """An error status instead of an answer; status 0 closes the connection without a word."""

    status: int
    message: str = ""
    retry_after: int | None = None
    delay_seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Asked:
    """A valid request, as a script sees it; ``body`` has all of it.

    ``number`` counts the valid requests before it.  ``results`` are the texts of the tool results since the model spoke
    last, ``user`` is the newest text of the user, ``tools`` names the tools that are offered.
    """

    shape: WireShape
    model: str
    body: Mapping[str, Any]
    number: int
    system: str
    user: str
    results: tuple[str, ...]
    tools: tuple[str, ...]


Said: TypeAlias = Reply | Failure | str
Script: TypeAlias = Sequence[Said] | Callable[[Asked], Said]


def reply(*parts: ReplyPart, truncated: bool = False, delay_seconds: float = 0.0) -> Reply:
    """Return an answer of texts, ``thinking(…)`` and ``call(…)``; without any, or with an empty text, it is empty."""
    return Reply(parts, truncated, delay_seconds)


def failure(status: int, message: str = "", *, retry_after: int | None = None, delay_seconds: float = 0.0) -> Failure:
    """Return an error in place of an answer; status 0 closes the connection."""
    return Failure(status, message, retry_after, delay_seconds)


class ScriptEndedError(Exception):
    """A request came after the last scripted answer."""


class Prompter:
    """Says what comes next in a script, and gives calls ids that were not there before."""

    def __init__(self, script: Script) -> None:
        self._script = script
        self._given = 0
        self._ids = count(1)

    def next(self, asked: Asked) -> Reply | Failure:
        """Return the next answer."""
        said = self._say(asked)
        self._given += 1
        answer = Reply((said,)) if isinstance(said, str) else said
        if isinstance(answer, Failure):
            return answer
        return replace(answer, parts=tuple(self._named(answer.parts, asked.shape)))

    def _say(self, asked: Asked) -> Said:
        if callable(self._script):
            return self._script(asked)
        if self._given >= len(self._script):
            raise ScriptEndedError(f"the script has {len(self._script)} answers, and all are given; add one")
        return self._script[self._given]

    def _named(self, parts: Sequence[ReplyPart], shape: WireShape) -> Iterator[ReplyPart]:
        prefix = "toolu" if shape == "anthropic" else "call"
        for part in parts:
            if isinstance(part, CallPart) and part.id is None:
                yield replace(part, id=f"{prefix}_{next(self._ids)}")
            elif part != "":
                yield part
