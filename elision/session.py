"""A session: the fold kept from one request to the next, so that each message is looked at once."""

from __future__ import annotations

import operator
import warnings
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from elision.dialect import Dialect, Patch, by_name, detect
from elision.errors import InputError
from elision.fold import Decisions, Fold
from elision.guard import excess_breakpoints
from elision.history import History
from elision.hostside import HostSide
from elision.overlay import Overlay
from elision.registry import plugins
from elision.repair import Assembly, Repair, assemble
from elision.report import Pending, Refusal, SentView
from elision.view import Request

if TYPE_CHECKING:
    from elision.chain import Chain


class ElisionWarning(UserWarning):
    """Something was left out of a request's processing; the request itself goes out."""


class Session:
    """One run of an agent.  ``process`` is called with the whole history, which grows from call to call.

    A host that rewrites or branches its history is noticed, and the decisions are folded anew.  A message is recognised
    by identity (or equality) together with the type and length of its content.
    """

    def __init__(self, chain: Chain, id: str = "") -> None:  # noqa: A002 (the field's word)
        self.chain = chain
        self.id = id
        self._dialect: Dialect | None = None
        self._raws: list[Any] = []
        self._sizes: list[int] = []
        self._rendered: list[Any] = []
        self._fold: Fold | None = None
        self._warned: set[str] = set()

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *exc: object) -> None:
        self._raws, self._sizes, self._rendered, self._fold = [], [], [], None

    def process(
        self,
        messages: Sequence[Any] | Mapping[str, Any],
        *,
        system: Any = None,
        tools: Any = None,
        model: str | None = None,
        dialect: str | None = None,
    ) -> SentView:
        """Return the view of this request: the chain's edits on the history, in the host's own dialect.

        ``messages`` is the list of messages, or a whole request with ``messages``, ``system``, ``tools``, ``model``.
        The host's objects are never changed.
        """
        if isinstance(messages, Mapping):
            request = messages
            messages = request.get("messages", ())
            system = request.get("system", system)
            tools = request.get("tools", tools)
            model = model or request.get("model")
        if isinstance(messages, str | bytes) or not isinstance(messages, Sequence):
            raise InputError(f"messages: a {type(messages).__name__}; give a list of messages, or one request mapping")
        reader = self._reader(messages, dialect)
        fold = self._follow(list(messages), reader)
        facts = Request(system, tools, model or self.chain.model, self.chain.compat)
        fold.advance(facts)
        self._render(reader, fold)
        overlay, decisions = fold.for_request(facts, HostSide(reader, fold.history, self._rendered))
        view = self._compose(reader, fold, overlay, decisions, facts)
        self._warn(view)
        return view

    def _reader(self, messages: Sequence[Any], name: str | None) -> Dialect:
        if self._dialect is None:
            known = plugins().dialects()
            wanted = name or (None if self.chain.dialect == "auto" else self.chain.dialect)
            found = by_name(known, wanted) if wanted else detect(known, messages) if messages else known[0]
            if not messages:
                return found
            self._dialect = found
        return self._dialect

    def _follow(self, messages: list[Any], reader: Dialect) -> Fold:
        """Recognise the messages that are known, parse the new ones; start anew where the host rewrote its history."""
        known = len(self._raws)
        same = len(messages) >= known and all(map(operator.is_, messages, self._raws))
        if same:
            same = list(map(_size, messages[:known])) == self._sizes
        elif messages[:known] == self._raws:
            self._rendered = list(map(self._swap(messages), range(known)))
            self._raws, same = messages[:known], True
        if self._fold is None or not same:
            self._raws, self._sizes, self._rendered, known = [], [], [], 0
            self._fold = Fold(self.chain.processors, History(reader.wire), self.chain.on_error)
        history = self._fold.history
        for raw in messages[known:]:
            history.append(reader.parse(raw, history))
            self._raws.append(raw)
            self._sizes.append(_size(raw))
            self._rendered.append(raw)
        return self._fold

    def _swap(self, messages: list[Any]) -> Any:
        """Equal objects in place of the known ones: what is untouched is sent as the host's present object."""

        def chosen(position: int) -> Any:
            rendered = self._rendered[position]
            return messages[position] if rendered is self._raws[position] else rendered

        return chosen

    def _render(self, reader: Dialect, fold: Fold) -> None:
        for position in fold.decisions.touched:
            self._rendered[position] = _patched(reader, fold.history, fold.overlay, position, None)
        fold.decisions.touched.clear()

    def _compose(
        self, reader: Dialect, fold: Fold, overlay: Overlay, decisions: Decisions, facts: Request
    ) -> SentView:
        history, lasting = fold.history, fold.overlay
        refused, repairs = self._cap(fold, overlay, decisions, facts)
        out = list(self._rendered)
        for position in decisions.touched | overlay.marks.keys():
            out[position] = _patched(reader, history, overlay, position, overlay.marks.get(position))
        layers = (lasting, overlay)
        if any(layer.dropped or layer.inserted for layer in layers) or (reader.wire.checked and history.poisoned):
            out, mended = assemble(Assembly(history, reader, out, layers))
            repairs = [*repairs, *mended]
        return SentView(
            messages=out,
            dialect=reader.name,
            edits=(*fold.decisions.edits, *decisions.edits),
            refusals=(*fold.decisions.refusals.values(), *decisions.refusals.values(), *refused),
            failures=(*fold.decisions.failures.values(), *decisions.failures.values()),
            repairs=tuple(repairs),
            pending=tuple(Pending(step.index, call.id, call.name) for step, _, call in history.unanswered()),
            history=tuple(self._raws),
            model=facts.model,
        )

    def _cap(
        self, fold: Fold, overlay: Overlay, decisions: Decisions, facts: Request
    ) -> tuple[list[Refusal], list[Repair]]:
        """Keep cache breakpoints within the provider's number: a processor's are refused, a host's taken away."""
        refused: list[Refusal] = []
        repairs: list[Repair] = []
        for position, ours in excess_breakpoints(fold.history, overlay, facts):
            if ours:
                by = next(e.processor for e in decisions.edits if e.action == "set_cache_breakpoint")
                refused.append(Refusal(by, "set_cache_breakpoint", position, None, "", "breakpoints", "over the limit"))
                if fold.history.messages[position].marks:
                    overlay.marks[position] = False
                else:
                    overlay.marks.pop(position)
            else:
                overlay.marks[position] = False
                repairs.append(Repair("marks", position, "more cache breakpoints than the provider takes"))
        return refused, repairs

    def _warn(self, view: SentView) -> None:
        for failure in view.failures:
            told = f"{failure.processor} raised {failure.error}; its new edits are left out of the request"
            if told not in self._warned:
                self._warned.add(told)
                warnings.warn(told, ElisionWarning, stacklevel=3)


def _patched(reader: Dialect, history: History, overlay: Overlay, position: int, mark: bool | None) -> Any:
    message = history.messages[position]
    added: frozenset[str] = frozenset()
    for index in range(len(message.parts)):
        added |= overlay.tags_of((position, index), message)
    tags = added if added != message.tags else None
    return reader.patch(message, Patch(overlay.changes(position), mark, tags))


def _size(raw: Any) -> int:
    content = raw.get("content") if isinstance(raw, dict) else getattr(raw, "content", None)
    return len(content) if isinstance(content, str | list) else -1
