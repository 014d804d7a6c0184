"""A request on its way through the server, and what the server remembers of the ones before."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Protocol

from elision.profiles import Profile
from elision.testing.server.prefix_cache import Block
from elision.testing.server.refused import Body, Refusals, Refused
from elision.testing.server.script import Asked, Reply, WireShape
from elision.testing.server.signatures import Judged, Signatures
from elision.testing.server.usage import Usage
from elision.tokens import count_messages, count_text


@dataclass(slots=True)
class Memory:
    """What a server has issued, and the tokens of what it has counted."""

    signatures: Signatures = field(default_factory=Signatures)
    reasoning: dict[str, str] = field(default_factory=dict)
    reasoning_of: dict[str, str] = field(default_factory=dict)
    _tokens: dict[tuple[str, str], int] = field(default_factory=dict)

    def tokens(self, key: str, message: Body, dialect: str, model: str) -> int:
        """Count a message of one block, each content once."""
        if (model, key) not in self._tokens:
            self._tokens[model, key] = count_messages([[message]], dialect, model)[0]
        return self._tokens[model, key]


@dataclass(frozen=True, slots=True)
class Incoming:
    """A request that is JSON, with the headers it came with."""

    body: Body
    headers: Mapping[str, str]
    profile: Profile
    number: int
    """How many valid requests came before."""

    @property
    def model(self) -> str:
        """The model that is asked."""
        return str(self.body.get("model"))

    @property
    def streams(self) -> bool:
        """Whether the answer is to come in events."""
        return self.body.get("stream") is True


@dataclass(frozen=True, slots=True)
class Written:
    """An answer as the wire has it, without its usage."""

    body: dict[str, Any]
    output_tokens: int
    reasoning_tokens: int


Events = Iterator[tuple[str | None, Any]]
"""Events of a stream: their names, and their data."""


class Shape(Protocol):
    """What one protocol demands of a request, and how it writes an answer."""

    name: ClassVar[WireShape]

    def refusals(self, incoming: Incoming, memory: Memory) -> Refusals:
        """Yield what is wrong with a request, the gravest first; only the first one counts."""

    def judged(self, incoming: Incoming, memory: Memory) -> Judged:
        """Say what became of its thinking."""

    def blocks(self, incoming: Incoming, memory: Memory, judged: Judged) -> list[Block]:
        """Return the request as the cache compares it."""

    def asked(self, incoming: Incoming) -> Asked:
        """Return the request as a script sees it."""

    def write(self, incoming: Incoming, reply: Reply, memory: Memory, judged: Judged) -> Written:
        """Write an answer."""

    def with_usage(self, answer: dict[str, Any], usage: Usage, profile: Profile) -> dict[str, Any]:
        """Put the usage into an answer."""

    def events(self, answer: dict[str, Any], incoming: Incoming) -> Events:
        """Yield an answer as events."""

    def error(self, refused: Refused, number: int) -> dict[str, Any]:
        """Return the body of an error."""


def output_tokens(reply: Reply, model: str) -> int:
    """Count what the model said, its thinking included."""
    texts = [part.text for part in reply.thinking] + [part for part in reply.parts if isinstance(part, str)]
    called = [f"{call.name}{call.arguments}" for call in reply.calls]
    return sum(count_text(text, model) for text in (*texts, *called))


def reasoning_tokens(reply: Reply, model: str) -> int:
    """Count the thinking."""
    return sum(count_text(part.text, model) for part in reply.thinking)


def pieces(text: str, size: int = 200) -> Sequence[str]:
    """Cut a text into the pieces in which it is streamed."""
    return [text[start : start + size] for start in range(0, len(text), size)]
