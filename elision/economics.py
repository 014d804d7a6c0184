"""When clearing pays: the break-even meter, the number of steps between two clears, and what a request costs.

What is stale costs the price of a cache read in every request that still carries it; clearing it costs the price of
writing again what stands behind the first edit.  How many requests are still to come is not known, so the meter waits
until the first has added up to a share of the second.  This is the rule of dynamic lot sizing (part-period balancing)
and of acknowledging packets (Dooly, Goldman and Scott 2001); with a fixed cost of clearing and a share of 1 it pays at
most twice what was needed.  ``bench/schedule_cost.py`` holds it against the cheapest schedule there is.

Prices are those of one token, in any unit: multiplying all of them by one number changes no decision.  A read price of
zero means that carrying is free, so clearing never pays; a write price that is not above the read price means that
rewriting is free, so clearing always pays.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

SHARE = 0.9
"""Share of the cost of a rewrite at which clearing pays; from 0.5 to 1 the mean cost of runs hardly differs."""

MOST_OF_SPENT = 0.2
"""Most that a rewrite may cost of what the run has cost so far: a run that ends right after it loses no more."""

MAX_POLLING = 1000
"""Most steps between two clears that are ever advised."""


@dataclass(frozen=True, slots=True)
class Meter:
    """What stale content has cost since the last clear, held against what the next clear would cost."""

    read: float
    write: float
    share: float = SHARE
    carried: float = 0
    """Tokens that were sent although they were stale, added up over the requests since the last clear."""

    def __post_init__(self) -> None:
        _check_prices(self.read, self.write)
        if not (0 < self.share < math.inf):
            raise ValueError(f"share: {self.share!r} is not allowed; give a number above 0, such as {SHARE}")

    @property
    def regret(self) -> float:
        """The price of what was carried."""
        return self.read * self.carried

    def stepped(self, stale_tokens: float) -> Meter:
        """Count one more request that could have done without so many tokens (see :func:`carried_tokens`)."""
        return replace(self, carried=self.carried + max(stale_tokens, 0))

    def pays(self, rewritten_tokens: float, spent: float = math.inf) -> bool:
        """Whether to clear now, if the cache has to be written again for so many tokens that it already holds.

        These are the tokens behind the first edit as they stand after it, less what is new in this request; none where
        the cache is cold.  ``spent`` is what the input of the run has cost, this request included.
        """
        return pays(self.read, self.write, self.carried, rewritten_tokens, spent=spent, share=self.share)

    def reset(self) -> Meter:
        """Begin again after a clear."""
        return replace(self, carried=0)


def pays(
    read: float, write: float, carried: float, rewritten_tokens: float, *, spent: float, share: float = SHARE
) -> bool:
    """Whether to clear now, where so many tokens have been carried since the last clear (see :meth:`Meter.pays`)."""
    cost = max(write - read, 0) * max(rewritten_tokens, 0)
    return carried > 0 and read * carried >= share * cost and cost <= MOST_OF_SPENT * spent


@dataclass(frozen=True, slots=True)
class Price:
    """The prices of reading and writing the cache; a model without one has the price of input for both.

    ``tiers`` are pairs ``(above_tokens, factor)`` in ascending order: a request of more tokens costs so many times as
    much, all of it.
    """

    read: float
    write: float
    tiers: tuple[tuple[int, float], ...] = ()

    def __post_init__(self) -> None:
        _check_prices(self.read, self.write)

    def factor(self, tokens: float) -> float:
        """Return what all prices of a request of so many tokens are multiplied by."""
        found = 1.0
        for above, factor in self.tiers:
            if tokens > above:
                found = factor
        return found


def request_cost(price: Price, cached_tokens: float, written_tokens: float) -> float:
    """Return what the input of a request costs."""
    factor = price.factor(cached_tokens + written_tokens)
    return factor * (price.read * cached_tokens + price.write * written_tokens)


def carried_tokens(price: Price, cached_tokens: float, written_tokens: float, stale_tokens: float) -> float:
    """Return what the stale part of the cached tokens costs in this request, in tokens at the read price.

    This is ``stale_tokens``, and more where the request would be in a cheaper tier without them.
    """
    total = cached_tokens + written_tokens
    if not (price.read and price.tiers) or price.factor(total) == price.factor(total - stale_tokens):
        return stale_tokens
    without = request_cost(price, cached_tokens - stale_tokens, written_tokens)
    return (request_cost(price, cached_tokens, written_tokens) - without) / price.read


def break_even_steps(write: float, read: float, rewritten_tokens: float, removed_tokens: float) -> float:
    """Return after how many steps a clear has paid for itself: ``(w/r - 1) * rewritten / removed``.

    Infinite where it never does: nothing is removed, or reading costs nothing.
    """
    _check_prices(read, write)
    cost = max(write - read, 0) * max(rewritten_tokens, 0)
    saved = read * max(removed_tokens, 0)
    if not cost:
        return 0.0
    return cost / saved if saved else math.inf


def polling_auto(write: float, read: float, keep: int, added_tokens: float, removed_tokens: float) -> int:
    """Return the number of steps between two clears that costs least: ``sqrt(2 (w/r - 1) K added / removed)``.

    ``keep`` is the K results that stay; a step adds ``added_tokens`` (its results included), of which
    ``removed_tokens`` can go later.  This is the economic order quantity (Harris 1913): the cost of an order is the
    rewrite of the K newest steps, that of storage the reading of what is stale.  From 1 to ``MAX_POLLING``.
    """
    _check_prices(read, write)
    if write <= read or keep <= 0 or added_tokens <= 0:
        return 1
    if not read or removed_tokens <= 0:
        return MAX_POLLING
    steps = math.sqrt(2 * (write / read - 1) * (keep * added_tokens / removed_tokens))
    return max(1, math.floor(min(steps, MAX_POLLING) + 0.5))


def _check_prices(read: float, write: float) -> None:
    for name, price in (("read", read), ("write", write)):
        if not (0 <= price < math.inf):
            raise ValueError(f"{name}: {price!r} is no price; give a number from 0 up")
