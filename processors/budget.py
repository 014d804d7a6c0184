"""``budget``: a request that is too long is reduced until it fits, just before it is sent."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Annotated, ClassVar, Literal, NamedTuple

from pydantic import Field, NonNegativeInt, PositiveInt

from elision import (
    Address,
    CallView,
    Content,
    Edit,
    Insert,
    MessageView,
    Observation,
    Operation,
    OverBudgetError,
    PartView,
    Processor,
    Replace,
    RequestSize,
    Role,
    Stage,
    StepView,
    Text,
    ToolCall,
    Truncation,
    View,
    truncate_content,
)


class Budget(Processor):
    """Reduce a request that is too long for the window until it fits, just before it is sent.

    Cost: rewrites the cached prefix each time that the run has come to the limit again; let other processors clear
    before that.

    ```yaml
    history_processors:
      - type: budget
        reserve_tokens: 8000
    ```

    In this order: results of old steps become placeholders, first those that can be had again, and of these the largest
    (where no tool brings one back, it is cut to head and tail); long values in the arguments of old calls become
    pointers; new results over a quarter of the limit are cut to head and tail; the oldest closed steps go, with one
    note that says how many; results of the newest step, then texts of the user and of the assistant, are cut, all to
    the same length.  What is old goes until four fifths of the limit are left, so that the next requests fit and extend
    this one; what is new is cut no more than is needed.  It asks no model, looks at nothing while the request fits, and
    keeps nothing: it goes through the requests that there have been.  Without ``max_tokens`` it does nothing for a
    model of which no window is known.  Where all that is not enough, it raises :class:`elision.OverBudgetError`, which
    names what is too long.  Never touches the system prompt, tools, demonstrations, thinking, the calls of the newest
    step, and what the classification table protects in the column ``budget`` (``clear_inputs`` for arguments, ``drop``
    besides for steps).  Source: Cline's last pass, which needs no model, and deepagents' reserve for the answer.
    """

    stage: ClassVar[Stage] = "request"
    operation: ClassVar[Operation] = "budget"
    touches: ClassVar[frozenset[Role]] = frozenset({"user", "assistant"})
    weighs: ClassVar[bool] = True
    cost: ClassVar[str] = "rewrites the cached prefix each time that the run comes to the limit"

    type: Literal["budget"] = "budget"
    max_tokens: PositiveInt | None = None
    """Most tokens of a request; those of the model's window, less ``reserve_tokens``, if not given."""
    reserve_tokens: NonNegativeInt | None = None
    """Tokens of the window left for the answer, at most half of it; if not given 8,000, at most a tenth of it."""
    margin_share: Annotated[float, Field(ge=0, lt=1)] = 0.05
    """Share of the limit that stays free, because no count is exact for every model."""

    def plan(self, view: View) -> Iterator[Edit]:
        """Propose what makes the request fit."""
        size = view.size
        if size is None or not self._is_known(view) or (tokens := size.tokens) <= (limit := self.limit(view)):
            return
        *earlier, now = _requests(view, size, tokens)
        fitting = _Fitting(view, size, limit, now)
        for request in earlier:
            if not fitting.fit(request):
                # Nobody got an answer to it: the run cannot have gone on from there as it stands.
                break
        if not fitting.fit(now):
            raise OverBudgetError(fitting.told(tokens))
        yield from fitting.edits()

    def _is_known(self, view: View) -> bool:
        """Whether the limit is given, or the model's window is known; one that is assumed is no reason to remove."""
        return self.max_tokens is not None or not view.profile.sources["window.input_tokens"].startswith("default")

    def limit(self, view: View) -> int:
        """Return the most tokens that the request may have, as we count them."""
        window = view.profile.window.input_tokens
        reserve = min(_RESERVE_TOKENS, window // 10) if self.reserve_tokens is None else self.reserve_tokens
        most = self.max_tokens or max(window // 2, window - reserve)
        # A limit that moved a little with each answer would move all earlier cuts.
        factor = math.ceil(round(view.size.factor * _FACTOR_STEPS, 6)) / _FACTOR_STEPS if view.size else 1.0
        return max(1, int(most * (1 - self.margin_share) / factor))


_REASON = "over the budget"
_LOW_SHARE = 0.8
"""Share of the limit to which old content goes once it is reached: a cut at each step would be a break each time."""
_LARGE_SHARE = 0.25
"""Share of the limit from which on a result of the newest step is cut before any step goes."""
_FACTOR_STEPS = 20
"""Steps in which what the provider counts over what we count is taken into account."""
_RESERVE_TOKENS = 8000
_ORDER = ("static", "dynamic", "error", "recalled", "skill")
"""Classes whose results go first; those of others go last."""
_LEAST_TOKENS = 150
"""What is left of a text that is cut, at least."""
_NOTE_TOKENS = 60
"""Room for what a cut says of itself."""
_LONG_CHARS = 500
_SHOWN = 3


class _Request(NamedTuple):
    """A request that there was, or the one that is to be sent: the messages before a position, and its steps."""

    stop: int
    tokens: int
    steps: Sequence[StepView]


def _requests(view: View, size: RequestSize, tokens: int) -> Iterator[_Request]:
    """Yield the requests of a run, as long as they would be by now: one before each answer of the model, then this."""
    steps, sizes = view.steps, {message.position: size.of(message) for message in view.messages}
    upto, stops = tokens - sum(sizes.values()), dict[int, int]()
    for position, of_message in sizes.items():
        stops[position] = upto
        upto += of_message
    for count, step in enumerate(steps):
        start = step.messages[0].position
        if count and start in stops:
            yield _Request(start, stops[start], steps[:count])
    yield _Request(view.moment.stop, tokens, steps)


@dataclass(slots=True)
class _Fitting:
    """A run on its way under the limit: what is proposed, and by how many tokens one of its requests is over.

    Once enough of what is old has gone, it is well below the limit.  A step is looked at once, when it is old, and what
    could not go or has gone is not looked at again: so the time is that of the run, not that of all its requests.
    """

    view: View
    size: RequestSize
    limit: int
    request: _Request
    excess: int = 0
    replaced: dict[Address, Replace] = field(default_factory=dict)
    saved: dict[Address, int] = field(default_factory=dict)
    saved_tokens: int = 0
    dropped: dict[int, StepView] = field(default_factory=dict)
    note: Insert | None = None
    looked_at: int = 0
    old: dict[int, StepView] = field(default_factory=dict)
    """Closed steps before the newest, which may be left out."""
    results: dict[Address, tuple[Observation, int]] = field(default_factory=dict)
    """Results of these that the table lets go, with their tokens; and the calls."""
    calls: dict[Address, tuple[CallView, int]] = field(default_factory=dict)
    refused: Counter[str] = field(default_factory=Counter)
    kept: Counter[str] = field(default_factory=Counter)

    def fit(self, request: _Request) -> bool:
        """Propose what makes a request fit, besides what earlier ones needed; say whether it does."""
        self.request = request
        self.excess = request.tokens - self.limit - self.saved_tokens
        if self.excess <= 0:
            return True
        self.refused.clear()
        self._look_at(request.steps[self.looked_at : -1])
        large = partial(_newest_results, least=int(self.limit * _LARGE_SHARE))
        for reduce in (_old_results, _old_arguments, large, _old_steps, _newest_results, _texts):
            if self.excess > 0:
                reduce(self)
        return self.excess <= 0

    def _look_at(self, steps: Sequence[StepView]) -> None:
        """Take in steps that are old by now."""
        self.looked_at += len(steps)
        for step in (each for each in steps if not each.pending):
            self.old[step.index] = step
            for each in self.allowed(each for each in step.observations if not each.elided):
                self.results[each.address] = each, self.size.count(each.content)
            for each in step.observations:
                if (call := each.call_part) is not None and call.stands:
                    self.calls[call.address] = call, self.size.count((call.call,))

    def _save(self, tokens: int) -> None:
        self.saved_tokens += tokens
        self.excess -= tokens

    @property
    def low_excess(self) -> int:
        """By how many tokens it is over what old content goes down to."""
        return self.excess + self.limit - int(self.limit * _LOW_SHARE)

    def replace(self, edit: Replace, tokens: int) -> bool:
        """Propose other content than that of so many tokens, if that saves more than before and is allowed."""
        saved = tokens - self.size.count(edit.content)
        more = saved - self.saved.get(edit.address, 0)
        if more <= 0 or not self.allows(edit):
            return False
        self.replaced[edit.address], self.saved[edit.address] = edit, saved
        self._save(more)
        return True

    def cut(self, part: PartView, tokens: int) -> bool:
        """Propose the head and the tail of a part, with at most so many tokens."""
        content = _cut(self.size, part, tokens)
        return content is not None and self.replace(
            part.replace(content, reason=_REASON), self.size.count(part.content)
        )

    def drop(self, step: StepView) -> None:
        """Propose to leave a step out, if that is allowed; what was proposed in it goes with it."""
        edit = step.drop(reason=_REASON)
        note = self.note or self.view.insert(_note(99), before=step.messages[0])
        if not self.allows(edit) or not self.allows(note):
            return
        sizes = ((message.position, len(message.message.parts)) for message in step.messages)
        parts = [Address(position, index) for position, count in sizes for index in range(count)]
        self._save(step.tokens - sum(self.saved.pop(address, 0) for address in parts))
        for address in parts:
            for known in (self.replaced, self.results, self.calls):
                known.pop(address, None)
        if self.note is None:
            self._save(-self.size.count([Text(note.text)]))
        self.note, self.dropped[step.index] = note, step

    @property
    def gone(self) -> frozenset[int]:
        """The positions of the messages that go with steps; what a user says beside results stays."""
        return frozenset(
            message.position for step in self.dropped.values() for message in step.messages if message.role != "user"
        )

    def allows(self, edit: Edit) -> bool:
        """Whether the guard lets an edit pass."""
        why = self.view.why_refused(edit)
        self.refused.update([why] if why else [])
        return not why

    def allowed(self, found: Iterable[Observation]) -> Iterator[Observation]:
        """Yield the results that the table lets go; of the others the tokens are kept, by what they are."""
        for each in found:
            if each.allows("budget"):
                yield each
            else:
                self.kept[", ".join(sorted(each.classes))] += each.tokens

    def edits(self) -> Iterator[Edit]:
        """Yield what makes the request fit."""
        yield from self.replaced.values()
        if self.note is not None:
            first = next(iter(self.dropped.values())).messages[0]
            yield self.view.insert(_note(len(self.dropped)), before=first)
        yield from (step.drop(reason=_REASON) for step in self.dropped.values())

    def left(self, message: MessageView) -> int:
        """Return the tokens that are left of a message."""
        return message.tokens - sum(
            saved for address, saved in self.saved.items() if address.position == message.position
        )

    def told(self, tokens: int) -> str:
        """Say what is too long, and what to do."""
        sizes = [(beside, "system prompt and tools")] if (beside := self.size.beside) else []
        sizes += [
            (self.left(message), f"message {message.position} ({message.role})")
            for message in self.view.messages
            if message.position not in self.gone
        ]
        largest = sorted(sizes, key=lambda each: -each[0])[:_SHOWN]
        named = ", ".join(f"{name} {count:,}" for count, name in largest)
        return (
            f"budget: the request has {tokens:,} tokens and may have {self.limit:,}; {self.limit + self.excess:,} stay "
            f"when all has gone that may go{self._why}; the largest are {named}; shorten these, or allow more "
            f"(max_tokens, or a model with a larger window){self._unknown}"
        )

    @property
    def _why(self) -> str:
        (classes, tokens), *_ = self.kept.most_common(1) or [("", 0)]
        if tokens and (tokens >= self.excess or not self.refused):
            return f" (the table keeps {tokens:,} of class {classes})"
        return f" ({self.refused.most_common(1)[0][0]})" if self.refused else ""

    @property
    def _unknown(self) -> str:
        """Say what to do where the table does not know tools."""
        said = ", or say what these tools do (`elision classify --suggest` writes the rules)"
        return said if "unknown" in self.kept else ""


def _old_results(fitting: _Fitting) -> None:
    """Put placeholders in place of old results; cut those that no tool could bring back."""
    for each, tokens in sorted(fitting.results.values(), key=lambda each: (_rank(each[0]), -each[1], each[0].address)):
        if fitting.low_excess <= 0:
            return
        if fitting.replace(each.elide(reason=_REASON), tokens):
            del fitting.results[each.address]
        else:
            fitting.cut(each, max(_LEAST_TOKENS, tokens - fitting.low_excess))


def _rank(observation: Observation) -> int:
    """Return the place of a result's last class in the order."""
    return max((_ORDER.index(name) if name in _ORDER else len(_ORDER) for name in observation.classes), default=0)


def _old_arguments(fitting: _Fitting) -> None:
    """Put pointers in place of long values in the arguments of old calls, those of the longest first."""
    for call, tokens in sorted(fitting.calls.values(), key=lambda each: (-each[1], each[0].address)):
        if fitting.low_excess <= 0:
            return
        fitting.replace(call.elide(_LONG_CHARS, reason=_REASON), tokens)
        del fitting.calls[call.address]


def _old_steps(fitting: _Fitting) -> None:
    """Leave out the oldest closed steps."""
    for index, step in list(fitting.old.items()):
        if fitting.low_excess <= 0:
            return
        fitting.drop(step)
        del fitting.old[index]


def _newest_results(fitting: _Fitting, least: int = 0) -> None:
    """Cut the results of the newest step, and of those that wait for some, to the same length."""
    steps = [step for step in fitting.request.steps if step.pending or step is fitting.request.steps[-1]]
    found = [each for step in steps for each in step.observations if not each.elided]
    _cut_alike(fitting, list(fitting.allowed(found)), least)


def _texts(fitting: _Fitting) -> None:
    """Cut what the user and the assistant say to the same length."""
    found = [
        part
        for message in fitting.view.messages
        if message.position < fitting.request.stop
        if message.role in {"user", "assistant"} and message.position not in fitting.gone
        if not _calls_in_text(message)
        for part in message.parts
        if not (part.is_result or part.demo or part.elided)
    ]
    _cut_alike(fitting, found)


def _calls_in_text(message: MessageView) -> bool:
    """Whether calls are read from the text of a message: what is cut there would be another call."""
    calls = [part for part in message.message.parts if isinstance(part, ToolCall) and part.raw is None]
    given = (call.arguments for call in calls)
    said = (text if isinstance(text, str) else "".join(map(str, text.values())).strip() for text in given)
    return any(call.name for call in calls) or any(said)


def _cut_alike(fitting: _Fitting, parts: Sequence[PartView], least: int = 0) -> None:
    """Cut the longest of some parts to one length that is short enough, or has ``least`` tokens."""
    sizes = {part.address: fitting.size.count(part.content) - fitting.saved.get(part.address, 0) for part in parts}
    most = max(_LEAST_TOKENS, least, _room(list(sizes.values()), sum(sizes.values()) - fitting.excess))
    for part in sorted(parts, key=lambda part: (-sizes[part.address], part.address)):
        if fitting.excess <= 0 or sizes[part.address] <= most:
            return
        fitting.cut(part, most)


def _room(sizes: Sequence[int], tokens: int) -> int:
    """Return the most tokens that each text may have so that all together have so many."""
    left = len(sizes)
    for size in sorted(sizes):
        if size * left > tokens:
            return tokens // left
        tokens, left = tokens - size, left - 1
    return tokens


def _cut(size: RequestSize, part: PartView, tokens: int) -> tuple[Content, ...] | None:
    """Return head and tail of a part, with at most so many tokens, and the count of what is between."""
    chars = len(part.text)
    room = chars * max(tokens - _NOTE_TOKENS, 1) // max(size.count(part.content), 1)
    tail = room // 3
    how = Truncation(threshold_tokens=tokens, head_chars=room - tail, tail_chars=tail, keep_error_lines=3)
    return truncate_content(part.content, how, way_back=lambda: part.way_back, model=size.request.model)


def _note(steps: int) -> str:
    told = "1 earlier step is" if steps == 1 else f"{steps} earlier steps are"
    return f"[{told} left out here: with them the request would be longer than it may be]"
