"""The cache of a provider: what of a request it has seen before, by the rules of a profile.

It holds what was sent, block by block, and knows nothing of how Elision plans.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from itertools import islice

from elision.profiles import Cache


@dataclass(frozen=True, slots=True)
class Block:
    """A piece of a request as the provider compares it; ``ttl`` is that of a breakpoint at its end."""

    key: str
    tokens: int
    ttl: int | None = None


@dataclass(frozen=True, slots=True)
class Found:
    """What was read from the cache, and what was written to it: seconds and tokens."""

    read: int
    writes: tuple[tuple[int, int], ...] = ()


@dataclass(slots=True)
class Entry:
    """A prefix that is kept until some time, and how long a read keeps it."""

    until: float
    ttl: int


@dataclass(frozen=True, slots=True)
class Boundary:
    """The end of a block: the prefix up to it, and the prefix before the block."""

    before: str
    digest: str
    block: Block
    tokens: int


class PrefixCache:
    """Entries of all requests so far; ``clock`` says the time in seconds."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._entries: dict[str, Entry] = {}
        self._next: dict[str, dict[str, str]] = {}

    def ask(self, scope: str, blocks: Sequence[Block], rules: Cache, *, implicit: int | None) -> Found:
        """Look a request up, and keep it; ``scope`` is what two requests must share, such as the model.

        ``implicit`` is for how many seconds the breakpoint of the provider's own holds; nothing where it sets none.
        """
        path = list(_boundaries(scope, blocks))
        if rules.marks == "none" or not path:
            return Found(0)
        now, smallest = self._clock(), max(1, rules.min_tokens)
        read = self._read(path, rules, now)
        read = read - read % max(1, rules.unit_tokens) if read >= smallest else 0
        marked = _marked(path, rules, implicit=implicit)
        stored = [(place, ttl) for place, ttl in marked if path[place].tokens >= smallest]
        for place, ttl in stored:
            self._keep(path[place], ttl, now)
        if rules.match == "prefix" and stored:
            self._keep_all(path, rules.ttl[0].seconds, now)
        return Found(read, tuple(_writes(read, [(path[place].tokens, ttl) for place, ttl in stored])))

    def _read(self, path: Sequence[Boundary], rules: Cache, now: float) -> int:
        if rules.match == "prefix":
            return self._common(path, now)
        if rules.match == "request":
            return self._longest(path, now, None)
        if rules.lookback_blocks is None:
            return self._longest(path, now, rules.lookback_breakpoints)
        marks = [place for place, each in enumerate(path) if each.block.ttl is not None]
        return max((self._looked_back(path, place, rules.lookback_blocks, now) for place in marks), default=0)

    def _longest(self, path: Sequence[Boundary], now: float, latest: int | None) -> int:
        """Return the longest prefix with an entry, among the latest entries."""
        known = (each for each in reversed(path) if each.digest in self._entries)
        return next((each.tokens for each in islice(known, latest) if self._hit(each, now)), 0)

    def _looked_back(self, path: Sequence[Boundary], place: int, blocks: int, now: float) -> int:
        """Return the longest prefix with an entry at a breakpoint or at the blocks before it."""
        for each in reversed(path[max(0, place - blocks + 1) : place + 1]):
            if self._hit(each, now):
                return each.tokens
        return 0

    def _common(self, path: Sequence[Boundary], now: float) -> int:
        """Return how long a prefix was sent before, to the very character."""
        tokens = 0
        for each in path:
            if not self._hit(each, now):
                return tokens + self._part_of(each, now)
            tokens = each.tokens
        return tokens

    def _part_of(self, boundary: Boundary, now: float) -> int:
        """Return how many tokens of a block began another that stood in its place."""
        key = boundary.block.key
        others = self._next.get(boundary.before, {}).items()
        shared = [_shared(key, other) for other, digest in others if self._entries[digest].until > now]
        return boundary.block.tokens * max(shared, default=0) // max(1, len(key))

    def _hit(self, boundary: Boundary, now: float) -> bool:
        """Whether there is an entry; a read keeps it anew."""
        entry = self._entries.get(boundary.digest)
        if entry is None or entry.until <= now:
            return False
        entry.until = now + entry.ttl
        return True

    def _keep(self, boundary: Boundary, ttl: int, now: float) -> None:
        entry = self._entries.get(boundary.digest)
        longest = max(ttl, entry.ttl) if entry is not None and entry.until > now else ttl
        self._entries[boundary.digest] = Entry(now + longest, longest)

    def _keep_all(self, path: Sequence[Boundary], ttl: int, now: float) -> None:
        for each in path:
            self._keep(each, ttl, now)
            self._next.setdefault(each.before, {})[each.block.key] = each.digest


def _boundaries(scope: str, blocks: Sequence[Block]) -> Iterator[Boundary]:
    digest, tokens = sha256(scope.encode()).hexdigest(), 0
    for block in blocks:
        before, tokens = digest, tokens + block.tokens
        digest = sha256(f"{before}{block.key}".encode()).hexdigest()
        yield Boundary(before, digest, block, tokens)


def _marked(path: Sequence[Boundary], rules: Cache, *, implicit: int | None) -> list[tuple[int, int]]:
    """Return where entries are left, and for how many seconds: at breakpoints, and at the end where that is automatic.

    Of more than there may be only the last ones count.
    """
    takes_marks = rules.marks in ("explicit", "both")
    found = {place: each.block.ttl for place, each in enumerate(path) if takes_marks and each.block.ttl is not None}
    if rules.marks != "explicit" and implicit is not None:
        found.setdefault(len(path) - 1, implicit)
    return sorted(found.items())[-(rules.breakpoints + 1) :]


def _writes(read: int, stored: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Yield what is new in the cache: seconds and tokens, in the order of the request."""
    upto = read
    for tokens, ttl in stored:
        if tokens > upto:
            yield ttl, tokens - upto
            upto = tokens


def _shared(one: str, other: str) -> int:
    """Return how many characters two texts begin with alike."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((place for place, (mine, its) in pairs if mine != its), min(len(one), len(other)))
