"""What came of a request: the messages to send, and everything that was decided, refused, mended or missing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any, NamedTuple

from elision.repair import Repair


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


@dataclass(frozen=True, slots=True)
class Failure:
    """A processor or a listener that raised, and what came of it."""

    processor: str
    error: str
    effect: str = "its new edits are left out of the request (on_error: raise shows where)"


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

    @cached_property
    def tokens(self) -> Tokens:
        """Tokens before and after, counted when first asked for (see :mod:`elision.tokens`)."""
        from elision.tokens import count_messages

        before, after = count_messages((self.history, self.messages), self.dialect, self.model)
        return Tokens(before, after)

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
        }
