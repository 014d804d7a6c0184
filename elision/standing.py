"""What the table says of the observations in one history, and what has come of what they are about since."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from hashlib import sha256
from typing import TYPE_CHECKING, Any, NamedTuple

from elision.failed_text import points_back, reads_as_failure
from elision.history import History, Paired
from elision.message import Address, ToolCall, ToolResult, plain

if TYPE_CHECKING:
    from elision.classification import Classification, Facts, Table
    from elision.classification.directory import Directories
    from elision.moment import Moment, Request
    from elision.protected import ProtectedTools

UNKNOWN = "unknown"
RECEIPT = "receipt"
SKILL = "skill"
RECALLED = "recalled"


class SkillChange(NamedTuple):
    """A skill that was loaded again and is not what it was when it was first loaded; versions are hashes."""

    step: int
    call_id: str
    tool: str
    path: str
    pinned: str
    loaded: str

    @property
    def told(self) -> str:
        """The change in one line."""
        return f"skill {self.path!r:.200} has changed: version {self.pinned} was loaded first, now it is {self.loaded}"


class _Span(NamedTuple):
    """The tokens of one result, and of all of its class that came before it."""

    before: int
    tokens: int


@dataclass(slots=True)
class _Budget:
    """The results of one class that has a budget, oldest first; ``over[limit]`` of them are over that limit."""

    addresses: list[Address] = field(default_factory=list)
    spans: dict[Address, _Span] = field(default_factory=dict)
    total: int = 0
    over: dict[int, int] = field(default_factory=dict)


class Standing:
    """The classes of a history's observations, and whether each is superseded or resolved by now.

    It grows with the history and looks at each observation once.  ``changed`` lists every observation for which a
    bounded cell of the table may have opened since: an edit that was refused is offered again then.  ``stale`` lists
    those that are superseded, each once.
    """

    def __init__(self, history: History, table: Table | None, folders: frozenset[str] = frozenset()) -> None:
        self.table = table
        self.folders = folders
        self.changed: list[Address] = []
        self.stale: list[Address] = []
        self.skill_changes: list[SkillChange] = []
        self._versions: dict[tuple[str, str], str] = {}
        self._history = history
        self._observations = 0
        self._steps = 0
        self._current: dict[str, dict[str, list[Address]]] = {}
        self._failed: dict[str, list[Address]] = {}
        self._superseded: set[Address] = set()
        self._resolved: set[Address] = set()
        self._budgets: dict[str, _Budget] = {}
        self._classified: dict[Address, Classification] = {}
        self._annotations: Mapping[str, Mapping[str, Any]] = {}
        self._directories = _directories() if table else None
        self._waits = _waits(table) if table else ()
        self._limits = _limits(table) if table else {}
        self._protected: dict[str, ProtectedTools] = {}

    def beginning(self, history: History) -> Standing:
        """Return the same, at the beginning of another history."""
        return Standing(history, self.table, self.folders)

    def classification(self, paired: Paired) -> Classification | None:
        """Return the classes of an observation and what decided them; nothing without a table."""
        if self.table is None:
            return None
        found = self._classified.get(paired.address)
        if found is None:
            found = self._classified[paired.address] = self._classify(self.table, paired)
        return found

    def classes(self, paired: Paired) -> frozenset[str]:
        """Return the classes of an observation; none without a table."""
        found = self._classified.get(paired.address) or self.classification(paired)
        return found.classes if found else frozenset()

    def superseded(self, paired: Paired) -> bool:
        """Whether what it is about has been read or written later."""
        return paired.address in self._superseded

    def brought_back(self, paired: Paired, recall_tool: str = "") -> bool:
        """Whether a call has read an offloaded file, or recalled an original."""
        call = paired.call
        if call is None:
            return False
        return bool(recall_tool and call.name == recall_tool) or self._reads_back(call)

    def resolved(self, paired: Paired) -> bool:
        """Whether the same call has succeeded later."""
        return paired.address in self._resolved

    def allows(self, operation: str, paired: Paired, newest_step: int) -> bool:
        """Whether the table lets an operation be done to an observation now."""
        if self.table is None:
            return True
        return self.table.verdict(operation, self.classes(paired), self.facts(paired, newest_step)).allowed

    def protected_tools(self, operation: str, moment: Moment, request: Request) -> frozenset[str]:
        """Return the tools, offered or called so far, of which an operation may not be done to every result."""
        from elision.protected import ProtectedTools

        if self.table is None:
            return frozenset()
        found = self._protected.get(operation)
        if found is None:
            found = self._protected[operation] = ProtectedTools(operation, self._history, self, self.table)
        return found.names(request.offered, moment, annotations_of(request.tools))

    def facts(self, paired: Paired, newest_step: int) -> Facts:
        """Return what the cells of the table ask about an observation."""
        from elision.classification.cells import Facts

        address, tokens, newer = paired.address, 0, {}
        for name, budget in self._budgets.items():
            if (span := budget.spans.get(address)) is not None:
                tokens, newer[name] = span.tokens, budget.total - span.before - span.tokens
        return Facts(newest_step - paired.step, self.superseded(paired), self.resolved(paired), tokens, newer)

    def advance(self, moment: Moment, request: Request) -> None:
        """Take in the observations and the steps that there are at this moment."""
        if self.table is None:
            return
        if self._observations < moment.observations:
            self._annotations = annotations_of(request.tools)
            for paired in self._history.observations[self._observations : moment.observations]:
                self._enter(self.table, paired, request.model)
            self._observations = moment.observations
        for newest in range(self._steps, moment.steps):
            self._come_of_age(newest)
        self._steps = max(self._steps, moment.steps)

    def _classify(self, table: Table, paired: Paired) -> Classification:
        if paired.call is None:
            return _no_call()
        found = table.classify(paired.call, self._status(paired), self._annotations.get(paired.call.name))
        reads_back = self.folders and RECALLED in table.classes and self._reads_back(paired.call)
        return _recalled(found) if reads_back else found

    def _reads_back(self, call: ToolCall) -> bool:
        from elision.offloading.naming import names_folder

        return any(names_folder(call.arguments, folder) for folder in self.folders)

    def _enter(self, table: Table, paired: Paired, model: str | None) -> None:
        classes = self.classes(paired)
        for name, limits in self._limits.items():
            if name in classes:
                self._spend(name, limits, paired.address, model)
        if paired.call is None:
            return
        call, status = paired.call, self._status(paired)
        failed = status == "error"
        # A result without a status may say itself that its call has failed: what it would replace stays then.
        useless = failed or (
            status is None and reads_as_failure(self._text(paired.address), query="dynamic" not in classes)
        )
        again = not useless and RECEIPT not in classes and points_back(self._text(paired.address))
        resource, extent = table.subject(call)
        directory = self._directories.enter(call) if self._directories else ""
        if directory and resource == (key := table.same_call(call)):
            resource = f"{directory}\n{key}"
        if SKILL in classes and not failed:
            self._pin(resource or table.same_call(call), extent, paired)
        if failed:
            self._failed.setdefault(table.same_call(call), []).append(paired.address)
        elif self._failed and not useless:
            self._note(self._failed.pop(table.same_call(call), ()), self._resolved)
        if resource is not None:
            self._about(resource, extent, paired.address, failed=useless or again, writes=RECEIPT in classes)

    def _about(self, resource: str, extent: str, address: Address, *, failed: bool, writes: bool) -> None:
        """A write, or a reading of the whole, supersedes all that is known of a resource; else the same part of it."""
        current = self._current.setdefault(resource, {})
        if not failed:
            for part in [*current] if writes or not extent else [extent]:
                old = current.pop(part, ())
                self._note(old, self._superseded)
                self.stale += old
        current.setdefault(extent, []).append(address)

    def _pin(self, path: str, extent: str, paired: Paired) -> None:
        """Hold a skill that is loaded again against what it was when it was first loaded."""
        version = sha256(self._text(paired.address).encode("utf-8", "surrogatepass")).hexdigest()[:12]
        pinned = self._versions.setdefault((path, extent), version)
        if version != pinned and paired.call is not None:
            self.skill_changes.append(SkillChange(paired.step, paired.call.id, paired.call.name, path, pinned, version))

    def _text(self, address: Address) -> str:
        part = self._history.messages[address.position].parts[address.part]
        return plain(part.content) if isinstance(part, ToolResult) else ""

    def _spend(self, name: str, limits: Iterable[int], address: Address, model: str | None) -> None:
        from elision.tokens import count_text

        budget = self._budgets.setdefault(name, _Budget())
        tokens = count_text(self._text(address), model)
        budget.spans[address] = _Span(budget.total, tokens)
        budget.addresses.append(address)
        budget.total += tokens
        for limit in limits:
            first = start = budget.over.get(limit, 0)
            while (
                budget.total - budget.spans[budget.addresses[first]].before > limit
                and address != (budget.addresses[first])
            ):
                first += 1
            budget.over[limit] = first
            self.changed += budget.addresses[start:first]

    def _come_of_age(self, newest: int) -> None:
        for wait in self._waits:
            if newest >= wait:
                self.changed += filter(None, self._history.steps[newest - wait].results)

    def _note(self, addresses: Iterable[Address], known: set[Address]) -> None:
        known.update(addresses)
        self.changed += addresses

    def _status(self, paired: Paired) -> Any:
        part = self._history.messages[paired.address.position].parts[paired.address.part]
        return part.status if isinstance(part, ToolResult) else None


def _directories() -> Directories:
    from elision.classification.directory import Directories

    return Directories()


def annotations_of(tools: Any) -> dict[str, Mapping[str, Any]]:
    """Return the annotations (MCP) of a request's tools, by name."""
    found: dict[str, Mapping[str, Any]] = {}
    for tool in tools if isinstance(tools, list | tuple) else ():
        for owner in (tool, tool.get("function")) if isinstance(tool, Mapping) else ():
            if isinstance(owner, Mapping) and isinstance(owner.get("annotations"), Mapping):
                name = owner.get("name") or tool.get("name")
                if isinstance(name, str):
                    found[name] = owner["annotations"]
    return found


def _recalled(found: Classification) -> Classification:
    """Return the classes of a call, and that of what is brought back: it reads an offloaded file."""
    from elision.classification import Classification, Reason

    reason = Reason((RECALLED,), "offload", "it reads an offloaded file")
    return Classification(found.classes | {RECALLED}, (*found.rules, reason))


@cache
def _no_call() -> Classification:
    from elision.classification import Classification, Reason

    return Classification(frozenset({UNKNOWN}), (Reason((UNKNOWN,), "", "it answers no call"),))


def _waits(table: Table) -> tuple[int, ...]:
    """Return the different numbers of steps after which a cell of the table opens."""
    cells = (cell for row in table.classes.values() for cell in row.cells.values())
    return tuple(sorted({cell.after_steps for cell in cells if cell.allowed and cell.after_steps}))


def _limits(table: Table) -> Mapping[str, tuple[int, ...]]:
    """Return the budgets of each class that has one."""
    found = {
        name: tuple(sorted({cell.max_tokens for cell in row.cells.values() if cell.allowed and cell.max_tokens}))
        for name, row in table.classes.items()
    }
    return {name: limits for name, limits in found.items() if limits}
