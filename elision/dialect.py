"""Dialects: the shapes that messages have on a wire or in a file.

A dialect parses each host message on its own, keeping the host's object, and renders an edited one as a shallow copy in
which only the edited part is new.  An untouched message is rendered as the very object that came in.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

from elision.edits import Ttl
from elision.errors import InputError, nearest
from elision.history import History
from elision.message import Content, Message, Piece, Thinking, ToolCall, ToolResult, only_content
from elision.misfit import misnamed, unread
from elision.wire import Wire


@dataclass(frozen=True, slots=True)
class Patch:
    """What is to change in one message.

    ``contents`` maps part indices to new content; ``mark`` sets one cache breakpoint at the end (``True``), takes all
    away (``False``) or leaves them (``None``); ``tags`` are the observation's tags where they changed; parts whose
    index is in ``removed`` go, thinking among them; ``arguments`` maps the indices of calls to new arguments,
    ``ids`` those of calls and results to new ids.
    """

    contents: Mapping[int, tuple[Content, ...]] = field(default_factory=dict)
    mark: bool | None = None
    tags: frozenset[str] | None = None
    removed: frozenset[int] = frozenset()
    arguments: Mapping[int, Mapping[str, Any] | str] = field(default_factory=dict)
    ids: Mapping[int, str] = field(default_factory=dict)
    ttl: Ttl | None = None
    """How long the breakpoint lives; without it, as long as the one that the host has set in the message."""

    @classmethod
    def of(
        cls,
        message: Message,
        changes: Mapping[int, tuple[Piece, ...]],
        *,
        mark: bool | None = None,
        tags: frozenset[str] | None = None,
        removed: frozenset[int] = frozenset(),
        ttl: Ttl | None = None,
    ) -> Self:
        """Return the patch that puts new content where parts stand: thinking that has none left goes."""
        contents: dict[int, tuple[Content, ...]] = {}
        arguments: dict[int, Mapping[str, Any] | str] = {}
        for index, content in changes.items():
            match message.parts[index]:
                case Thinking():
                    removed |= frozenset() if content else {index}
                case ToolCall():
                    arguments.update((index, call.arguments) for call in content if isinstance(call, ToolCall))
                case _:
                    contents[index] = only_content(content)
        return cls(contents, mark, tags, removed, arguments, ttl=ttl)


class Dialect(ABC):
    """The shape of messages on a wire or in a file."""

    name: ClassVar[str]
    wire: ClassVar[Wire] = Wire()

    @abstractmethod
    def recognises(self, messages: Sequence[Any], document: Any) -> int:
        """Return how surely ``messages`` are of this dialect: 0 not at all, 1 they fit, more for marks of its own.

        ``document`` is the file or request that held them.
        """

    @abstractmethod
    def parse(self, raw: Any, history: History) -> Message:
        """Read one message; ``history`` holds those before it.  What is not understood becomes an opaque part.

        Calls, results and pieces of content carry the host's own object as their ``raw``.  A call that is read from
        text has none: no wire demands its result.
        """

    @abstractmethod
    def patch(self, message: Message, patch: Patch) -> Any:
        """Return a shallow copy of ``message.raw`` with the patch applied."""

    @abstractmethod
    def build(self, message: Message) -> list[Any]:
        """Make host messages from parts; a part that carries a ``raw`` of this dialect is passed on as it is."""

    def unsaid(self, message: Message, *, strict: bool) -> Mapping[int, str]:  # noqa: ARG002 (files take any message)
        """Return what is sent for parts that say nothing where the wire refuses that, by their index.

        An index behind the last part is one more part; one that maps to no text goes.  With ``strict`` the model that
        is asked refuses more than the wire does.
        """
        return {}

    def answer(self, call: ToolCall, result: ToolResult) -> ToolResult:  # noqa: ARG002 (most wires need its id only)
        """Return a result that was made up or comes from another dialect as the answer to ``call``.

        Some wires write into a result what was called: there it gets a ``raw``.
        """
        return result


def detect(dialects: Iterable[Dialect], messages: Sequence[Any], document: Any = None) -> Dialect:
    """Return the dialect that fits ``messages`` best; the first one wins a tie."""
    known = list(dialects)
    found = _fitting(known, messages, document)
    if found is None:
        raise InputError(unread(messages, known))
    return found


def named(dialects: Iterable[Dialect], name: str, messages: Sequence[Any], document: Any = None) -> Dialect:
    """Return the dialect called ``name``, unless it does not fit ``messages`` at all and another one does."""
    known = list(dialects)
    wanted = by_name(known, name)
    if wanted.recognises(messages, document) <= 0:
        other = _fitting(known, messages, document)
        if other is not None:
            raise InputError(misnamed(messages, document, wanted, other))
    return wanted


def by_name(dialects: Iterable[Dialect], name: str) -> Dialect:
    """Return the dialect called ``name``."""
    known = {dialect.name: dialect for dialect in dialects}
    if name not in known:
        raise InputError(f"dialect: there is no dialect {name!r}; {nearest(name, known, what='dialects')}")
    return known[name]


def _fitting(known: Sequence[Dialect], messages: Sequence[Any], document: Any) -> Dialect | None:
    best, found = 0, None
    for dialect in known:
        score = dialect.recognises(messages, document)
        if score > best:
            best, found = score, dialect
    return found
