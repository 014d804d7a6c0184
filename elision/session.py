"""A session: the fold kept from one request to the next, so that each message is looked at once."""

from __future__ import annotations

import math
import sys
import threading
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

from elision.applied import ProviderEdit, provider_edits
from elision.binding import BOUND
from elision.cache.run import Outcome, Requests
from elision.cache.tools import StableTools
from elision.circumstances import Times
from elision.dialect import Dialect, by_name, detect, named
from elision.errors import ElisionError, InputError, OverBudgetError
from elision.fold import Fold
from elision.handover import can_hand_over, handed_over
from elision.history import History
from elision.incoming import incoming
from elision.kept import Kept
from elision.mending import Mending
from elision.moment import Request, whole
from elision.originals import Originals
from elision.orphans import Orphans
from elision.outgoing import Outgoing, finished, outgoing, patched
from elision.overlay import Overlay
from elision.own_values import own_profile
from elision.question import Decisions
from elision.recognition import Known
from elision.redaction import strictest
from elision.registry import plugins
from elision.report import Failure, Pending, SentView, in_shadow
from elision.shadow import is_switched_on
from elision.sizes import RequestSize
from elision.standing import UNKNOWN, Standing
from elision.summaries.background import Background

if TYPE_CHECKING:
    from elision.chain import Chain
    from elision.ledger import Ledger
    from elision.tokens import Calibration
    from elision.transport.usage import Usage


_WAYS_OUT = (
    "write on_bound_thinking: request_drop_block in the chain and send view.params with each request, or "
    "on_bound_thinking: drop_thinking"
)


class ElisionWarning(UserWarning):
    """Something was left out of a request's processing; the request itself goes out."""


class Session:
    """One run of an agent.  ``process`` is called with the whole history, which grows from call to call.

    A host that rewrites or branches its history is noticed, and the decisions are folded anew.  A message is recognised
    by identity (or equality) of the message and of its content, and by the length of content that is a list.
    ``lives`` says that later requests may take in what one has begun, such as a summary in the background.
    """

    def __init__(self, chain: Chain, id: str = "", *, lives: bool = True) -> None:  # noqa: A002 (the field's word)
        self.chain = chain
        self.id = id
        self._one_at_a_time = threading.RLock()
        self._dialect: Dialect | None = None
        self._settled = False
        self._keys: set[Any] = set()
        self._known = Known()
        self._rendered: list[Any] = []
        self._fold: Fold | None = None
        self._mending, self._orphans = Mending(History(), Overlay()), Orphans(History())
        self._originals = Originals(chain.opened_archive, id, Background(lives))
        self._warned: set[str] = set()
        self._asked_at: float | None = None
        self._refusals = 0
        self._native: list[ProviderEdit] = []
        self._view_policy = strictest(processor.view_policy for processor in chain.processors)
        self._hands_over = any(map(can_hand_over, chain.processors))
        self._requests = Requests()
        self._stable_tools = StableTools()
        self.sets_params = False
        """Whether whoever asks sends what a view has in ``params``; set by what does so."""
        self.decided: Callable[[Session, Fold], object] | None = None
        """Called with the decisions of a request before it is made of them; set by what sends it."""
        self.usage: list[Usage] = self._originals.background.used
        """What providers have reported of each answered request."""
        self.calibrations: dict[str | None, Calibration] = {}
        """What each model's provider counts over what we count; for requests to come only."""
        self.view: SentView | None = None
        """The view of the last request, whoever asked for it (``elision.completion``, too)."""
        self.outgoing: Outgoing | None = None
        """What the last request was made of."""
        self.size: RequestSize | None = None
        """How long the last request was."""

    @property
    def fold(self) -> Fold | None:
        """The decisions so far."""
        return self._fold

    @property
    def ledger(self) -> Ledger:
        """What is recorded of this run."""
        return self._originals.ledger

    def keep(self) -> None:
        """Write down what has been recorded since the last request."""
        self._originals.put()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self._forget()
        self._originals.background.end()

    def process(
        self,
        messages: Sequence[Any] | Mapping[str, Any],
        *,
        system: Any = None,
        tools: Any = None,
        model: str | None = None,
        dialect: str | None = None,
        now: float | None = None,
    ) -> SentView:
        """Return the view of this request: the chain's edits on the history, in the host's own dialect.

        ``messages`` is the list of messages, or a whole request: ``messages`` (or ``input``, ``contents``) and what
        stands beside them, ``system``, ``tools``, ``model``.  ``now`` is the time of the request in seconds since the
        epoch (by default the clock's): a cache that has not been read for too long is cold, and clearing is free then.
        The host's objects are never changed.  Threads that share a session wait for one another.
        """
        with self._one_at_a_time, own_profile(self.chain.own_profile):
            given, facts = incoming(
                messages, self.chain, system=system, tools=tools, model=model, sets_params=self.sets_params
            )
            try:
                return self._process(given, facts, dialect, self._times(now))
            except ElisionError:
                raise
            except BaseException:
                # What was interrupted is half done; the next request is decided from the beginning.
                self._forget()
                raise

    def _process(self, given: list[Any], facts: Request, dialect: str | None, times: Times) -> SentView:
        reader = self._reader(given, dialect, {"system": facts.system, "tools": facts.tools})
        may = facts.owner != "provider" and self.chain.owner != "elision"
        facts = replace(facts, dialect=reader.name, may_hand_over=may, own=self.chain.own_profile)
        problems: list[str] = []
        if self._hands_over:
            facts, problems = handed_over(facts, self.chain.processors, self.chain.table)
        fold = self._decided(given, reader, facts, times)
        self._render(reader, fold)
        if self.decided is not None:
            self.decided(self, fold)
        known = self.calibrations.get(facts.model)
        facts = replace(facts, count_factor=known.factor) if known else facts
        sent, decisions = self._sent(reader, fold, facts)
        if not fold.settle():
            # Asked again, with an archive that takes nothing.
            sent, decisions = self._sent(reader, fold, facts)
            fold.settle()
        problems += self._refuse_to_break(fold, facts)
        self.outgoing, self.size = sent, RequestSize(fold.scheduler.sizes, sent, facts)
        view = self._view(fold, sent, decisions, facts, problems)
        self._warn(view, fold.standing)
        self.view = in_shadow(view, facts.tools) if self._originals.shadow else view
        return self.view

    def _decided(self, given: list[Any], reader: Dialect, facts: Request, times: Times) -> Fold:
        """Return the fold with what is new in it; made anew where another process has decided meanwhile."""
        before, fold = self._fold, self._follow(given, reader)
        shadow = not is_switched_on(self.chain.live_share, self.id, fold.history)
        if shadow is not self._originals.shadow and fold is before:
            # What was decided for a shadow has written no files.
            self._forget()
            fold = self._follow(given, reader)
        self._originals.shadow = shadow
        if fold is not before and self._hands_over:
            self._native = [*fold.circumstances.applied(segment.stop for segment in fold.history.segments)]
        fold.advance(facts, times)
        fold.settle()
        if self._originals.ledger.overruled:
            self._forget()
            fold = self._follow(given, reader)
            fold.advance(facts, times)
            fold.settle()
        return fold

    def _times(self, now: float | None) -> Times:
        if now is not None and (isinstance(now, bool) or not isinstance(now, int | float) or not math.isfinite(now)):
            raise InputError(f"now: {now!r:.80} is no time; give seconds since the epoch, such as time.time()")
        last, self._asked_at = self._asked_at, time.time() if now is None else now
        return Times(self._asked_at, last, now is not None)

    def record(self, response: Any) -> tuple[ProviderEdit, ...]:
        """Take in the provider's response (a mapping, or its SDK's object), and return what it did with the context.

        It goes into the ledger, so ``view.native`` has it in later requests of this run, whatever process makes them.
        """
        found = provider_edits(response)
        if found and self._fold is not None:
            self._fold.circumstances.note_applied(len(self._fold.history), found)
            self._originals.put()
        self._native.extend(found)
        return found

    def _refuse_to_break(self, fold: Fold, facts: Request) -> list[str]:
        """Raise where the chain says that an edit before bound thinking is an error; all that was decided stands.

        In shadow mode return what would be raised.
        """
        error = fold.binding.told.error
        if not (error and fold.binding.bound and facts.on_bound_thinking == "error"):
            return []
        told = f"on_bound_thinking: {error}; {_WAYS_OUT}"
        if not self._originals.shadow:
            raise ElisionError(told)
        return [told]

    def _sent(self, reader: Dialect, fold: Fold, facts: Request) -> tuple[Outgoing, Decisions]:
        refs = self._orphans.kept(self._originals, self._view_policy)
        sent = outgoing(reader, self._mending, self._rendered, refs=refs)
        try:
            return sent, fold.for_request(sent, facts)
        except OverBudgetError as error:
            fold.settle()
            if not self._originals.shadow:
                raise
            failed = Failure("budget", str(error), "the original is sent; live, this is an error")
            sent = outgoing(reader, self._mending, self._rendered, refs=refs)
            return sent, Decisions(failures={("budget", failed.error): failed})

    def _reader(self, messages: Sequence[Any], name: str | None, beside: Mapping[str, Any]) -> Dialect:
        """Return the dialect: looked for anew until its own marks are seen, and when messages have new keys."""
        fresh = messages[len(self._known.raws) :]
        keys = {key for message in fresh if isinstance(message, dict | Mapping) for key in message} - self._keys
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
            self._mending = Mending(self._fold.history, self._fold.overlay)
            self._orphans = Orphans(self._fold.history)
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
        rendered = [
            new if sent is old else sent for new, old, sent in zip(present, before, self._rendered, strict=True)
        ]
        self._mending.renew(self._rendered, rendered)
        self._rendered = rendered
        self._known.replace(present)

    def _forget(self) -> None:
        self._known, self._rendered, self._fold = Known(), [], None

    def _render(self, reader: Dialect, fold: Fold) -> None:
        for position in fold.decisions.touched:
            self._rendered[position] = patched(reader, fold.history, fold.overlay, position)
        self._requests.touch(fold.decisions.touched)
        self._mending.touch(fold.decisions.touched)
        fold.decisions.touched.clear()

    def _view(
        self, fold: Fold, sent: Outgoing, decisions: Decisions, facts: Request, problems: Sequence[str]
    ) -> SentView:
        messages, refused, repairs = finished(sent, decisions, facts)
        params, history = fold.params(facts), tuple(self._known.raws)
        trouble = self._originals.trouble
        failures = [*fold.decisions.failures.values(), *decisions.failures.values()]
        if trouble:
            failures.append(Failure("archive", trouble, "what it cannot keep stays in the request"))
        failures += [Failure("files", why, "the result stays in the request") for why in self._originals.not_written]
        return SentView(
            messages=messages,
            dialect=sent.dialect.name,
            edits=(*fold.decisions.edits, *decisions.edits),
            refusals=(*fold.decisions.refusals.values(), *decisions.refusals.values(), *refused),
            failures=tuple(failures),
            repairs=tuple(repairs),
            pending=tuple(Pending(step.index, call.id, call.name) for step, _, call in fold.history.unanswered()),
            history=history,
            model=facts.model,
            params=params,
            owner=facts.owner,
            problems=tuple(problems),
            native=tuple(self._native),
            waiting=fold.scheduler.waiting(),
            by_window=self.chain.by_window,
            unreachable=fold.ways_back.unreachable_calls(),
            kept=Kept(fold.history, fold.standing, fold.overlay, whole(fold.history), facts),
            tools=self._stable_tools(facts.tools),
            sent=self._requests.note(Outcome(fold, sent, decisions, messages, history, facts, self._asked_at)),
        )

    def _warn(self, view: SentView, standing: Standing) -> None:
        """Say once what the host should know; a change of a skill as far as the table has been asked."""
        told = {failure.told: failure.told for failure in view.failures}
        told |= {problem: problem for problem in view.problems}
        told |= {change.told: change.told for change in standing.skill_changes}
        if self._fold is not None and self._fold.binding.told.deferred:
            told[BOUND] = (
                f"nothing is removed from before the thinking of {view.model!r:.80}, which is bound to all that stands "
                f"before it: a request in which that has changed is an error there; {_WAYS_OUT}"
            )
        # Asked again when there are twice as many refusals: a run costs time linear in its length.
        if UNKNOWN not in self._warned and len(view.refusals) >= 2 * self._refusals:
            self._refusals = len(view.refusals)
            if view.held_up_by_unknown:
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
