"""What a request does to the provider's cache, worked out when somebody asks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from elision.cache.path import Beside, Node, Tally, key_of
from elision.cache.rules import Bill, Prefix, Reach, Standing, bill, found_again, written

if TYPE_CHECKING:
    from elision.profiles import Profile


class Keys(NamedTuple):
    """Short hashes of what a request is made of; ``task_state`` is the head of the history and what we wrote into it.

    ``live_window`` is all the rest: what clearing changes.
    """

    system: str
    tools: str
    task_state: str
    live_window: str


@dataclass(frozen=True, slots=True)
class Break:
    """The first message that does not extend the request before, and why; 0 where the whole request is new."""

    index: int
    reason: str
    processors: tuple[str, ...] = ()


class Saved(NamedTuple):
    """What the edits save of this request: tokens of the window, and money, which may be less than nothing."""

    tokens: int
    dollars: float | None
    relative: float


class Sent(NamedTuple):
    """What one request was made of, and what it shares with those before it.

    ``shared`` is the last message that it has in common with the request before, ``ended`` the last at which an earlier
    one ended, ``recent`` the last that is among the latest entries of the cache; ``reaches`` pairs each breakpoint with
    the nearest entry at or before it.  ``known`` is how many messages of the whole history the request before had.
    """

    profile: Profile
    beside: Beside
    last: Node
    shared: Node | None
    ended: Node | None
    recent: Node | None
    reaches: tuple[tuple[Node, Node | None], ...]
    full: Tally
    history: Sequence[Any]
    known: int | None
    ttl_seconds: int | None = None
    breaks: tuple[Break, ...] = ()
    notes: tuple[str, ...] = ()


class CacheReport:
    """What a request does to the provider's cache: expected from its rules, not measured.

    ``breaks`` says where it does not extend the request before, ``notes`` what else there is to know.
    """

    def __init__(self, sent: Sent) -> None:
        self._sent = sent

    @property
    def breaks(self) -> Sequence[Break]:
        """Where the request does not extend the one before it in this session: nothing, or the first message."""
        return self._sent.breaks

    @property
    def notes(self) -> Sequence[str]:
        """What a user should know of the marks of this request."""
        return self._sent.notes

    @cached_property
    def keys(self) -> Keys:
        """The four keys."""
        sums = self._sent.last.sums()
        return Keys(*self._sent.beside.keys, key_of(sums.task_state.hex()), key_of(sums.live_window.hex()))

    @cached_property
    def bill(self) -> Bill:
        """What the request is expected to cost."""
        sent, cache = self._sent, self._sent.profile.cache
        standing = Standing(
            common=_tokens(sent.shared),
            ended=_tokens(sent.ended),
            recent=_tokens(sent.recent),
            reaches=tuple(Reach(_prefix(mark), _prefix(entry)) for mark, entry in sent.reaches if entry is not None),
        )
        total = _tokens(sent.last)
        newest = max((_tokens(mark) for mark, _ in sent.reaches), default=0)
        return bill(sent.profile, total, found_again(cache, standing), written(cache, total, newest), sent.ttl_seconds)

    @cached_property
    def full(self) -> Bill:
        """What the whole history would cost, at its best: with a breakpoint at its end where breakpoints are needed."""
        sent, cache = self._sent, self._sent.profile.cache
        total = sent.full.upto(sent.history, len(sent.history))
        shared = 0 if sent.known is None else sent.full.upto(sent.history, sent.known)
        if cache.marks == "explicit" and not sent.reaches:
            return bill(sent.profile, total, 0, 0)
        entry = Prefix(shared, 0)
        read = found_again(cache, Standing(shared, shared, shared, (Reach(entry, entry),)))
        return bill(sent.profile, total, read, written(cache, total, total), sent.ttl_seconds)

    @property
    def common_tokens(self) -> int:
        """Tokens of the beginning that it shares with the request before: what the best marks would let it read."""
        return _tokens(self._sent.shared)

    @property
    def saved(self) -> Saved:
        """What this request saves against sending the whole history."""
        full, own = self.full, self.bill
        dollars = None if full.dollars is None or own.dollars is None else full.dollars - own.dollars
        return Saved(full.input_tokens - own.input_tokens, dollars, full.relative - own.relative)

    @property
    def input_tokens(self) -> int:
        """Tokens of the request, system prompt and tools included."""
        return self.bill.input_tokens

    @property
    def read_tokens(self) -> int:
        """Tokens that are read from the cache."""
        return self.bill.read_tokens

    @property
    def write_tokens(self) -> int:
        """Tokens that are written to the cache."""
        return self.bill.write_tokens

    @property
    def miss_tokens(self) -> int:
        """Tokens that are neither."""
        return self.bill.miss_tokens

    @property
    def cost(self) -> float | None:
        """Dollars for the input, where prices are known."""
        return self.bill.dollars

    @property
    def hit_rate(self) -> float:
        """Share of the input that is read from the cache."""
        return self.bill.hit_rate

    def as_dict(self) -> dict[str, Any]:
        """Return the report as plain data."""
        return {
            "keys": self.keys._asdict(),
            "breaks": [asdict(each) for each in self.breaks],
            "before": _plain(self.full),
            "after": _plain(self.bill),
            "saved": self.saved._asdict(),
            "notes": list(self.notes),
        }


def _plain(found: Bill) -> dict[str, Any]:
    return {**found._asdict(), "hit_rate": found.hit_rate}


def _tokens(node: Node | None) -> int:
    return node.sums().tokens if node is not None else 0


def _prefix(node: Node) -> Prefix:
    sums = node.sums()
    return Prefix(sums.tokens, sums.blocks)
