"""What came of a request: the messages to send, and everything that was decided, refused, mended or missing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

from elision.applied import ProviderEdit
from elision.kept import Kept, Unknown
from elision.own_values import own_profile
from elision.repair import Repair
from elision.shadow import Shadow
from elision.standing import UNKNOWN, SkillChange
from elision.windows import window_problem

if TYPE_CHECKING:
    from elision.cache.report import CacheReport, Sent


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
        raised = "" if self.processor in ("archive", "files", "params") else f"{self.processor} raised "
        return f"{raised}{self.error}; {self.effect}"


@dataclass(frozen=True, slots=True)
class Pending:
    """A call that has no result yet."""

    step: int
    call_id: str
    tool: str


class Waiting(NamedTuple):
    """Edits that wait for one schedule, and the tokens that they would save; 0 where these are not counted for it."""

    schedule: str
    edits: int
    tokens: int

    def __str__(self) -> str:
        tokens = f" ({self.tokens:,} tokens)" if self.tokens else ""
        wait = "edits wait" if self.edits > 1 else "edit waits"
        return f"{self.edits} {wait} for the schedule {self.schedule}{tokens}"


class Tokens(NamedTuple):
    """Tokens of the messages as the host holds them, and as they are sent."""

    before: int
    after: int


@dataclass(frozen=True)
class SentView:
    """The view of one request.

    ``messages`` are in the host's own dialect; those that no edit touched are the host's own objects.  In shadow mode
    they are the host's, all of them; all else that is reported is of what would have been sent, which is in ``shadow``.
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
    params: Mapping[str, Any] = field(default_factory=dict)
    """What the request needs beside its messages, as litellm and the provider's SDK take it."""
    owner: Literal["elision", "provider"] = "elision"
    """Who manages the context of this request."""
    problems: Sequence[str] = ()
    """What the chain was to hand over to the provider and may not."""
    native: Sequence[ProviderEdit] = ()
    """What the provider has done with the context of the session's earlier requests (see :meth:`Session.record`)."""
    waiting: Sequence[Waiting] = ()
    """Edits that will be made when their schedule comes due."""
    by_window: Sequence[str] = ()
    """Types of processors of the chain that go by the model's window."""
    unreachable: Sequence[Pending] = ()
    """Calls whose placeholders no tool of the request can read back any longer."""
    kept: Kept | None = field(default=None, repr=False, compare=False)
    tools: Any = None
    """The request's tool definitions, the host's own, in the order in which this session first saw them."""
    shadow: Shadow | None = None
    """In shadow mode what would have been sent; nothing where the view is live."""
    sent: Sent | None = field(default=None, repr=False, compare=False)
    """What the cache report is worked out from."""

    @property
    def live(self) -> bool:
        """Whether what was decided is sent; in shadow mode the original is."""
        return self.shadow is None

    @property
    def decided(self) -> list[Any]:
        """The messages that were decided on, whether or not they are sent."""
        return self.shadow.messages if self.shadow else self.messages

    @cached_property
    def tokens(self) -> Tokens:
        """Tokens before and after the chain, counted when first asked for (see :mod:`elision.tokens`)."""
        from elision.tokens import count_messages

        with own_profile(self.kept.request.own if self.kept else None):
            before, after = count_messages((self.history, self.decided), self.dialect, self.model)
        return Tokens(before, after)

    @cached_property
    def cache(self) -> CacheReport:
        """What the provider is expected to find again of earlier requests, what the request costs, and where it breaks.

        Worked out when it is read.
        """
        from elision.cache.report import CacheReport

        if self.sent is None:
            raise TypeError("cache: this view is not of a session; process the messages with a chain")
        return CacheReport(self.sent)

    @cached_property
    def unknown(self) -> Unknown:
        """Results that no rule of the table knows, which are sent in full; counted when first asked for."""
        with own_profile(self.kept.request.own if self.kept else None):
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
        return 2 * unknown > len(self.refusals) and not self._took_out and bool(self.unknown_tools)

    @property
    def removed(self) -> int:
        """Characters that the edits have taken out."""
        return sum(max(0, edit.chars_before - edit.chars_after) for edit in self.edits)

    @property
    def _took_out(self) -> bool:
        """Whether anything was: an image has no characters."""
        return self.removed > 0 or any(edit.ref for edit in self.edits)

    @property
    def note(self) -> str:
        """One line that says why results stay in the request that a processor wanted out, and what to do; or nothing.

        It is there when tools are not known, when no tool brings results back, and when nothing at all was removed;
        and when processors go by the window of a model of which nobody knows it.
        """
        with own_profile(self.kept.request.own if self.kept else None):
            assumed = window_problem(self.by_window, self.model)
        return "; ".join([*self._why_it_stays(), *([assumed] if assumed else [])])

    def _why_it_stays(self) -> list[str]:
        waiting = [] if self._took_out else [f"nothing is removed yet: {each}" for each in self.waiting]
        if self.refusals and not self._took_out and not self.held_up_by_unknown and not waiting:
            (rule, count), *_ = Counter(refusal.rule for refusal in self.refusals).most_common(1)
            reasons = Counter(refusal.reason for refusal in self.refusals if refusal.rule == rule)
            (reason, _), *_ = reasons.most_common(1)
            return [f"nothing was removed: {count} of {len(self.refusals)} refusals are by {rule}, such as: {reason}"]
        lines = waiting
        if self.unknown_tools:
            table = self.kept.standing.table if self.kept else None
            lines.append(_unknown_note(self.unknown_tools, table.name if table else ""))
        no_way = Counter(refusal.reason for refusal in self.refusals if refusal.rule == "way_back")
        lines += [f"{count} results stay in the request: {reason}" for reason, count in no_way.items()]
        return lines

    def as_dict(self) -> dict[str, Any]:
        """Return the report as plain data, without the messages."""
        return {
            "dialect": self.dialect,
            "model": self.model,
            "owner": self.owner,
            "live": self.live,
            "params": self.shadow.params if self.shadow else self.params,
            "problems": list(self.problems),
            "native": [edit._asdict() for edit in self.native],
            "messages": {"before": len(self.history), "after": len(self.decided)},
            "tokens": self.tokens._asdict(),
            "cache": self.cache.as_dict() if self.sent else None,
            "edits": [asdict(edit) for edit in self.edits],
            "refusals": [asdict(refusal) for refusal in self.refusals],
            "failures": [asdict(failure) for failure in self.failures],
            "repairs": [asdict(repair) for repair in self.repairs],
            "pending": [asdict(call) for call in self.pending],
            "waiting": [each._asdict() for each in self.waiting],
            "unreachable": [asdict(call) for call in self.unreachable],
            "unknown": self.unknown._asdict(),
            "skill_changes": [change._asdict() for change in self.skill_changes],
            "note": self.note,
        }


def in_shadow(view: SentView, tools: Any) -> SentView:
    """Return the view of the same request in shadow mode, with the tools as the host has them."""
    shadow = Shadow(view.messages, view.params, view.tools)
    return replace(view, messages=list(view.history), params={}, tools=tools, shadow=shadow)


def _unknown_note(tools: Sequence[str], table: str) -> str:
    shown = ", ".join(repr(name)[:60] for name in tools[:5]) + (", …" if len(tools) > 5 else "")
    inline = table.startswith("<")
    named = "the chain's own table" if inline else f"the table {table!r}"
    option = " --chain CHAIN" if inline else "" if table == "default" else f" --table {table}"
    prints = "the rules to add to it"
    if not inline:
        prints = "a table with rules to add, for a FILE that the chain names (classification: FILE)"
    return (
        f"some results of {shown} stay in the request: {named} has no rule that knows them; elision classify RUN"
        f"{option} --suggest prints {prints}; "
        "classification: none asks no table, so that receipts, skills and errors may go too"
    )
