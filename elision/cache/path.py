"""What has been sent, message by message: requests that begin alike share the beginning, and each message is looked at
once, when somebody asks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import sha256
from json import dumps
from typing import TYPE_CHECKING, Any, NamedTuple

from elision.cache.flat import flat_digest
from elision.history import History
from elision.message import Message, texts_of
from elision.own_values import OwnProfile, in_force, own_profile
from elision.tokens import count_beside, count_part

if TYPE_CHECKING:
    from elision.dialect import Dialect

_KEY_CHARS = 16


class Sums(NamedTuple):
    """What the messages up to one of them add up to: tokens, blocks of content, and a hash of each half."""

    tokens: int
    blocks: int
    task_state: bytes = b""
    live_window: bytes = b""
    acting: bool = False


@dataclass(frozen=True, slots=True)
class Reader:
    """How messages are read: the dialect, the model whose tokens are counted, and the texts that are our own."""

    dialect: Dialect
    model: str | None
    own_texts: set[str] = field(default_factory=set)
    own: OwnProfile | None = field(default_factory=in_force)

    def read(self, raw: Any) -> Message:
        """Read one message."""
        return self.dialect.parse(raw, History(self.dialect.wire))

    def tokens(self, message: Message) -> int:
        """Return the tokens of a message."""
        with own_profile(self.own):
            return sum(count_part(part, self.model) for part in message.parts)


@dataclass(eq=False)
class Beside:
    """What stands beside the messages of a request: it leads the prefix."""

    system: Any
    tools: Any
    model: str | None
    own: OwnProfile | None = field(default_factory=in_force)

    @cached_property
    def keys(self) -> tuple[str, str]:
        """Short hashes of system prompt and tools."""
        return key_of(self.system), key_of(self.tools)

    @cached_property
    def tokens(self) -> int:
        """Their tokens."""
        with own_profile(self.own):
            return count_beside(self.system, self.tools, self.model)


@dataclass(eq=False, slots=True)
class Node:
    """One message of a request, behind those before it; the first has none before it and is what stands beside them."""

    index: int
    raw: Any
    parent: Node | None
    reader: Reader
    known: Sums | None = None

    def sums(self) -> Sums:
        """Return what the request adds up to, up to here."""
        waiting: list[Node] = []
        node: Node | None = self
        while node is not None and node.known is None:
            waiting.append(node)
            node = node.parent
        sums = node.known if node is not None else None
        for each in reversed(waiting):
            sums = each.known = _added(each, sums)
        assert sums is not None  # noqa: S101 (the first has no parent)
        return sums


@dataclass(eq=False, slots=True)
class Tally:
    """The tokens of the host's own messages, added up as far as somebody has asked; they are only ever added to."""

    beside: Beside
    reader: Reader
    _upto: list[int] = field(default_factory=list)

    def upto(self, messages: Sequence[Any], stop: int) -> int:
        """Return the tokens of the first ``stop`` messages, and of what stands beside them."""
        if not self._upto:
            self._upto.append(self.beside.tokens)
        for raw in messages[len(self._upto) - 1 : stop]:
            self._upto.append(self._upto[-1] + self.reader.tokens(self.reader.read(raw)))
        return self._upto[stop]


@dataclass(slots=True)
class Path:
    """The messages of the latest request."""

    root: Node
    reader: Reader
    nodes: list[Node] = field(default_factory=list)

    @property
    def last(self) -> Node:
        """The newest message, or what stands beside them where there is none."""
        return self.nodes[-1] if self.nodes else self.root

    def at(self, index: int) -> Node:
        """Return the message at an index; -1 is what stands beside them."""
        return self.nodes[index] if index >= 0 else self.root

    def renew(self, first: int, messages: Sequence[Any]) -> Node:
        """Take the messages from ``first`` on in place of those that stood there; return the last that stays."""
        del self.nodes[first:]
        stays = self.last
        for index in range(first, len(messages)):
            self.nodes.append(Node(index, messages[index], self.last, self.reader))
        return stays


def key_of(value: Any) -> str:
    """Return a short name of what a value holds, cache breakpoints apart."""
    return digest_of(value).hex()[:_KEY_CHARS]


def digest_of(value: Any) -> bytes:
    """Return a hash of what a value holds, cache breakpoints apart."""
    try:
        text = dumps(bare(value), ensure_ascii=False, default=repr, separators=(",", ":"), skipkeys=True)
    except (RecursionError, ValueError):
        return flat_digest(value)
    return sha256(text.encode("utf-8", "surrogatepass")).digest()


def bare(value: Any) -> Any:
    """Return a message, or a part of one, as plain data without cache breakpoints, which are no part of the prefix."""
    if isinstance(value, str | int | float) or value is None:
        return value
    if isinstance(value, Mapping):
        return {key: _content(item) if key == "content" else bare(item) for key, item in _unmarked(value)}
    if isinstance(value, list | tuple):
        return [bare(item) for item in value]
    dump = getattr(value, "model_dump", None)
    return bare(dump()) if callable(dump) else value


def _unmarked(value: Mapping[Any, Any]) -> Iterable[tuple[Any, Any]]:
    return ((key, item) for key, item in value.items() if key != "cache_control")


def _content(value: Any) -> Any:
    """Return content; a text by itself is the same as a list with one text, which is what carries a breakpoint."""
    found = bare(value)
    if isinstance(found, list) and len(found) == 1 and isinstance(found[0], dict):
        return found[0]["text"] if found[0].keys() == {"type", "text"} and found[0]["type"] == "text" else found
    return found


def same(before: Any, now: Any) -> bool:
    """Whether two messages are the same for the provider."""
    try:
        return before is now or bool(bare(before) == bare(now))
    except RecursionError:
        return flat_digest(before) == flat_digest(now)


def _added(node: Node, before: Sums | None) -> Sums:
    if before is None:
        return Sums(node.raw.tokens, 0)
    message = node.reader.read(node.raw)
    tokens = before.tokens + node.reader.tokens(message)
    blocks = before.blocks + max(1, len(message.parts))
    acting = before.acting or (message.role == "assistant" and message.kind != "demo")
    task, live, digest = before.task_state, before.live_window, digest_of(node.raw)
    if not acting or "\n".join(texts_of(message.parts)) in node.reader.own_texts:
        task = sha256(task + digest).digest()
    else:
        live = sha256(live + digest).digest()
    return Sums(tokens, blocks, task, live, acting)
