"""What the engine tells and keeps while it asks processors: how far the history is, and what each was offered."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

from elision.history import History, Paired
from elision.message import Address
from elision.summaries.summed import Summed

if TYPE_CHECKING:
    from elision.own_values import OwnProfile
    from elision.scheduler import Scheduler


class Moment(NamedTuple):
    """How far the history had come when the engine asked; ``earlier_*`` are the counts one segment before."""

    stop: int
    steps: int
    observations: int
    earlier_observations: int

    @property
    def newest_step(self) -> int:
        """Index of the step that the model has not answered yet (-1 before the first)."""
        return self.steps - 1


def whole(history: History) -> Moment:
    """Return the moment at which all of a history is there."""
    count = len(history.observations)
    return Moment(len(history), len(history.steps), count, count)


OnBoundThinking: TypeAlias = Literal["request_drop_block", "defer", "drop_thinking", "error"]


@dataclass(frozen=True, slots=True)
class Request:
    """What the request carries besides messages."""

    system: Any = None
    tools: Any = None
    model: str | None = None
    compat: str | None = None
    offered: frozenset[str] | None = None
    """Names of the tools that it offers; ``None`` where it does not say."""
    recall_tool: str = ""
    """The offered tool that brings originals back."""
    owner: Literal["elision", "provider"] = "elision"
    """Who manages the context."""
    on_bound_thinking: OnBoundThinking = "defer"
    """What happens where an edit would change what thinking is bound to."""
    given: Mapping[str, Any] = field(default_factory=dict)
    """What it has under the keys that concern what we add: ``thinking``, ``betas``, ``extra_headers`` and
    ``cache_control``."""
    dialect: str = ""
    """Name of the dialect of its messages."""
    own: OwnProfile | None = None
    """The user's own profile, which the chain names."""
    may_hand_over: bool = False
    """Whether processors of the chain may hand the context over to the provider."""
    handed_over: bool = False
    """Whether one of them does."""
    count_factor: float = 1.0
    """What the provider counts over what we count, as far as it has reported its usage."""


@dataclass(slots=True)
class KeyIndex:
    """Where keys occur in the view, kept up to date message by message (see :meth:`View.index`)."""

    upto: int = 0
    by_key: dict[Hashable, dict[Address, None]] = field(default_factory=dict)
    keys_of: dict[Address, tuple[Hashable, ...]] = field(default_factory=dict)
    entered: tuple[Address, ...] = ()

    def put(self, address: Address, keys: Iterable[Hashable]) -> None:
        """Record the keys found at an address, in place of those recorded before."""
        for key in self.keys_of.pop(address, ()):
            self.by_key[key].pop(address, None)
        found = tuple(dict.fromkeys(keys))
        if found:
            self.keys_of[address] = found
            for key in found:
                self.by_key.setdefault(key, {})[address] = None


@dataclass(slots=True)
class StepsOffered:
    """The steps that one processor may leave out, demonstrations left out; ``held`` are those that must stay as yet."""

    looked_at: int = 0
    noticed: int = 0
    numbers: list[int] = field(default_factory=list)
    held: set[int] = field(default_factory=set)
    offered: int = 0
    deferred: dict[int, None] = field(default_factory=dict)


@dataclass(slots=True)
class ImagesOffered:
    """The images that one processor may take out of results, the oldest first; sizes are in characters of their URLs.

    ``left`` are those that stay in each result, ``beside`` those that stay in any case: of users, and of results that
    may not lose them as yet (``held``).
    """

    messages: int = 0
    order: list[Address] = field(default_factory=list)
    first: int = 0
    left: dict[Address, list[int]] = field(default_factory=dict)
    held: dict[Address, list[int]] = field(default_factory=dict)
    count: int = 0
    chars: int = 0
    beside: int = 0
    beside_chars: int = 0

    def put(self, address: Address, sizes: list[int]) -> None:
        """Note which images of a result stay."""
        before = self.left.get(address)
        if before is None and sizes:
            self.order.append(address)
        if before or sizes:
            self.left[address] = sizes
            self.count += len(sizes) - len(before or ())
            self.chars += sum(sizes) - sum(before or ())

    def add_beside(self, sizes: list[int]) -> None:
        """Count images that stay in any case."""
        self.beside += len(sizes)
        self.beside_chars += sum(sizes)

    def hold(self, address: Address, sizes: list[int]) -> None:
        """Note which images of a result should have gone and have to stay as yet, in place of those noted before."""
        before = self.held.pop(address, [])
        self.beside -= len(before)
        self.beside_chars -= sum(before)
        if sizes:
            self.held[address] = sizes
            self.add_beside(sizes)


@dataclass(slots=True)
class ThinkingOffered:
    """The thinking that one processor may remove, by turns that have any; ``begins`` says that a new turn has begun."""

    looked_at: int = 0
    turns: list[list[Address]] = field(default_factory=list)
    begins: bool = True
    offered: int = 0


Bookmark: TypeAlias = tuple[tuple[int, int, int, int, int, int], dict[Address, None], dict[int, None], dict[str, int]]


@dataclass(slots=True)
class Memory:
    """What the engine keeps for one ``history`` processor, so that each part is offered to it once."""

    looked_at: int = 0
    fitting: list[Paired] = field(default_factory=list)
    offered_fitting: int = 0
    offered_observations: int = 0
    offered_messages: int = 0
    deferred: dict[Address, None] = field(default_factory=dict)
    waiting: dict[Address, None] = field(default_factory=dict)
    woken: int = 0
    changed: list[int] = field(default_factory=list)
    own: list[int] = field(default_factory=list)
    index: KeyIndex = field(default_factory=KeyIndex)
    noticed: int = 0
    steps: StepsOffered = field(default_factory=StepsOffered)
    images: ImagesOffered = field(default_factory=ImagesOffered)
    thinking: ThinkingOffered = field(default_factory=ThinkingOffered)
    summed: Summed = field(default_factory=Summed)
    scheduler: Scheduler | None = None
    """What weighs the run, for processors that decide by its size at once."""
    broken_at: int | None = None
    """The first message that the break has changed at which it is asked."""
    _read: dict[str, int] = field(default_factory=dict)

    def changed_since(self, reader: str) -> list[int]:
        """Return the positions that earlier stages changed since ``reader`` last asked."""
        start = self._read.get(reader, 0)
        self._read[reader] = len(self.changed)
        return list(dict.fromkeys(self.changed[start:]))

    def bookmark(self) -> Bookmark:
        """Return what :meth:`rewind` needs to offer again what a failed plan was offered."""
        counts = (
            self.offered_fitting,
            self.offered_observations,
            self.offered_messages,
            self.noticed,
            self.steps.offered,
            self.thinking.offered,
        )
        return counts, dict(self.deferred), dict(self.steps.deferred), dict(self._read)

    def rewind(self, bookmark: Bookmark) -> None:
        """Go back to a bookmark."""
        counts, self.deferred, self.steps.deferred, self._read = bookmark
        self.offered_fitting, self.offered_observations, self.offered_messages, *rest = counts
        self.noticed, self.steps.offered, self.thinking.offered = rest
        self.index, self.images = KeyIndex(), ImagesOffered()
