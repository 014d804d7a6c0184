"""The fold: decisions(t) = fold(step t, decisions(t-1)).

Each segment (a complete step, or one message outside steps) enters once, through all processors in the order of the
chain.  So a session and a fresh process that sees the whole history at once come to the same decisions.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from elision.again import ask_again
from elision.anew import elided, made_anew
from elision.batch import Candidate
from elision.binding import Binding
from elision.cache.cuts import UNCUT, Cut, Cuts
from elision.circumstances import UNTIMED, Circumstances, Times
from elision.edits import Edit, Tag, length
from elision.handover import handed_over
from elision.held import HeldEdits
from elision.history import History, Segment
from elision.hostside import HostSide
from elision.message import Address
from elision.moment import Memory, Moment, Request, whole
from elision.needle import strings_of
from elision.originals import Originals
from elision.outgoing import Outgoing
from elision.overlay import Overlay, Version, content_at
from elision.pairing import windows_of
from elision.parameters import FIRST_STANDS, drop_block, joined, with_headers
from elision.processor import Processor, Stage
from elision.question import Decisions, Question
from elision.report import Failure
from elision.schedule import Schedule
from elision.scheduler import Scheduler
from elision.sizes import RequestSize
from elision.standing import Standing
from elision.view import View
from elision.ways_back import WaysBack

if TYPE_CHECKING:
    from elision.classification import Table


MOST_OWED = 20
"""Most edits that are proposed again at once while the archive fails: a run must go on at its pace."""


class Fold:
    """Decisions over one growing history."""

    def __init__(
        self,
        processors: Sequence[Processor],
        history: History,
        *,
        on_error: str,
        table: Table | None,
        originals: Originals,
        schedule: Schedule,
    ) -> None:
        self.processors = processors
        self.history = history
        self.on_error = on_error
        self.originals = originals
        self.standing = Standing(history, table, frozenset(filter(None, (each.files_in for each in processors))))
        self.overlay = Overlay()
        self.decisions = Decisions()
        self.cuts = Cuts()
        self.binding = Binding(history, self.overlay)
        self._held = HeldEdits()
        self.scheduler = Scheduler(processors, schedule, history, self.overlay)
        self.circumstances = Circumstances(history, originals.ledger)
        self._stages = [processor.runs_at for processor in processors]
        in_turn = ((at, stage) for at, stage in enumerate(self._stages) if not processors[at].at_breaks)
        waits = self.scheduler.schedules
        self._in_turn = [(at, stage, waits(at)) for at, stage in in_turn if stage != "request"]
        self._memories = [Memory(scheduler=self.scheduler) for _ in processors]
        self.ways_back = WaysBack(history, self.overlay, self._memories, self._stands_anew)
        self._looks_up = self.scheduler.weighs_at_once
        self._owner = ""
        self._done = self._steps = self._observations = 0

    def advance(self, request: Request, times: Times = UNTIMED) -> None:
        """Take in the segments that have become complete."""
        self.originals.begin()
        self._propose_again(request)
        fresh = self.history.segments[self._done : self.history.ready()]
        told = times.given or request.tools is not None or request.model is not None
        self._looks_up = self._looks_up or self.scheduler.weighs or told
        if self._looks_up:
            trouble = self.circumstances.begin(request, fresh, times)
            self.originals.trouble = self.originals.trouble or trouble
        for segment in fresh:
            asked = self._asked(segment, request)
            self._heed_owner(asked)
            self.ways_back.choose(asked, self.standing.table)
            self._enter(segment, asked)
            self._done += 1
        self._heed_owner(request)
        self.ways_back.choose(request, self.standing.table)

    def _asked(self, segment: Segment, request: Request) -> Request:
        """Return the request as it was when a segment came in, and have the schedules go by what held then."""
        if not self._looks_up:
            return request
        fact = self.circumstances.at(segment)
        self.scheduler.stand(fact, self.circumstances.settled(segment))
        asked = self.circumstances.asked(fact, request)
        return asked if asked is request else handed_over(asked, self.processors, self.standing.table)[0]

    def for_request(self, sent: Outgoing, request: Request) -> Decisions:
        """Ask the ``request`` processors; what they decide is good for this request only.

        So is what the ``entry`` processors make of a last step that still waits for results: it enters for good when
        it is complete.
        """
        decisions, history = Decisions(), sent.history
        standing = sent.mended.standing(self.standing, request) if sent.mended else self.standing
        moment = whole(history)
        host = HostSide(sent.dialect, history, sent.rendered)
        waiting = self._done < len(self.history.segments) and self.history.goes_out(self.history.steps[-1])
        newest = history.segments[-1] if waiting else None
        binding = Binding(history, sent.overlay, self.binding.told) if sent.mended else self.binding
        binding.look(newest.start if newest else len(history), len(history), request)
        cut = sent.placed(Cut(changed_to=self.cuts.cut.changed_to) if waiting else self.cuts.cut)
        questions: list[tuple[Stage, tuple[int, int]]] = [("request", (0, len(history)))]
        if newest is not None:
            questions.insert(0, ("entry", (newest.start, newest.stop)))
        for stage, window in questions:
            for index, processor in enumerate(self.processors):
                if self._stages[index] == stage:
                    view = View(
                        history,
                        sent.overlay,
                        moment,
                        stage=None,
                        window=window,
                        request=request,
                        host=host,
                        standing=standing,
                        originals=self.originals,
                        cut=cut,
                        binding=binding,
                        size=RequestSize(self.scheduler.sizes, sent, request) if processor.weighs else None,
                    )
                    ask_again(Question(processor, index, stage, view, decisions, on_error=self.on_error))
        return decisions

    def params(self, request: Request) -> dict[str, Any]:
        """Return what processors want sent beside the messages of this request."""
        moment = whole(self.history)
        asked: list[tuple[str, Mapping[str, Any]]] = []
        if self.binding.bound and self.binding.told.broken:
            asked.append(("on_bound_thinking", drop_block(request.given)))
        for index, processor in enumerate(self.processors):
            if type(processor).params is not Processor.params:
                view = self._view(moment, index, (0, moment.stop), Memory(), request)
                asked.append((processor.type_name, self._question(index, view).params()))
        found, wrong = joined(asked)
        self.decisions.failures |= {("params", told): Failure("params", told, FIRST_STANDS) for told in wrong}
        return with_headers(found, request.given)

    def _propose_again(self, request: Request) -> None:
        """Propose what was taken back when the archive failed, in the same order."""
        originals = self.originals
        if not originals.owed:
            originals.again = len(originals.taken)
            return
        most = MOST_OWED if originals.failing else len(originals.owed)
        owed, originals.owed = originals.owed[:most], originals.owed[most:]
        moment = self._moment_now()
        ready = self.history.ready()
        self.binding.look(moment.stop, self.history.segments[ready - 1].stop if ready else 0, request)
        for index, edit in owed:
            self._decide(self._question_now(index, moment, request), [edit], request)
        originals.again = len(originals.taken)

    def _moment_now(self) -> Moment:
        return Moment(self._reached(), self._steps, self._observations, self._observations)

    def _reached(self) -> int:
        return self.history.segments[self._done - 1].stop if self._done else 0

    def settle(self) -> bool:
        """Archive what has been taken, and let it stand; ``False`` where it had to be taken back."""
        stored = self.originals.put()
        if not stored:
            self.binding.again()
            self.scheduler.sizes.again()
        return stored

    def _heed_owner(self, request: Request) -> None:
        """Offer again what was refused because the provider managed the context, once it no longer does."""
        before, self._owner = self._owner, request.owner
        if before == "provider" and request.owner != before:
            for memory in self._memories:
                memory.deferred.update(memory.waiting)
                memory.waiting.clear()

    def _stands_anew(self, address: Address, version: Version, request: Request) -> None:
        """Make a placeholder anew, as things are now."""
        assert version.template is not None  # noqa: S101 (asked of placeholders only)
        view = self._view(self._moment_now(), version.stage - 1, (0, self._reached()), Memory(), request)
        content = elided(view.part(address), version.template)
        found = content_at(self.history, self.overlay, address, view.stage)
        if length(content) <= length(found) and content != version.content:
            self.overlay.versions[address][-1] = version._replace(content=content)
            before = frozenset(strings_of(found))
            self.originals.texts += [text for text in strings_of(content) if text not in before]
            self.decisions.touched.add(address.position)

    def _view(
        self,
        moment: Moment,
        stage: int,
        window: tuple[int, int],
        memory: Memory,
        request: Request,
        *,
        waits: bool = False,
    ) -> View:
        return View(
            self.history,
            self.overlay,
            moment,
            stage=stage,
            window=window,
            memory=memory,
            request=request,
            standing=self.standing,
            originals=self.originals,
            waits=waits,
            cut=UNCUT,
            binding=self.binding,
        )

    def _enter(self, segment: Segment, request: Request) -> None:
        moment, decided = self._moment(segment), len(self.decisions.edits)
        self.binding.enter(segment, moment.steps, request)
        if segment.step is not None:
            self.cuts.enter(segment.start)
        self.ways_back.enter(moment)
        dirty: dict[int, None] = {}
        if self.binding.closed:
            self._make_held(moment, request)
        for index, stage, waits in self._in_turn:
            fresh = (segment.start, segment.stop)
            windows = [fresh, *windows_of(self.history, dirty, segment)] if stage == "entry" else [(0, segment.stop)]
            for window in windows:
                view = self._view(moment, index, window, self._memories[index], request, waits=waits)
                question = self._question(index, view)
                if waits:
                    self._let_wait(question, request)
                    continue
                changed = question.ask()
                self._note_changes(index, changed, request)
                self._held.keep(question)
                dirty.update(dict.fromkeys(question.stale))
        due = self.scheduler.due(segment, request, self.binding)
        for each in due:
            self._make(each, moment, request)
        if self._looks_up:
            self._record(segment, cleared=self.scheduler.acted() or bool(due))
        self._tell_of_held_back(moment, request)
        if len(self.decisions.edits) > decided:
            self.cuts.note(self.decisions.edits[decided:], self.history, self.overlay)
            if (broken_at := self.cuts.cut.broken_at) is not None:
                self._ask_at_break(moment, request, broken_at)

    def _ask_at_break(self, moment: Moment, request: Request, broken_at: int) -> None:
        """Ask the processors that change nothing but when the cached prefix is rewritten in any case."""
        for index, processor in enumerate(self.processors):
            if processor.at_breaks:
                self._memories[index].broken_at = broken_at
                self._note_changes(index, self._question_now(index, moment, request).ask(), request)

    def _record(self, segment: Segment, *, cleared: bool) -> None:
        """Put into the ledger what could not be told from the view, or from the history by those who come later."""
        facts, scheduler = self.circumstances, self.scheduler
        if cleared and scheduler.weighed:
            facts.cleared()
        if facts.changed_at(segment) or (cleared and (facts.changed or scheduler.restarted)):
            facts.settle(segment, self.overlay, scheduler.left())

    def _let_wait(self, question: Question, request: Request) -> None:
        """Let what a processor proposes wait; tags are made at once: they change nothing that is cached."""
        for edit in question.propose():
            tokens = self.scheduler.saved(edit, question.index, request.model)
            if isinstance(edit, Tag):
                question.decide(edit)
            elif not self.scheduler.weighs or not question.gains_nothing(edit, tokens):
                self.scheduler.add(question.index, edit, tokens)

    def _question(self, index: int, view: View) -> Question:
        return Question(
            self.processors[index], index, self._stages[index], view, self.decisions, on_error=self.on_error
        )

    def _question_now(self, index: int, moment: Moment, request: Request) -> Question:
        return self._question(index, self._view(moment, index, (0, moment.stop), self._memories[index], request))

    def _decide(self, question: Question, edits: Iterable[Edit], request: Request) -> None:
        for edit in edits:
            self._note_changes(question.index, question.decide(edit), request)
        self._held.keep(question)

    def _make_held(self, moment: Moment, request: Request) -> None:
        """Make what waited for the end of the turn, unless what it was made from has changed."""
        for index, edit, found in self._held.taken():
            question = self._question_now(index, moment, request)
            if question.found(edit) == found:
                self._decide(question, [made_anew(edit, question.view)], request)

    def _tell_of_held_back(self, moment: Moment, request: Request) -> None:
        back, self.scheduler.held_back = self.scheduler.held_back, []
        if not back:
            return
        for index in dict.fromkeys(each.stage for each in back):
            question = self._question_now(index, moment, request)
            question.hold_back(each.edit for each in back if each.stage == index)

    def _make(self, due: Sequence[Candidate], moment: Moment, request: Request) -> None:
        """Make those edits that processors choose of what is due; placeholders are made anew, as the tools are now."""
        for index in dict.fromkeys(each.stage for each in due):
            question = self._question_now(index, moment, request)
            chosen, left = question.choose([each for each in due if each.stage == index])
            self._decide(question, (made_anew(each.edit, question.view) for each in chosen), request)
            self.scheduler.wait_on(left)

    def _note_changes(self, index: int, positions: Sequence[int], request: Request) -> None:
        """Let a processor, and those after it, know which messages it has changed."""
        self.scheduler.changed(positions, request.model)
        self._memories[index].own.extend(positions)
        self.ways_back.note(positions)
        for later in self._memories[index + 1 :]:
            later.changed.extend(positions)

    def _moment(self, segment: Segment) -> Moment:
        earlier, observations, steps = self._observations, self.history.observations, self.history.steps
        while self._observations < len(observations) and (
            observations[self._observations].address.position < segment.stop
        ):
            self._observations += 1
        while self._steps < len(steps) and steps[self._steps].start < segment.stop:
            self._steps += 1
        return Moment(segment.stop, self._steps, self._observations, earlier)
