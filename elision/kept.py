"""What the table says of a whole view, worked out when somebody asks."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import NamedTuple

from elision.history import History
from elision.message import ToolResult, plain
from elision.moment import Moment, Request
from elision.overlay import Overlay
from elision.standing import UNKNOWN, SkillChange, Standing


class Unknown(NamedTuple):
    """Results of the class ``unknown``, sent in full: how many, their tokens, and the tools, most tokens first."""

    results: int
    tokens: int
    tools: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Kept:
    """The observations of one request, to be counted when somebody asks."""

    history: History
    standing: Standing
    overlay: Overlay
    moment: Moment
    request: Request

    def skill_changes(self) -> tuple[SkillChange, ...]:
        """Return the skills that were loaded again and have changed."""
        self.standing.advance(self.moment, self.request)
        return tuple(self.standing.skill_changes)

    def unknown(self) -> Unknown:
        """Count what no rule of the table knows."""
        from elision.tokens import count_text

        tokens: Counter[str] = Counter()
        results = 0
        for paired in self.history.observations[: self.moment.observations]:
            gone = self.overlay.elided(paired.address) or self.overlay.is_dropped(paired.step)
            if not gone and UNKNOWN in self.standing.classes(paired):
                part = self.history.messages[paired.address.position].parts[paired.address.part]
                results += 1
                tokens[paired.call.name if paired.call else ""] += (
                    count_text(plain(part.content), self.request.model) if isinstance(part, ToolResult) else 0
                )
        tools = tuple(name for name, _ in tokens.most_common() if name)
        return Unknown(results, tokens.total(), tools)
