"""A session: the fold kept from one request to the next, so that each message is looked at once."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self

from elision.dialect import Dialect, by_name, detect, named
from elision.fold import Fold
from elision.history import History
from elision.incoming import incoming
from elision.kept import Kept
from elision.moment import Request, whole
from elision.originals import Originals
from elision.outgoing import Outgoing, finished, outgoing, patched
from elision.question import Decisions
from elision.recognition import Known
from elision.registry import plugins
from elision.report import Failure, Pending, SentView
from elision.standing import UNKNOWN, Standing

if TYPE_CHECKING:
    from elision.chain import Chain


class ElisionWarning(UserWarning):
    """Something was left out of a request's processing; the request itself goes out."""


class Session:
    """One run of an agent.  ``process`` is called with the whole history, which grows from call to call.

    A host that rewrites or branches its history is noticed, and the decisions are folded anew.  A message is recognised
    by identity (or equality) of the message and of its content, and by the length of content that is a list.
    """

    def __init__(self, chain: Chain, id: str = "") -> None:  # noqa: A002 (the field's word)
        self.chain = chain
        self.id = id
        self._dialect: Dialect | None = None
        self._settled = False
        self._keys: set[Any] = set()
        self._known = Known()
        self._rendered: list[Any] = []
        self._fold: Fold | None = None
        self._originals = Originals(chain.opened_archive, id)
        self._warned: set[str] = set()
        self.outgoing: Outgoing | None = None
        """What the last request was made of."""

    @property
    def fold(self) -> Fold | None:
        """The decisions so far."""
        return self._fold

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self._forget()

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

        ``messages`` is the list of messages, or a whole request: ``messages`` (or ``input``, ``contents``) and what
        stands beside them, ``system``, ``tools``, ``model``.
        The host's objects are never changed.
        """
        given, facts = incoming(messages, self.chain, system=system, tools=tools, model=model)
        reader = self._reader(given, dialect, {"system": facts.system, "tools": facts.tools})
        fold = self._follow(given, reader)
        fold.advance(facts)
        fold.settle()
        self._render(reader, fold)
        sent, decisions = self._sent(reader, fold, facts)
        if not fold.settle():
            # Asked again, with an archive that takes nothing.
            sent, decisions = self._sent(reader, fold, facts)
            fold.settle()
        self.outgoing = sent
        view = self._view(fold, sent, decisions, facts)
        self._warn(view, fold.standing)
        return view

    def _sent(self, reader: Dialect, fold: Fold, facts: Request) -> tuple[Outgoing, Decisions]:
        sent = outgoing(reader, fold.history, fold.overlay, self._rendered)
        return sent, fold.for_request(sent, facts)

    def _reader(self, messages: Sequence[Any], name: str | None, beside: Mapping[str, Any]) -> Dialect:
        """Return the dialect: looked for anew until its own marks are seen, and when messages have new keys."""
        fresh = messages[len(self._known.raws) :]
        keys = {key for message in fresh if isinstance(message, Mapping) for key in message} - self._keys
        wanted = name or (None if self.chain.dialect == "auto" else self.chain.dialect)
        if self._dialect is not None and self._settled and (wanted or not keys):
            return self._dialect
        self._keys |= keys
        known = plugins().dialects()
        if not messages:
            return by_name(known, wanted) if wanted else known[0]
        request = {key: value for key, value in beside.items() if value is not None}
        found = named(known, wanted, messages, request) if wanted else detect(known, messages, request)
        if found is not self._dialect:
            self._fold = None
        self._dialect, self._settled = found, found.recognises(messages, None) > 1
        return found

    def _follow(self, messages: list[Any], reader: Dialect) -> Fold:
        """Recognise the messages that are known, parse the new ones; start anew where the host rewrote its history."""
        likeness = self._known.compare(messages)
        if self._fold is None or likeness == "other":
            self._forget()
            self._fold = self._new_fold(History(reader.wire))
        elif likeness == "equal":
            self._take_present_objects(messages)
        history, fresh = self._fold.history, messages[len(self._known.raws) :]
        for raw in fresh:
            history.append(reader.parse(raw, history))
        self._rendered += fresh
        self._known.extend(fresh)
        return self._fold

    def _new_fold(self, history: History) -> Fold:
        chain = self.chain
        # What was owed was proposed for another history.
        self._originals.owed.clear()
        return Fold(
            chain.processors,
            history,
            on_error=chain.on_error,
            table=chain.table,
            originals=self._originals,
            schedule=chain.schedule,
        )

    def _take_present_objects(self, messages: list[Any]) -> None:
        """What is untouched is sent as the host's present object, not as an equal one that it had before."""
        before, present = self._known.raws, messages[: len(self._known.raws)]
        self._rendered = [
            new if rendered is old else rendered
            for new, old, rendered in zip(present, before, self._rendered, strict=True)
        ]
        self._known.replace(present)

    def _forget(self) -> None:
        self._known, self._rendered, self._fold = Known(), [], None

    def _render(self, reader: Dialect, fold: Fold) -> None:
        for position in fold.decisions.touched:
            self._rendered[position] = patched(reader, fold.history, fold.overlay, position)
        fold.decisions.touched.clear()

    def _view(self, fold: Fold, sent: Outgoing, decisions: Decisions, facts: Request) -> SentView:
        messages, refused, repairs = finished(sent, decisions, facts)
        trouble = self._originals.trouble
        failures = [*fold.decisions.failures.values(), *decisions.failures.values()]
        if trouble:
            failures.append(Failure("archive", trouble, "what it cannot keep stays in the request"))
        return SentView(
            messages=messages,
            dialect=sent.dialect.name,
            edits=(*fold.decisions.edits, *decisions.edits),
            refusals=(*fold.decisions.refusals.values(), *decisions.refusals.values(), *refused),
            failures=tuple(failures),
            repairs=tuple(repairs),
            pending=tuple(Pending(step.index, call.id, call.name) for step, _, call in fold.history.unanswered()),
            history=tuple(self._known.raws),
            model=facts.model,
            unreachable=fold.unreachable_calls(),
            kept=Kept(fold.history, fold.standing, fold.overlay, whole(fold.history), facts),
        )

    def _warn(self, view: SentView, standing: Standing) -> None:
        """Say once what the host should know; a change of a skill as far as the table has been asked."""
        told = {failure.told: failure.told for failure in view.failures}
        told |= {change.told: change.told for change in standing.skill_changes}
        if UNKNOWN not in self._warned and view.held_up_by_unknown:
            told[UNKNOWN] = view.note
        for key, line in told.items():
            if key not in self._warned:
                self._warned.add(key)
                warnings.warn(line, ElisionWarning, stacklevel=_outside())


def _outside() -> int:
    """Return the stack level, for a warning by the caller, of the first frame that is not Elision's."""
    frame, level = sys._getframe(1), 1  # noqa: SLF001 (warnings has skip_file_prefixes from 3.12 on)
    while frame.f_back is not None and str(frame.f_globals.get("__name__", "")).startswith("elision."):
        frame, level = frame.f_back, level + 1
    return level
