"""What came of a request: the messages to send, and everything that was decided, refused, mended or missing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import Any, NamedTuple, TypeAlias

from elision.kept import Kept, Unknown
from elision.repair import Repair
from elision.standing import UNKNOWN, SkillChange


@dataclass(frozen=True, slots=True)
class AppliedEdit:
    """One edit that stands in the view."""

    processor: str
    action: str
    operation: str
    position: int
    part: int | None
    call_id: str
    tool: str
    chars_before: int
    chars_after: int
    reason: str
    elides: bool
    classes: tuple[str, ...] = ()
    ref: str = ""
    """The original's name in the archive."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """One edit that the guard refused, and the rule that did."""

    processor: str
    action: str
    position: int
    part: int | None
    call_id: str
    rule: str
    reason: str
    tool: str = ""
    classes: tuple[str, ...] = ()

    @property
    def is_unknown(self) -> bool:
        """Whether the table refused it because nobody knows what the result is."""
        return self.rule == "class_allows" and UNKNOWN in self.classes

    @property
    def place(self) -> Place:
        """What was to be edited, by whom and how."""
        return self.processor, self.action, self.position, self.part


Place: TypeAlias = tuple[str, str, int, int | None]


@dataclass(frozen=True, slots=True)
class Failure:
    """A processor or a listener that raised, or the archive where it failed, and what came of it."""

    processor: str
    error: str
    effect: str = "its new edits are left out of the request (on_error: raise shows where)"

    @property
    def told(self) -> str:
        """The failure in one line."""
        raised = "" if self.processor == "archive" else f"{self.processor} raised "
        return f"{raised}{self.error}; {self.effect}"


@dataclass(frozen=True, slots=True)
class Pending:
    """A call that has no result yet."""

    step: int
    call_id: str
    tool: str


class Tokens(NamedTuple):
    """Tokens of the messages as the host holds them, and as they are sent."""

    before: int
    after: int


@dataclass(frozen=True)
class SentView:
    """The view of one request.

    ``messages`` are in the host's own dialect; those that no edit touched are the host's own objects.
    """

    messages: list[Any]
    dialect: str
    edits: Sequence[AppliedEdit]
    refusals: Sequence[Refusal]
    failures: Sequence[Failure]
    repairs: Sequence[Repair]
    pending: Sequence[Pending]
    history: Sequence[Any]
    model: str | None = None
    unreachable: Sequence[Pending] = ()
    """Calls whose placeholders no tool of the request can read back any longer."""
    kept: Kept | None = field(default=None, repr=False, compare=False)

    @cached_property
    def tokens(self) -> Tokens:
        """Tokens before and after, counted when first asked for (see :mod:`elision.tokens`)."""
        from elision.tokens import count_messages

        before, after = count_messages((self.history, self.messages), self.dialect, self.model)
        return Tokens(before, after)

    @cached_property
    def unknown(self) -> Unknown:
        """Results that no rule of the table knows, which are sent in full; counted when first asked for."""
        return self.kept.unknown() if self.kept else Unknown(0, 0, ())

    @cached_property
    def skill_changes(self) -> Sequence[SkillChange]:
        """Skills that were loaded again and are not what they were when they were first loaded."""
        return self.kept.skill_changes() if self.kept else ()

    @property
    def unknown_tools(self) -> list[str]:
        """Tools with results that a processor wanted out and no rule knows, those with the most first."""
        unknown = (refusal.tool for refusal in self.refusals if refusal.is_unknown and refusal.tool)
        return [name for name, _ in Counter(unknown).most_common()]

    @property
    def held_up_by_unknown(self) -> bool:
        """Whether nothing was removed, mostly because nobody knows what the results are."""
        unknown = sum(refusal.is_unknown for refusal in self.refusals)
        return 2 * unknown > len(self.refusals) and not self.removed and bool(self.unknown_tools)

    @property
    def removed(self) -> int:
        """Characters that the edits have taken out."""
        return sum(max(0, edit.chars_before - edit.chars_after) for edit in self.edits)

    @property
    def note(self) -> str:
        """One line that says why results stay in the request that a processor wanted out, and what to do; or nothing.

        It is there when tools are not known, when no tool brings results back, and when nothing at all was removed.
        """
        if self.refusals and not self.removed and not self.held_up_by_unknown:
            (reason, count), *_ = Counter(refusal.reason for refusal in self.refusals).most_common(1)
            return f"nothing was removed: {count} of {len(self.refusals)} refusals say: {reason}"
        lines = []
        if self.unknown_tools:
            table = self.kept.standing.table if self.kept else None
            lines.append(_unknown_note(self.unknown_tools, table.name if table else ""))
        no_way = Counter(refusal.reason for refusal in self.refusals if refusal.rule == "way_back")
        lines += [f"{count} results stay in the request: {reason}" for reason, count in no_way.items()]
        return "; ".join(lines)

    def as_dict(self) -> dict[str, Any]:
        """Return the report as plain data, without the messages."""
        return {
            "dialect": self.dialect,
            "model": self.model,
            "messages": {"before": len(self.history), "after": len(self.messages)},
            "tokens": self.tokens._asdict(),
            "edits": [asdict(edit) for edit in self.edits],
            "refusals": [asdict(refusal) for refusal in self.refusals],
            "failures": [asdict(failure) for failure in self.failures],
            "repairs": [asdict(repair) for repair in self.repairs],
            "pending": [asdict(call) for call in self.pending],
            "unreachable": [asdict(call) for call in self.unreachable],
            "unknown": self.unknown._asdict(),
            "skill_changes": [change._asdict() for change in self.skill_changes],
            "note": self.note,
        }


def _unknown_note(tools: Sequence[str], table: str) -> str:
    shown = ", ".join(repr(name)[:60] for name in tools[:5]) + (", …" if len(tools) > 5 else "")
    inline = table.startswith("<")
    named = "the chain's own table" if inline else f"the table {table!r}"
    option = "" if inline or table == "default" else f" --table {table}"
    return (
        f"some results of {shown} stay in the request: {named} has no rule that knows them; elision classify RUN"
        f"{option} --suggest prints a table with rules to add, for a FILE that the chain names (classification: FILE); "
        "or write classification: none"
    )
