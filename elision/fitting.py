"""A run on its way under a limit: what is proposed so that each of its requests fits."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from elision.edits import Drop, Edit, Insert, Operation, Replace
from elision.errors import OverBudgetError
from elision.message import Address, Text, ToolCall
from elision.reductions import LOW_SHARE, REASON, REDUCTIONS, cut_content, note_text, rank

if TYPE_CHECKING:
    from elision.parts import Observation, PartView
    from elision.sizes import RequestSize
    from elision.view import View
    from elision.wholes import MessageView, StepView

_COLUMNS: tuple[Operation, ...] = ("budget", "clear_inputs", "drop")
"""What the table is asked of a result, its call and its step."""
_SHOWN = 3


def fitting_edits(view: View, size: RequestSize, limit: int) -> list[Edit]:
    """Return what makes a request fit that is too long, besides what the requests before it needed.

    What was found for those is used again as long as all that it rests on is the same; a fresh process finds it anew.
    """
    tokens = size.tokens
    if tokens <= limit:
        return []
    fitting = size.take(limit)
    if not isinstance(fitting, Fitting) or not fitting.goes_on(view, size, tokens):
        fitting = Fitting(limit)
        fitting.look_at(view, size, tokens)
    if fitting.fit_all():
        size.keep(limit, fitting)
    return fitting.edits()


class Requested(NamedTuple):
    """A request that there was, or the one that is to be sent: the messages before a position, and its steps."""

    stop: int
    tokens: int
    steps: int


class Fitting:
    """What is proposed for the requests of a run, and by how many tokens one of them is over the limit.

    Once enough of what is old has gone, it is well below the limit.  A step is looked at once, when it is old, and what
    could not go or has gone is not looked at again: so the time is that of the run, not that of all its requests.
    """

    view: View
    size: RequestSize
    now: Requested

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.excess = 0
        self.request = Requested(0, 0, 0)
        self.replaced: dict[Address, Replace] = {}
        self.results: dict[Address, tuple[int, int]] = {}
        """Results of old steps that the table lets go, with their rank and their tokens."""
        self.calls: dict[Address, int] = {}
        self.old: dict[int, None] = {}
        """Closed steps before the newest, which may be left out."""
        self._refused: Counter[str] = Counter()
        self._saved: dict[Address, int] = {}
        self._saved_tokens = 0
        self._dropped: dict[int, Drop] = {}
        self._gone: set[int] = set()
        """The messages that go with steps; what a user says beside results stays."""
        self._note: Insert | None = None
        self._kept: dict[Address, tuple[frozenset[str], int]] = {}
        """Results that the table does not let go, with their classes and tokens."""
        self._steps: list[int] = []
        self._looked_at = self._seen_steps = 0
        self._pending: list[int] = []
        self._before = [0]
        """The tokens of the messages before each."""
        self._beside = 0
        self._said: dict[Address, None] = {}
        self._read = 0
        self._verdicts: dict[Address, list[bool]] = {}
        """What the table said of results of which not everything was allowed."""
        self._facts = 0

    def look_at(self, view: View, size: RequestSize, tokens: int) -> None:
        """Take in the messages of a request that there were not before."""
        self.view, self.size = view, size
        for position in range(len(self._before) - 1, view.moment.stop):
            message = view.message(position)
            self._before.append(self._before[-1] + (size.of(message) if message.stands else 0))
        self._steps += (index for index in range(self._seen_steps, view.moment.steps) if view.step(index).stands)
        self._seen_steps = view.moment.steps
        self._beside = tokens - self._before[-1]
        self.now = Requested(view.moment.stop, tokens, len(self._steps))

    def goes_on(self, view: View, size: RequestSize, tokens: int) -> bool:
        """Take in a later request; say whether the last one was on the way to it, and what was decided still holds."""
        beside, last = self._beside, self.request
        self.look_at(view, size, tokens)
        on_the_way = last.steps and last == (self.now if last.steps == self.now.steps else self._earlier(last.steps))
        changed = (address for address in view.standing.changed[self._facts :] if address in self._verdicts)
        return bool(
            on_the_way
            and beside == self._beside
            and all(self._verdict(address) == self._verdicts[address] for address in changed)
        )

    def fit_all(self) -> bool:
        """Propose what makes this request fit, after those before it; say whether later ones go on from there."""
        goes_on = True
        for steps in range(self.request.steps + 1, self.now.steps):
            if not self._fit(self._earlier(steps)):
                # Nobody got an answer to it: the run cannot have gone on from there as it stands.
                goes_on = False
                break
        if self.request != self.now and not self._fit(self.now):
            raise OverBudgetError(self._told())
        self._facts = len(self.view.standing.changed)
        return goes_on

    def _earlier(self, steps: int) -> Requested:
        """Return the request that a later step has answered, as long as it would be by now."""
        stop = self.view.step(self._steps[steps]).messages[0].position
        return Requested(stop, self._beside + self._before[stop], steps)

    def _fit(self, request: Requested) -> bool:
        """Propose what makes a request fit, besides what earlier ones needed; say whether it does."""
        self.request = request
        self.excess = request.tokens - self.limit - self._saved_tokens
        if self.excess <= 0:
            return True
        self._refused.clear()
        self._take_in(self._steps[self._looked_at : request.steps - 1])
        for reduce in REDUCTIONS:
            if self.excess > 0:
                reduce(self)
        return self.excess <= 0

    def _take_in(self, steps: Sequence[int]) -> None:
        """Take in steps that are old by now."""
        self._looked_at += len(steps)
        for step in map(self.view.step, steps):
            if step.pending:
                self._pending.append(step.index)
                continue
            self.old[step.index] = None
            self._judge(step.observations)
            for each in self._allowed(each for each in step.observations if not each.elided):
                self.results[each.address] = rank(each), self.size.count(each.content)
            for each in step.observations:
                if (call := each.call_part) is not None and call.stands:
                    self.calls[call.address] = self.size.count((call.call,))

    def _judge(self, results: Iterable[Observation]) -> None:
        """Note what the table does not let go as yet."""
        for each in results:
            if not all(verdict := self._verdict(each.address)):
                self._verdicts[each.address] = verdict

    def _verdict(self, address: Address) -> list[bool]:
        view = self.view
        paired, newest = view.history.paired[address], view.moment.newest_step
        return [view.standing.allows(column, paired, newest) for column in _COLUMNS]

    def _save(self, tokens: int) -> None:
        self._saved_tokens += tokens
        self.excess -= tokens

    @property
    def low_excess(self) -> int:
        """By how many tokens it is over what old content goes down to."""
        return self.excess + self.limit - int(self.limit * LOW_SHARE)

    @property
    def newest_results(self) -> list[Observation]:
        """The results of the newest step, and of those that wait for some, that the table lets go."""
        last = self._steps[self.request.steps - 1 : self.request.steps]
        steps = map(self.view.step, [*self._pending, *last])
        found = [each for step in steps for each in step.observations if not each.elided]
        self._judge(found)
        return list(self._allowed(found))

    @property
    def texts(self) -> list[PartView]:
        """What the user and the assistant say in the request."""
        for message in map(self.view.message, range(self._read, self.request.stop)):
            said = message.stands and message.role in {"user", "assistant"} and message.position not in self._gone
            if said and not _calls_in_text(message):
                parts = (part for part in message.parts if not (part.is_result or part.demo or part.elided))
                self._said.update(dict.fromkeys(part.address for part in parts))
        self._read = max(self._read, self.request.stop)
        return [self.view.part(address) for address in self._said]

    def replace(self, edit: Replace, tokens: int) -> bool:
        """Propose other content than that of so many tokens, if that saves more than before and is allowed."""
        saved = tokens - self.size.count(edit.content)
        more = saved - self._saved.get(edit.address, 0)
        if more <= 0 or not self._allows(edit):
            return False
        self.replaced[edit.address], self._saved[edit.address] = edit, saved
        self._save(more)
        return True

    def cut(self, part: PartView, tokens: int) -> bool:
        """Propose the head and the tail of a part, with at most so many tokens."""
        content = cut_content(self.size, part, tokens)
        return content is not None and self.replace(part.replace(content, reason=REASON), self.size.count(part.content))

    def drop(self, step: StepView) -> None:
        """Propose to leave a step out, if that is allowed; what was proposed in it goes with it."""
        edit = step.drop(reason=REASON)
        note = self._note or self.view.insert(note_text(99), before=step.messages[0])
        if not self._allows(edit) or not self._allows(note):
            return
        gone = {message.position for message in step.messages if message.role != "user"}
        sizes = ((message.position, len(message.message.parts)) for message in step.messages)
        parts = [Address(position, index) for position, count in sizes for index in range(count)]
        self._save(step.tokens - sum(self._saved.pop(address, 0) for address in parts))
        for address in parts:
            for known in (self.replaced, self.results, self.calls):
                known.pop(address, None)
            if address.position in gone:
                self._said.pop(address, None)
        if self._note is None:
            self._save(-self.size.count([Text(note.text)]))
        self._note, self._dropped[step.index] = note, edit
        self._gone |= gone

    def left(self, part: PartView) -> int:
        """Return the tokens that are left of a part."""
        return self.size.count(part.content) - self._saved.get(part.address, 0)

    def _allows(self, edit: Edit) -> bool:
        """Whether the guard lets an edit pass."""
        why = self.view.why_refused(edit)
        self._refused.update([why] if why else [])
        return not why

    def _allowed(self, found: Iterable[Observation]) -> Iterator[Observation]:
        """Yield the results that the table lets go."""
        for each in found:
            if each.allows("budget"):
                self._kept.pop(each.address, None)
                yield each
            else:
                self._kept[each.address] = each.classes, each.tokens

    def edits(self) -> list[Edit]:
        """Return what makes the request fit."""
        return [*self.replaced.values(), *self._notes(), *self._dropped.values()]

    def _notes(self) -> Iterator[Insert]:
        if self._note is not None:
            text, first = note_text(len(self._dropped)), self.view.step(next(iter(self._dropped)))
            if self._note.text != text:
                self._note = self.view.insert(text, before=first.messages[0])
            yield self._note

    def _told(self) -> str:
        """Say what is too long, and what to do."""
        sizes = [(beside, "system prompt and tools")] if (beside := self.size.beside) else []
        sizes += [
            (self._left_of(message), f"message {message.position} ({message.role})")
            for message in self.view.messages
            if message.position not in self._gone
        ]
        largest = sorted(sizes, key=lambda each: -each[0])[:_SHOWN]
        named = ", ".join(f"{name} {count:,}" for count, name in largest)
        return (
            f"budget: the request has {self.now.tokens:,} tokens and may have {self.limit:,}; "
            f"{self.limit + self.excess:,} stay when all has gone that may go{self._why}; the largest are {named}; "
            f"shorten these, or allow more (max_tokens, or a model with a larger window){self._unknown}"
        )

    def _left_of(self, message: MessageView) -> int:
        """Return the tokens that are left of a message."""
        return message.tokens - sum(
            saved for address, saved in self._saved.items() if address.position == message.position
        )

    @property
    def _why(self) -> str:
        kept = Counter[str]()
        for address, (classes, tokens) in self._kept.items():
            if address.position not in self._gone:
                kept[", ".join(sorted(classes))] += tokens
        (name, most), *_ = kept.most_common(1) or [("", 0)]
        if most and (most >= self.excess or not self._refused):
            return f" (the table keeps {most:,} of class {name})"
        return f" ({self._refused.most_common(1)[0][0]})" if self._refused else ""

    @property
    def _unknown(self) -> str:
        """Say what to do where the table does not know tools."""
        said = ", or say what these tools do (`elision classify --suggest` writes the rules)"
        return said if any("unknown" in classes for classes, _ in self._kept.values()) else ""


def _calls_in_text(message: MessageView) -> bool:
    """Whether calls are read from the text of a message: what is cut there would be another call."""
    calls = [part for part in message.message.parts if isinstance(part, ToolCall) and part.raw is None]
    given = (call.arguments for call in calls)
    said = (text if isinstance(text, str) else "".join(map(str, text.values())).strip() for text in given)
    return any(call.name for call in calls) or any(said)
