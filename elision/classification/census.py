"""What a table says of the results in a recorded history."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from elision.classification.classes import UNKNOWN
from elision.classification.rules import Reason
from elision.classification.table import Table
from elision.history import History
from elision.message import ToolCall, ToolResult, plain

_NO_CALL = Reason((UNKNOWN,), "", "it answers no call")


@dataclass(frozen=True, slots=True)
class Classified:
    """One observation with its classes, what decided them, and its tokens."""

    step: int
    call: ToolCall | None
    classes: frozenset[str]
    reasons: tuple[Reason, ...]
    tokens: int

    @property
    def tool(self) -> str:
        """The name of the tool."""
        return self.call.name if self.call else ""

    @property
    def unknown(self) -> bool:
        """Whether something of it is not known."""
        return UNKNOWN in self.classes

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain data."""
        return {
            "step": self.step,
            "tool": self.tool,
            "classes": sorted(self.classes),
            "tokens": self.tokens,
            "reasons": [
                {"classes": list(reason.classes), "where": reason.where, "matched": reason.matched}
                for reason in self.reasons
            ],
        }


@dataclass(frozen=True, slots=True)
class Share:
    """How many observations there are of something, and their tokens."""

    observations: int
    tokens: int


def classified(history: History, table: Table, model: str | None = None) -> Iterator[Classified]:
    """Yield the observations of a history, oldest first, demonstrations included."""
    from elision.tokens import count_text

    for address, paired in sorted(history.paired.items()):
        part = history.messages[address.position].parts[address.part]
        assert isinstance(part, ToolResult)  # noqa: S101 (History)
        tokens = count_text(plain(part.content), model)
        if paired.call is None:
            yield Classified(paired.step, None, frozenset({UNKNOWN}), (_NO_CALL,), tokens)
        else:
            found = table.classify(paired.call, part.status)
            yield Classified(paired.step, paired.call, found.classes, found.rules, tokens)


def shares(observations: Iterable[Classified]) -> dict[str, Share]:
    """Return the share of each set of classes, the most tokens first."""
    found: dict[str, tuple[int, int]] = {}
    for each in observations:
        name = "+".join(sorted(each.classes))
        count, tokens = found.get(name, (0, 0))
        found[name] = (count + 1, tokens + each.tokens)
    in_order = sorted(found.items(), key=lambda item: (-item[1][1], item[0]))
    return {name: Share(*pair) for name, pair in in_order}


def share_of(observations: Iterable[Classified]) -> Share:
    """Return the share of all of them."""
    tokens = [each.tokens for each in observations]
    return Share(len(tokens), sum(tokens))
