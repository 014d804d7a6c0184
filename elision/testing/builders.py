"""Builders of histories: the same conversation in every dialect, in a few readable lines.

Example::

    messages = (
        conversation("openai")
        .system("You fix bugs.")
        .user("Fix a.py.")
        .step("I look first.", call("read_file", path="a.py"), result("x = 1"))
        .step(call("run_tests"))  # pending: no result yet
        .messages()
    )
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from elision.testing.parts import (
    DIALECT_OF,
    SHAPES,
    Acted,
    Body,
    CallPart,
    ContentPart,
    Entry,
    Given,
    ImagePart,
    ResultPart,
    Said,
    Shape,
    Stray,
    TextPart,
    ThinkingPart,
)
from elision.testing.shapes import write

_REQUEST_KEYS: Mapping[Shape, tuple[str, str]] = {
    "responses": ("input", "instructions"),
    "gemini": ("contents", "systemInstruction"),
}

StepPart: TypeAlias = str | TextPart | ImagePart | ThinkingPart | CallPart | ResultPart | None


def text(words: str, *, cached: bool = False, **extra: Any) -> TextPart:
    """Return a text part; a message with one has its content as a list."""
    return TextPart(words, cached, extra)


def image(url: str = "data:image/png;base64,iVBORw0KGgo=") -> ImagePart:
    """Return an image."""
    return ImagePart(url)


def thinking(words: str, *, signature: str = "") -> ThinkingPart:
    """Return reasoning; with a signature it is written as a thinking block where the shape has two ways."""
    return ThinkingPart(words, signature)


def redacted_thinking(data: str) -> ThinkingPart:
    """Return reasoning that the provider has encrypted."""
    return ThinkingPart(data, redacted=True)


def call(name: str, /, *, call_id: str | None = None, raw_arguments: str | None = None, **arguments: Any) -> CallPart:
    """Return a tool call; ``raw_arguments`` stand for arguments that are not well-formed."""
    return CallPart(name, arguments if raw_arguments is None else raw_arguments, call_id)


def result(
    *content: str | ContentPart | None,
    call_id: str | None = None,
    error: bool = False,
    tags: tuple[str, ...] = (),
    cached: bool = False,
    **extra: Any,
) -> ResultPart:
    """Return a tool result: one string, several parts (written as a list), or ``None`` for null content."""
    return ResultPart(_body(content), call_id, error, tuple(tags), cached, extra)


def conversation(shape: Shape = "openai") -> Conversation:
    """Begin a conversation in one of the shapes (:data:`SHAPES`)."""
    if shape not in SHAPES:
        raise ValueError(f"conversation: there is no shape {shape!r}; there are {', '.join(SHAPES)}; name one of them")
    return Conversation(shape)


@dataclass(frozen=True, slots=True)
class Conversation:
    """A conversation so far; every method returns a longer one and leaves this one as it is."""

    shape: Shape
    entries: tuple[Entry, ...] = ()

    @property
    def dialect(self) -> str:
        """Name of the dialect."""
        return DIALECT_OF[self.shape]

    def system(self, *content: str | ContentPart, extra: Mapping[str, Any] | None = None) -> Conversation:
        """Add a system message; in ``anthropic`` and ``gemini`` the first stands beside the messages."""
        return self.add(Said("system", _body(content), extra=extra or {}))

    def user(
        self, *content: str | ContentPart, demo: bool = False, extra: Mapping[str, Any] | None = None
    ) -> Conversation:
        """Add a user message; ``demo`` marks a demonstration in SWE-agent's items."""
        return self.add(Said("user", _body(content), demo=demo, extra=extra or {}))

    def step(
        self,
        *parts: StepPart,
        then: str | None = None,
        demo: bool = False,
        extra: Mapping[str, Any] | None = None,
    ) -> Conversation:
        """Add a step: texts, thinking, calls, and their results in the order of the calls.

        A call without a result is pending; ``None`` leaves out the result of one call in the middle.  ``then`` is what
        the user says with the results: in the same message in ``anthropic``, in the next one elsewhere.
        """
        calls = self._named([part for part in parts if isinstance(part, CallPart)])
        answers = [part for part in parts if part is None or isinstance(part, ResultPart)]
        if len(answers) > len(calls):
            raise ValueError(f"step: {len(answers)} results for {len(calls)} calls; use stray() for results of no call")
        if len(calls) > 1 and self.shape.endswith("_text"):
            raise ValueError(f"step: {self.shape} holds one call a step; make {len(calls)} steps of it")
        results = [
            replace(answer, id=made.id) if answer is not None and answer.id is None else answer
            for made, answer in zip(calls, [*answers, *[None] * (len(calls) - len(answers))], strict=True)
        ]
        said = _body(tuple(part for part in parts if isinstance(part, str | TextPart | ImagePart)))
        thoughts = tuple(part for part in parts if isinstance(part, ThinkingPart))
        return self.add(Acted(said, thoughts, calls, tuple(results), then, demo, extra or {}))

    def stray(self, *results: ResultPart) -> Conversation:
        """Add results that stand by themselves: orphans, late or second ones."""
        return self.add(Stray(results))

    def raw(self, *messages: Any) -> Conversation:
        """Add messages of the host's as they are."""
        return self.add(*map(Given, messages))

    def add(self, *entries: Entry) -> Conversation:
        """Add entries."""
        return replace(self, entries=(*self.entries, *entries))

    def messages(self) -> list[Any]:
        """Return new host messages."""
        return write(self.shape, self.entries)[1]

    def request(self) -> dict[str, Any]:
        """Return the messages as a request, with the system prompt that stands beside them in some shapes."""
        system, messages = write(self.shape, self.entries)
        under, beside = _REQUEST_KEYS.get(self.shape, ("messages", "system"))
        return {under: messages} | ({} if system is None else {beside: system})

    def _named(self, calls: list[CallPart]) -> tuple[CallPart, ...]:
        so_far = sum(len(entry.calls) for entry in self.entries if isinstance(entry, Acted))
        return tuple(
            made if made.id is not None else replace(made, id=f"call_{number}")
            for number, made in enumerate(calls, so_far + 1)
        )


def _body(content: tuple[str | ContentPart | None, ...]) -> Body:
    match content:
        case () | (None,):
            return None
        case (str() as words,):
            return words
        case _:
            return tuple(TextPart(part) if isinstance(part, str) else part for part in content if part is not None)
