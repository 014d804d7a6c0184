"""The tools of which the table does not let every result be removed: a provider that clears goes by tools only."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from elision.classification.classes import ERROR
from elision.classification.possible import possible_classes

if TYPE_CHECKING:
    from elision.classification import Table
    from elision.history import History, Paired
    from elision.message import Address
    from elision.moment import Moment
    from elision.standing import Standing


class ProtectedTools:
    """The tools that one operation must leave alone; it grows with the history and looks at each result once."""

    def __init__(self, operation: str, history: History, standing: Standing, table: Table) -> None:
        self._operation = operation
        self._history = history
        self._standing = standing
        self._table = table
        self._looked_at = 0
        self._woken = 0
        self._called: set[str] = set()
        self._lasting: set[str] = set()
        self._held: dict[Address, Paired] = {}
        self._holds: Counter[str] = Counter()
        self._possible: dict[str, bool] = {}
        self._annotations: Mapping[str, Mapping[str, Any]] = {}

    def names(
        self, offered: frozenset[str] | None, moment: Moment, annotations: Mapping[str, Mapping[str, Any]]
    ) -> frozenset[str]:
        """Return the names, of the tools that are offered and of those that have been called."""
        if annotations != self._annotations:
            self._annotations, self._possible = annotations, {}
        for paired in self._history.observations[self._looked_at : moment.observations]:
            self._look_at(paired, moment)
        self._looked_at = max(self._looked_at, moment.observations)
        self._let_go(moment)
        lasting = {name for name in self._called | (offered or frozenset()) if self._can_be_protected(name)}
        return frozenset(lasting | self._lasting | {name for name, count in self._holds.items() if count})

    def _look_at(self, paired: Paired, moment: Moment) -> None:
        if paired.call is None:
            return
        name = paired.call.name
        self._called.add(name)
        if any(protects(self._table, each, self._operation) for each in self._standing.classes(paired) - {ERROR}):
            self._lasting.add(name)
        elif not self._standing.allows(self._operation, paired, moment.newest_step):
            self._held[paired.address] = paired
            self._holds[name] += 1

    def _let_go(self, moment: Moment) -> None:
        """Forget results that may go by now, such as those of calls that have succeeded since."""
        changed = self._standing.changed
        for address in changed[self._woken :]:
            held = self._held.get(address)
            if held and held.call and self._standing.allows(self._operation, held, moment.newest_step):
                del self._held[address]
                self._holds[held.call.name] -= 1
        self._woken = len(changed)

    def _can_be_protected(self, name: str) -> bool:
        found = self._possible.get(name)
        if found is None:
            annotations = self._annotations.get(name)
            found = self._possible[name] = can_be_protected(self._table, name, annotations, self._operation)
        return found


def can_be_protected(table: Table, name: str, annotations: Mapping[str, Any] | None, operation: str) -> bool:
    """Whether a result of a tool may be of a class that an operation may not touch, as far as its name tells."""
    return any(protects(table, each, operation) for each in possible_classes(table, name, annotations) - {ERROR})


def protects(table: Table, name: str, operation: str) -> bool:
    """Whether a class is one that an operation may not touch, or only under a condition."""
    row = table.classes.get(name)
    return row is None or not row.cell(operation).allowed or row.cell(operation).bounded


@lru_cache(maxsize=64)
def protecting_classes(table: Table | None, operation: str) -> tuple[str, ...]:
    """Return the classes of a table that an operation may not touch, or only under a condition."""
    return tuple(name for name in table.classes if protects(table, name, operation)) if table else ()
