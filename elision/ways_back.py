"""Ways back: which tools of a request bring back what placeholders stand for."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, TypeAlias

from elision.edits import Pointer, Template
from elision.guard import arguments_can_come_back, can_come_back, file_can_be_read
from elision.history import History
from elision.message import Address, ToolCall
from elision.moment import Memory, Moment, Request
from elision.overlay import Overlay, Version
from elision.pairing import step_at
from elision.report import Pending

if TYPE_CHECKING:
    from elision.classification import Table

Renew: TypeAlias = Callable[[Address, Version, Request], None]
"""What makes a placeholder anew."""


class WaysBack:
    """The placeholders of one growing history, and the tools that can bring back what they stand for."""

    def __init__(self, history: History, overlay: Overlay, memories: Sequence[Memory], renew: Renew) -> None:
        self._history = history
        self._overlay = overlay
        self._memories = memories
        self._renew = renew
        self._ways: tuple[frozenset[str] | None, str] | None = None
        self._called: set[str] = set()
        self._shortened: dict[str, dict[Address, None]] = {}
        self._unreachable: dict[Address, None] = {}

    def enter(self, moment: Moment) -> None:
        """Take in the results that have come in."""
        for paired in self._history.observations[moment.earlier_observations : moment.observations]:
            self._called.add(paired.call.name if paired.call else "")

    def note(self, positions: Iterable[int]) -> None:
        """Note messages in which results or calls have been edited."""
        for position in positions:
            for part in self._overlay.edited.get(position, ()):
                address = Address(position, part)
                if address in self._history.paired or self._call_at(address) is not None:
                    self._shortened.setdefault(self._tool_at(address), {})[address] = None

    def choose(self, request: Request, table: Table | None) -> None:
        """Make placeholders anew when their tools come or go: these lead the prefix, so the cache is cold then.

        One that nothing can read back any longer stays as it is.
        """
        ways, before = (request.offered, request.recall_tool), self._ways
        if ways == before:
            return
        self._ways = ways
        names = self._that_came_or_went(before, request)
        for memory in self._memories:
            for address in [address for address in memory.waiting if self._tool_at(address) in names]:
                del memory.waiting[address]
                memory.deferred[address] = None
        for name, shortened in self._shortened.items():
            for address in shortened:
                versions = self._overlay.versions.get(address)
                template = versions[-1].template if versions else None
                if name not in names and not isinstance(template, Pointer):
                    continue
                self._unreachable.pop(address, None)
                if versions and template is not None and self._can_come_back(address, template, request, table):
                    self._renew(address, versions[-1], request)
                elif template is not None:
                    self._unreachable[address] = None

    def unreachable_calls(self) -> tuple[Pending, ...]:
        """Return the calls whose placeholders nothing in the request can read back."""
        found = ((step_at(self._history, address), self._call_at(address)) for address in self._unreachable)
        return tuple(dict.fromkeys(Pending(step, call.id, call.name) for step, call in found if call))

    def _that_came_or_went(self, before: tuple[frozenset[str] | None, str] | None, request: Request) -> frozenset[str]:
        """Return the tools in the history for which there is another way back now."""
        called = frozenset(self._called)
        if before is None or before[0] is None or request.offered is None or before[1] != request.recall_tool:
            return called
        return called & (before[0] ^ request.offered)

    def _call_at(self, address: Address) -> ToolCall | None:
        """Return the call at an address, or the one that the result there answers."""
        paired = self._history.paired.get(address)
        part = self._history.messages[address.position].parts[address.part]
        return paired.call if paired is not None else part if isinstance(part, ToolCall) else None

    def _tool_at(self, address: Address) -> str:
        call = self._call_at(address)
        return call.name if call else ""

    def _can_come_back(
        self, address: Address, template: Template | Pointer, request: Request, table: Table | None
    ) -> bool:
        paired = self._history.paired.get(address)
        if isinstance(template, Pointer):
            return file_can_be_read(table, request)
        return can_come_back(paired, request) if paired else arguments_can_come_back(request)
