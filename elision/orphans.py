"""Results that answer no call: no wire takes them, and what they say is kept in the archive."""

from __future__ import annotations

from collections.abc import Mapping

from elision.errors import ArchiveError
from elision.history import History
from elision.message import Address
from elision.originals import Originals, Taken
from elision.redaction import Policy


class Orphans:
    """The results of one history that were left out because they answer no call, and their names in the archive."""

    def __init__(self, history: History) -> None:
        self._history = history
        self._refs: dict[Address, str] = {}

    def kept(self, originals: Originals, policy: Policy) -> Mapping[Address, str]:
        """Return the refs of all so far, and have the new ones stored; one that cannot be is tried again."""
        orphans = self._history.faults.orphans
        if not orphans:
            return self._refs
        from elision.archive import Entry

        fresh = sorted(orphans - self._refs.keys()) if originals.archive.keeps and self._history.wire.checked else []
        for address in fresh:
            sealed = originals.sealed(self._history, address)
            if not isinstance(sealed, ArchiveError):
                entry = Entry(
                    content=sealed,
                    ref=sealed.ref,
                    session=originals.session,
                    processor="repair",
                    operation="none",
                    view_policy=policy,
                    chars_after=0,
                    reason="it answers no call",
                )
                originals.taken.append(Taken(entry, _nothing, _nothing))
                self._refs[address] = sealed.ref
        return self._refs


def _nothing() -> None:
    """An orphan is left out in any case: no wire takes it."""
