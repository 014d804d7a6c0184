"""``budget``: a request that is too long is reduced until it fits, just before it is sent."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field, NonNegativeInt, PositiveInt

from elision import (
    Address,
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

    Cost: rewrites the cached prefix in each request that is too long; let other processors clear before that.

    ```yaml
    history_processors:
      - type: budget
        reserve_tokens: 8000
    ```

    In this order, and no more than is needed: results of old steps become placeholders, first those that can be had
    again, and of these the largest (where no tool brings one back, it is cut to head and tail); long values in the
    arguments of old calls become pointers; the oldest closed steps go, with one note that says how many; results of the
    newest step, and then texts of the user and of the assistant, are cut to head and tail, all to the same length.  It
    asks no model, looks at nothing while the request fits, and decides anew for each request.  Without ``max_tokens``
    it does nothing for a model of which no window is known.  Where even all that is not enough, it raises
    :class:`elision.OverBudgetError`, which names what is too long.  Never touches the system prompt, tools,
    demonstrations, thinking, the calls of the newest step, and what the classification table protects in the column
    ``budget`` (``clear_inputs`` for arguments, ``drop`` besides for steps).  Source: Cline's last pass, which needs no
    model, and deepagents' reserve for the answer.
    """

    stage: ClassVar[Stage] = "request"
    operation: ClassVar[Operation] = "budget"
    touches: ClassVar[frozenset[Role]] = frozenset({"user", "assistant"})
    weighs: ClassVar[bool] = True
    cost: ClassVar[str] = "rewrites the cached prefix in each request that is too long"

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
        fitting = _Fitting(view, size, tokens - limit)
        for reduce in (_old_results, _old_arguments, _old_steps, _newest_results, _texts):
            if fitting.excess > 0:
                reduce(fitting)
        if fitting.excess > 0:
            raise OverBudgetError(fitting.told(tokens, limit))
        yield from fitting.edits()

    def _is_known(self, view: View) -> bool:
        """Whether the limit is given, or the model's window is known; one that is assumed is no reason to remove."""
        return self.max_tokens is not None or not view.profile.sources["window.input_tokens"].startswith("default")

    def limit(self, view: View) -> int:
        """Return the most tokens that the request may have, as we count them."""
        window = view.profile.window.input_tokens
        reserve = min(_RESERVE_TOKENS, window // 10) if self.reserve_tokens is None else self.reserve_tokens
        most = self.max_tokens or max(window // 2, window - reserve)
        factor = view.size.factor if view.size else 1.0
        return max(1, int(most * (1 - self.margin_share) / factor))


_REASON = "over the budget"
_RESERVE_TOKENS = 8000
_ORDER = ("static", "dynamic", "error", "recalled", "skill")
"""Classes whose results go first; those of others go last."""
_LEAST_TOKENS = 150
"""What is left of a text that is cut, at least."""
_NOTE_TOKENS = 60
"""Room for what a cut says of itself."""
_LONG_CHARS = 500
_SHOWN = 3


@dataclass(slots=True)
class _Fitting:
    """One request on its way under the limit: what is proposed for it, and by how many tokens it is over."""

    view: View
    size: RequestSize
    excess: int
    replaced: dict[Address, Replace] = field(default_factory=dict)
    saved: dict[Address, int] = field(default_factory=dict)
    dropped: dict[int, StepView] = field(default_factory=dict)
    note: Insert | None = None
    refused: Counter[str] = field(default_factory=Counter)
    kept: Counter[str] = field(default_factory=Counter)

    def replace(self, edit: Replace, tokens: int) -> bool:
        """Propose other content than that of so many tokens, if that saves anything and is allowed."""
        saved = tokens - self.size.count(edit.content)
        if saved <= 0 or not self.allows(edit):
            return False
        self.replaced[edit.address], self.saved[edit.address] = edit, saved
        self.excess -= saved
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
        gone = {message.position for message in step.messages}
        inside = [address for address in self.replaced if address.position in gone]
        self.excess -= step.tokens - sum(self.saved.pop(address) for address in inside)
        for address in inside:
            del self.replaced[address]
        if self.note is None:
            self.excess += self.size.count([Text(note.text)])
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

    def told(self, tokens: int, limit: int) -> str:
        """Say what is too long, and what to do."""
        beside = self.size.beside
        sizes = [(beside, "system prompt and tools")] if beside else []
        sizes += [
            (self.left(message), f"message {message.position} ({message.role})")
            for message in self.view.messages
            if message.position not in self.gone
        ]
        largest = sorted(sizes, key=lambda each: -each[0])[:_SHOWN]
        named = ", ".join(f"{name} {count:,}" for count, name in largest)
        return (
            f"budget: the request has {tokens:,} tokens and may have {limit:,}; {limit + self.excess:,} stay when all "
            f"has gone that may go{self._why}; the largest are {named}; shorten these, or allow more (max_tokens, or a "
            f"model with a larger window){self._unknown}"
        )

    @property
    def _why(self) -> str:
        if self.kept:
            (classes, tokens), *_ = self.kept.most_common(1)
            return f" (the table keeps {tokens:,} of class {classes})"
        return f" ({self.refused.most_common(1)[0][0]})" if self.refused else ""

    @property
    def _unknown(self) -> str:
        """Say what to do where the table does not know tools."""
        said = ", or say what these tools do (`elision classify --suggest` writes the rules)"
        return said if "unknown" in self.kept else ""


def _is_old(step: StepView) -> bool:
    return step.age > 0 and not step.pending


def _old_results(fitting: _Fitting) -> None:
    """Put placeholders in place of old results; cut those that no tool could bring back."""
    found = [each for step in fitting.view.steps if _is_old(step) for each in step.observations if not each.elided]
    candidates = list(fitting.allowed(found))
    sizes = {each.address: fitting.size.count(each.content) for each in candidates}
    for each in sorted(candidates, key=lambda each: (_rank(each), -sizes[each.address], each.address)):
        if fitting.excess <= 0:
            return
        if not fitting.replace(each.elide(reason=_REASON), sizes[each.address]):
            fitting.cut(each, max(_LEAST_TOKENS, sizes[each.address] - fitting.excess))


def _rank(observation: Observation) -> int:
    """Return the place of a result's last class in the order."""
    return max((_ORDER.index(name) if name in _ORDER else len(_ORDER) for name in observation.classes), default=0)


def _old_arguments(fitting: _Fitting) -> None:
    """Put pointers in place of long values in the arguments of old calls, those of the longest first."""
    found = [
        call
        for step in fitting.view.steps
        if _is_old(step)
        for each in step.observations
        if (call := each.call_part) is not None and call.stands
    ]
    sizes = {call.address: fitting.size.count((call.call,)) for call in found}
    for call in sorted(found, key=lambda call: (-sizes[call.address], call.address)):
        if fitting.excess <= 0:
            return
        fitting.replace(call.elide(_LONG_CHARS, reason=_REASON), sizes[call.address])


def _old_steps(fitting: _Fitting) -> None:
    """Leave out the oldest closed steps."""
    for step in fitting.view.steps:
        if fitting.excess <= 0:
            return
        if _is_old(step):
            fitting.drop(step)


def _newest_results(fitting: _Fitting) -> None:
    """Cut the results of the newest step, and of those that wait for some, to the same length."""
    steps = [step for step in fitting.view.steps if not _is_old(step)]
    found = [each for step in steps for each in step.observations if not each.elided]
    _cut_alike(fitting, list(fitting.allowed(found)))


def _texts(fitting: _Fitting) -> None:
    """Cut what the user and the assistant say to the same length."""
    found = [
        part
        for message in fitting.view.messages
        if message.role in {"user", "assistant"} and message.position not in fitting.gone
        if not _calls_in_text(message)
        for part in message.parts
        if not (part.is_result or part.demo or part.elided)
    ]
    _cut_alike(fitting, found)


def _calls_in_text(message: MessageView) -> bool:
    """Whether calls are read from the text of a message: what is cut there would be another call."""
    found = (part for part in message.message.parts if isinstance(part, ToolCall) and part.raw is None)
    return any(call.name or _said(call.arguments) for call in found)


def _said(arguments: Mapping[str, Any] | str) -> str:
    """Return what a call that is read from text says; nothing where the text has none."""
    return arguments if isinstance(arguments, str) else "".join(map(str, arguments.values())).strip()


def _cut_alike(fitting: _Fitting, parts: Sequence[PartView]) -> None:
    """Cut the longest of some parts to one length that is short enough."""
    sizes = {part.address: fitting.size.count(part.content) for part in parts}
    most = max(_LEAST_TOKENS, _room(list(sizes.values()), sum(sizes.values()) - fitting.excess))
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
