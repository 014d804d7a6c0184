"""The ledger: what decisions rest on that is not a function of the history, by the prefix of it where that first held.

A prefix is known by its content hash, and is looked up together with the model that is asked: so a run that is folded
anew, by whatever process, comes to the same decisions, and runs of other models that begin alike are left alone.
"""

from __future__ import annotations

import hashlib
import json
import operator
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from itertools import chain, filterfalse
from typing import TYPE_CHECKING, Any, Literal, Self

from elision.errors import ArchiveError
from elision.history import History
from elision.message import Address, Image, Opaque, Part, Piece, Text, Thinking, ToolCall, ToolResult
from elision.overlay import Overlay, content_at

if TYPE_CHECKING:
    from elision.archive import Archive
    from elision.view import View


@dataclass(frozen=True, slots=True)
class Fact:
    """What held at one step of a run, from there on until the next fact.

    ``counting`` is what counted the tokens, ``beside`` are those of system prompt and tools, ``sent`` is the digest of
    what leads the cached prefix: model, system prompt and tools.  ``cold`` is about this one step, and so is ``at``,
    the time of its request where the host gave it.  A ``settled`` one is about a view: what was ``left`` in it waits by
    stage, for so many steps, and has come to so many carried tokens.  A ``native`` one is about a response: what the
    provider said that it had ``applied`` to the context itself.  Of an ``outcome`` the ``text`` says what it was; of
    ``reasoning``, which a host may not store, and of the ``usage`` that providers report, the ``text`` has it as JSON.
    """

    model: str | None = None
    read: float = 1.0
    write: float = 1.0
    tiers: tuple[tuple[int, float], ...] = ()
    window_tokens: int | None = None
    counting: str = ""
    beside: int = 0
    offered: tuple[str, ...] | None = None
    recall_tool: str = ""
    annotations: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    sent: str = ""
    left: tuple[tuple[int, int, float], ...] = ()
    cold: bool = False
    at: float | None = None
    applied: tuple[tuple[str | int, ...], ...] = ()
    kind: Literal["held", "settled", "native", "outcome", "reasoning", "usage"] = "held"
    text: str = ""

    def as_json(self) -> str:
        """Return it as JSON, without what is as it is by default."""
        told = {name: value for name, value in asdict(self).items() if value != _DEFAULTS[name]}
        return json.dumps(told, sort_keys=True, separators=(",", ":"), default=str)

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Read what :meth:`as_json` gave; what a later version added is left out."""
        told = json.loads(text)
        known = {name: value for name, value in told.items() if name in _DEFAULTS}
        for name in ("offered", "tiers", "left", "applied"):
            if known.get(name) is not None:
                known[name] = tuple(tuple(each) if isinstance(each, list) else each for each in known[name])
        return cls(**known)

    def differs(self, other: Fact) -> bool:
        """Whether other decisions could rest on it."""
        return self is not other and bool(_what_holds(self) != _what_holds(other))

    def priced_as(self, other: Fact) -> Fact:
        """Return it with the values of the other's profile, which hold for the run as long as its model is asked."""
        if self is other or self.model != other.model or _of_profile(self) == _of_profile(other):
            return self
        return replace(self, **{name: getattr(other, name) for name in _PROFILE})

    def lasting(self) -> Fact:
        """Return what of it holds at later steps."""
        return replace(self, cold=False, at=None) if self.cold or self.at is not None else self


_DEFAULTS: Mapping[str, Any] = {each.name: getattr(Fact(), each.name) for each in fields(Fact)}
_HOLDS = tuple(name for name in _DEFAULTS if name not in ("left", "cold", "at", "applied", "kind", "text"))

_PROFILE = ("read", "write", "tiers", "window_tokens", "counting")

_what_holds, _of_profile = operator.attrgetter(*_HOLDS), operator.attrgetter(*_PROFILE)


@dataclass(slots=True)
class Ledger:
    """The facts of one session: those in its archive, and those that have not been written there yet.

    In an archive that keeps nothing they live as long as the session.
    """

    archive: Archive
    fresh: dict[bytes, str] = field(default_factory=dict)
    """What is to be written with the next originals."""
    known: dict[bytes, Fact] = field(default_factory=dict)
    overruled: bool = False
    """Whether another process had recorded something else when ours was written."""
    trouble: str = ""
    """Why it could not be read in this request."""

    def begin(self) -> None:
        """Begin a request."""
        self.overruled, self.trouble = False, ""

    def look_up(self, keys: Sequence[bytes]) -> dict[bytes, Fact]:
        """Return the facts that are recorded under some keys."""
        unknown = list(filterfalse(self.known.__contains__, keys))
        if unknown and self.archive.keeps:
            try:
                found = self.archive.facts(unknown)
            except ArchiveError as error:
                self.trouble, found = str(error), {}
            for key, text in found.items():
                self.known[key] = Fact.from_json(text)
        return {key: self.known[key] for key in keys if key in self.known}

    def record(self, key: bytes, fact: Fact) -> None:
        """Record a fact, if nothing is recorded under its key yet."""
        if key not in self.known:
            self.known[key] = fact
            self.fresh[key] = fact.as_json()

    def first(self, about: str, found: str) -> str:
        """Return what was found first about something; what is found now, if nothing was."""
        key = key_of("outcome", hashlib.sha256(about.encode("utf-8", "surrogatepass")).digest(), None)
        known = self.look_up([key]).get(key)
        if known is None:
            self.record(key, Fact(kind="outcome", text=found))
        return known.text if known else found

    def written(self) -> None:
        """Take note that what was fresh is in the archive by now, or what another process put there before."""
        stand = self.archive.facts(list(self.fresh)) if self.archive.keeps else self.fresh
        self.overruled |= any(stand.get(key) != text for key, text in self.fresh.items())
        for key, text in stand.items():
            self.known[key] = Fact.from_json(text)
        self.fresh.clear()


class Prefixes:
    """The content hashes of a history's prefixes; each message is hashed once, when somebody asks."""

    def __init__(self, history: History) -> None:
        self._history = history
        self._digests: list[bytes] = []
        self._prefixes: list[bytes] = [b""]

    def upto(self, stop: int) -> bytes:
        """Return the hash of the first ``stop`` messages."""
        for message in self._history.messages[len(self._digests) : stop]:
            digest = _digest(message.role, message.parts)
            self._digests.append(digest)
            self._prefixes.append(_joined(self._prefixes[-1], digest))
        return self._prefixes[stop]

    def of(self, start: int, stop: int) -> bytes:
        """Return the hash of some messages by themselves."""
        self.upto(stop)
        found = b""
        for digest in self._digests[start:stop]:
            found = _joined(found, digest)
        return found

    def of_view(self, overlay: Overlay, stop: int) -> bytes:
        """Return the hash of the first ``stop`` messages as they stand in the view."""
        self.upto(stop)
        inserted = overlay.insertions()
        found = b""
        for position in range(stop):
            for insert in inserted.get(position, ()):
                found = _joined(found, _digest(insert.role, [Text(insert.text)]))
            if not overlay.is_dropped(self._history.step_of[position]):
                found = _joined(found, self._as_it_stands(overlay, position))
        return found

    def _as_it_stands(self, overlay: Overlay, position: int) -> bytes:
        if position not in overlay.edited:
            return self._digests[position]
        message = self._history.messages[position]
        parts: list[Part | Piece] = []
        for index, part in enumerate(message.parts):
            content = content_at(self._history, overlay, Address(position, index))
            if isinstance(part, ToolResult):
                told = tuple(piece for piece in content if not isinstance(piece, Thinking | ToolCall))
                parts.append(ToolResult(part.call_id, told, part.status, None, part.tool))
            else:
                parts += content if overlay.version(Address(position, index)) else [part]
        return _digest(message.role, parts)


def key_of(kind: str, prefix: bytes, model: str | None) -> bytes:
    """Return the key of what is recorded at a prefix for a model."""
    return hashlib.sha256(b"\0".join((kind.encode(), prefix, (model or "").encode("utf-8", "surrogatepass")))).digest()


def first_found(view: View, about: str, found: str) -> str:
    """Return what was found first about something that is no function of the history, such as a time limit.

    What is ``found`` now is recorded in the archive if nothing is, so that a fold that is made anew decides alike.
    """
    return view.originals.ledger.first(about, found)


def head_digest(model: str | None, system: Any, tools: Any) -> str:
    """Return the digest of what leads the cached prefix."""
    return hashlib.sha256(_json([model, system, tools]).encode()).hexdigest()[:16]


def _joined(prefix: bytes, digest: bytes) -> bytes:
    return hashlib.sha256(prefix + digest).digest()


def _digest(role: str, parts: Iterable[Part | Piece]) -> bytes:
    """Return the hash of what a message says, without what a host may change beside it from request to request."""
    told = [role.encode()]
    for part in parts:
        for text in _told(part):
            data = text.encode("utf-8", "surrogatepass")
            told += (b"%d:" % len(data), data)
    return hashlib.sha256(b"".join(told)).digest()


def _told(part: Part | Piece) -> Iterable[str]:
    match part:
        case Text(text=text):
            return "text", text
        case ToolResult(call_id=call_id, content=content, status=status):
            return "result", call_id, status or "", *chain.from_iterable(map(_told, content))
        case ToolCall(id=call_id, name=name, arguments=arguments):
            return "call", call_id, name, arguments if isinstance(arguments, str) else _json(dict(arguments))
        case Thinking(text=text):
            return "thinking", text
        case Image(url=url):
            return "image", url
        case Opaque(type=kind, raw=raw):
            return "opaque", kind, _json(raw)


def _json(value: Any) -> str:
    try:
        return _ENCODER.encode(value)
    except (TypeError, ValueError, RecursionError):
        return _texts(value, 0)


def _texts(value: Any, depth: int) -> str:
    """Return the strings in a value that is no JSON, as far as anybody would nest them."""
    if isinstance(value, Mapping) and depth < _DEEPEST:
        return "".join(f"{key!r}:{_texts(each, depth + 1)}" for key, each in value.items())
    if isinstance(value, list | tuple) and depth < _DEEPEST:
        return ",".join(_texts(each, depth + 1) for each in value)
    return ascii(value) if isinstance(value, str | int | float | None) else type(value).__name__


_DEEPEST = 50


def _data(value: Any) -> Any:
    if callable(getattr(value, "model_dump", None)):
        return value.model_dump(mode="json")
    return dict(value) if isinstance(value, Mapping) else type(value).__name__


_ENCODER = json.JSONEncoder(sort_keys=True, separators=(",", ":"), default=_data)
