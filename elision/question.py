"""Asking one processor: its edits are judged by the guard one by one, and taken in or refused."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from typing import TYPE_CHECKING, Any

from elision.compat import SWEAGENT, SWEAGENT_TYPES
from elision.edits import (
    SHRINKING,
    CacheBreakpoint,
    Drop,
    Edit,
    Insert,
    Pointer,
    Replace,
    Tag,
)
from elision.errors import ArchiveError, OverBudgetError, ProcessorError
from elision.guard import (
    ARCHIVED_FIRST,
    BOUND_THINKING,
    NEVER_GROWS,
    Case,
    Rule,
    Why,
    bound_to,
    first_refusal,
    redacts,
    results_of,
)
from elision.message import Piece, plain
from elision.needle import strings_of
from elision.originals import Owed, Taken
from elision.overlay import content_at
from elision.processor import Processor, Stage
from elision.proposed import action_of, applied_edit, checked, classes_of, new_call, place_in
from elision.registry import plugins
from elision.report import AppliedEdit, Failure, Place, Refusal
from elision.view import View

if TYPE_CHECKING:
    from elision.archive import Entry
    from elision.batch import Candidate
    from elision.offloading import OffloadedFile
    from elision.redaction import Policy


@dataclass(slots=True)
class Decisions:
    """What has been decided, as it is reported; each entry once."""

    edits: list[AppliedEdit] = field(default_factory=list)
    refusals: dict[Place, Refusal] = field(default_factory=dict)
    failures: dict[tuple[str, str], Failure] = field(default_factory=dict)
    touched: set[int] = field(default_factory=set)


@dataclass(slots=True)
class Question:
    """One processor asked once: its edits, judged one by one."""

    processor: Processor
    index: int
    stage: Stage
    view: View
    decisions: Decisions
    on_error: str
    stale: list[int] = field(default_factory=list)
    held: list[Edit] = field(default_factory=list)
    """What was refused until the turn is over."""
    policy: Policy = field(init=False)

    def __post_init__(self) -> None:
        self.policy = self.processor.view_policy
        self.view.why_refused = self._why_refused

    def ask(self) -> list[int]:
        """Ask for edits and take in those that the guard lets pass; return the positions whose content changed."""
        return [position for edit in self.asked() for position in self.decide(edit)]

    def propose(self) -> list[Edit]:
        """Ask for edits that are to wait, and return those that the guard would let pass now."""
        return [edit for edit in self.asked() if not self._changes_nothing(edit) and self._passes(edit)]

    def choose(self, waiting: Sequence[Candidate]) -> tuple[list[Candidate], list[Candidate]]:
        """Ask which of the edits that are due are made now, and which wait on: all, where the processor raises."""
        try:
            chosen = {id(each) for each in self.processor.chosen(waiting, self.view)}
        except Exception as error:  # noqa: BLE001 (a plugin may raise anything; the request goes out)
            self._failed(error)
            chosen = set()
        return [each for each in waiting if id(each) in chosen], [each for each in waiting if id(each) not in chosen]

    def params(self) -> Mapping[str, Any]:
        """Ask what is to be sent beside the messages; nothing where the processor raises."""
        try:
            return dict(self.processor.params(self.view))
        except Exception as error:  # noqa: BLE001 (a plugin may raise anything; the request goes out)
            self._failed(error)
            return {}

    def asked(self) -> list[Edit]:
        """Return what the processor proposes."""
        memory = self.view.memory
        bookmark = memory.bookmark()
        try:
            if self.stage == "history" and not self.processor.fires(self.view.moment):
                return []
            self.view.wake()
            bookmark = memory.bookmark()
            edits = checked(self.processor.plan(self.view))
        except OverBudgetError:
            raise
        except Exception as error:  # noqa: BLE001 (a plugin may raise anything; the request goes out)
            self._failed(error)
            memory.rewind(bookmark)
            return self._withholding() if self.processor.operation == "redact" else []
        return edits

    def decide(self, edit: Edit) -> Sequence[int]:
        """Take in an edit, or refuse it; return the positions whose content changed."""
        if self._changes_nothing(edit) or not self._passes(edit):
            return ()
        binding = self.view.binding
        breaks = binding.would_break(edit, self.stage)
        behind = binding.behind(edit) if breaks and binding.closed else []
        changed = [*self._apply(edit, breaks=breaks and binding.policy == "request_drop_block")]
        for address in behind:
            changed += self._apply(Replace(address, (), reason="bound to what stood before it"), follows=True)
        return changed

    def make_again(self, edit: Edit, applied: AppliedEdit) -> None:
        """Make an edit that was judged and archived for the request before."""
        self.view.overlay.apply(edit, self.index)
        self.decisions.edits.append(applied)
        if isinstance(edit, Replace):
            self.decisions.touched.add(edit.address.position)

    def found(self, edit: Edit) -> tuple[Piece, ...]:
        """Return the content that an edit would replace, as it stands."""
        if not isinstance(edit, Replace) or edit.template is not None:
            return ()
        return content_at(self.view.history, self.view.overlay, edit.address, self.view.stage)

    def place_of(self, edit: Edit) -> tuple[int, int, str]:
        """Return where an edit is made, and how, in the order of the history."""
        position, part, *_ = place_in(self.view.history, edit)
        return position, -1 if part is None else part, edit.text if isinstance(edit, Insert) else action_of(edit)

    def hold_back(self, edits: Iterable[Edit]) -> None:
        """Note that edits wait until no bound thinking stands behind them."""
        for edit in edits:
            self._refuse(edit, BOUND_THINKING, bound_to(self.view.binding))
            self.view.binding.told.deferred = True

    def gains_nothing(self, edit: Edit, tokens: int) -> bool:
        """Whether an edit is refused because it shrinks and would save no tokens; so many it would."""
        if not isinstance(edit, Replace) or self.processor.operation not in SHRINKING or self._sweagent or tokens > 0:
            return False
        self._refuse(
            edit, NEVER_GROWS, f"it would save no tokens, but cost {-tokens}" if tokens else "it saves no tokens"
        )
        return True

    @property
    def _sweagent(self) -> bool:
        """Whether SWE-agent's own bytes are wanted."""
        return self.view.compat == SWEAGENT and type(self.processor) in _sweagents_own()

    def _passes(self, edit: Edit) -> bool:
        """Whether the guard lets an edit pass; a refusal is noted, and offered again where it may pass later."""
        refused = first_refusal(self._case(edit))
        if refused is not None:
            rule, why = refused
            if rule is BOUND_THINKING:
                self._note_bound(edit, why)
            elif why.until != "never":
                self._put_off(edit, rests_on_facts=why.until == "changed")
            self._refuse(edit, rule, why.reason)
        return refused is None

    def _case(self, edit: Edit) -> Case:
        return Case.of(edit, self.processor, self.stage, self.view, sweagent=self._sweagent)

    def _why_refused(self, edit: Edit) -> str:
        refused = first_refusal(self._case(edit))
        return f"{refused[0].name}: {refused[1].reason}" if refused else ""

    def _note_bound(self, edit: Edit, why: Why) -> None:
        told, policy = self.view.binding.told, self.view.binding.policy
        if why.until == "turn":
            self.held.append(edit)
        told.deferred = told.deferred or policy == "defer"
        if policy == "error" and not told.error:
            position, *_ = place_in(self.view.history, edit)
            told.error = f"{self.processor.type_name} would edit message {position}, and {why.reason}"

    def _put_off(self, edit: Edit, *, rests_on_facts: bool) -> None:
        """Have an edit's place offered again: when the facts of its results change, or else soon."""
        memory = self.view.memory
        if isinstance(edit, Drop) and not rests_on_facts:
            memory.steps.deferred[edit.step] = None
        elif isinstance(edit, Replace | Drop):
            again = memory.waiting if rests_on_facts else memory.deferred
            places = [paired.address for paired in results_of(self.view.history, edit)]
            again.update(dict.fromkeys(places or ([edit.address] if isinstance(edit, Replace) else [])))

    def _apply(self, edit: Edit, *, breaks: bool = False, follows: bool = False) -> Sequence[int]:
        """Take in an edit; ``breaks`` says that the provider has to know of it, ``follows`` that another made it."""
        overlay, originals = self.view.overlay, self.view.originals
        applied = applied_edit(edit, self.processor, self.view)
        self.decisions.edits.append(applied)
        if isinstance(edit, Tag | CacheBreakpoint):
            # Nothing is removed: whether the archive takes it does not matter.
            overlay.apply(edit, self.index)
            self._stands(edit, applied, breaks=breaks)
            return ()
        stand = partial(self._stands, edit, applied, breaks=breaks)
        undo, owed = stand, None
        if not redacts(edit, self.processor):
            undo = partial(self._taken_back, edit, applied, overlay.undoing(edit))
            owed = Owed(self.index, edit) if self.view.stage is not None and not follows else None
        file = self._file(edit)
        spoil = partial(self._has_no_file, edit, applied, overlay.undoing(edit)) if file else None
        originals.taken.append(Taken(self._entry(edit, applied), stand, undo, owed, file, spoil))
        if isinstance(edit, Insert):
            originals.texts.append(edit.text)
        elif isinstance(edit, Replace) and edit.elides and (call := new_call(edit)) is not None:
            found = content_at(self.view.history, overlay, edit.address, self.view.stage)
            before = frozenset(strings_of(found))
            originals.texts += [text for text in strings_of(call) if text not in before]
        if overlay.apply(edit, self.index) and isinstance(edit, Replace):
            self.stale.append(edit.address.position)
        if isinstance(edit, Drop):
            step = self.view.history.steps[edit.step]
            return range(step.start, step.stop)
        return [edit.address.position] if isinstance(edit, Replace) else ()

    def _stands(self, edit: Edit, applied: AppliedEdit, *, breaks: bool) -> None:
        self.view.binding.told.broken |= breaks
        if not self.view.originals.shadow:
            self._tell("elision_edit_applied", edit=applied, ref=applied.ref)
        self.decisions.refusals.pop((applied.processor, applied.action, applied.position, applied.part), None)
        if isinstance(edit, Replace | Tag):
            self.decisions.touched.add(edit.address.position)

    def _file(self, edit: Edit) -> OffloadedFile | None:
        """Return the file that what stands where an edit is made goes to."""
        if not isinstance(edit, Replace) or not isinstance(edit.template, Pointer):
            return None
        from elision.offloading import offloaded_file

        found = content_at(self.view.history, self.view.overlay, edit.address, self.view.stage)
        return offloaded_file(edit.template.folder, plain(found))

    def _has_no_file(self, edit: Edit, applied: AppliedEdit, undo: Callable[[], None], why: str) -> None:
        self._undone(applied, undo)
        self._refuse(edit, ARCHIVED_FIRST, why)

    def _taken_back(self, edit: Edit, applied: AppliedEdit, undo: Callable[[], None]) -> None:
        self._undone(applied, undo)
        self._refuse(edit, ARCHIVED_FIRST, self.view.originals.trouble)

    def _undone(self, applied: AppliedEdit, undo: Callable[[], None]) -> None:
        undo()
        edits = self.decisions.edits
        place = next(index for index in range(len(edits) - 1, -1, -1) if edits[index] is applied)
        del edits[place]

    def _withholding(self) -> list[Edit]:
        """Return edits that withhold what a processor of the operation ``redact`` was to look at and did not."""
        self.policy = "full"
        parts = [part for message in self.view.messages for part in message.parts]
        touched = self.processor.touches
        return [
            part.replace(f"[withheld: {self.processor.type_name} could not look at it]", reason="withheld")
            for part in parts
            if (part.is_result or part.role in touched) and not part.elided
        ]

    def _entry(self, edit: Edit, applied: AppliedEdit) -> Entry | None:
        """Return what the archive keeps of an edit, if it removes anything."""
        view = self.view
        if not isinstance(edit, Replace | Drop) or not view.originals.archive.keeps:
            return None
        from elision.archive import Entry

        sealed = view.originals.sealed(view.history, edit.address if isinstance(edit, Replace) else edit.step)
        if isinstance(sealed, ArchiveError):
            return None
        results = results_of(view.history, edit)
        call = results[0].call if isinstance(edit, Replace) and results else None
        return Entry(
            content=sealed,
            ref=sealed.ref,
            placeholder=plain(edit.content) if isinstance(edit, Replace) and edit.elides else "",
            chars_before=applied.chars_before,
            chars_after=applied.chars_after,
            session=view.originals.session,
            processor=applied.processor,
            operation=applied.operation,
            call_id=applied.call_id,
            tool=applied.tool,
            arguments=call.arguments if call else None,
            classes=applied.classes,
            view_policy=self.policy,
            reason=edit.reason,
        )

    def _changes_nothing(self, edit: Edit) -> bool:
        history, overlay = self.view.history, self.view.overlay
        match edit:
            case Replace(address=address):
                if not 0 <= address.position < len(history) or not 0 <= address.part < len(
                    history.messages[address.position].parts
                ):
                    return False
                return overlay.elided(address) or edit.content == content_at(history, overlay, address, self.view.stage)
            case Drop(step=step):
                return overlay.is_dropped(step)
            case Tag(address=address, tags=tags) if address in history.paired:
                return tags <= overlay.tags_of(address, history.messages[address.position])
            case CacheBreakpoint(position=position, on=False) if 0 <= position < len(history):
                return not history.messages[position].marks
        return False

    def _refuse(self, edit: Edit, rule: Rule, reason: str) -> None:
        position, part, call_id, tool = place_in(self.view.history, edit)
        action, name = action_of(edit), self.processor.type_name
        classes = () if rule.number == 0 else classes_of(edit, self.view)
        refusal = Refusal(name, action, position, part, call_id, rule.name, reason, tool, classes)
        known = self.decisions.refusals.get(refusal.place)
        self.decisions.refusals[refusal.place] = refusal
        if known is None or known.rule != rule.name:
            self._tell("elision_edit_refused", refusal=refusal, rule=rule)

    def _tell(self, hook: str, **facts: Any) -> None:
        for told in plugins().tell(hook, **facts):
            self.decisions.failures.setdefault((hook, told), Failure(hook, told, "the edit stands"))

    def _failed(self, error: Exception) -> None:
        name = self.processor.type_name
        told = f"{type(error).__name__}: {error}"
        if self.on_error == "raise":
            raise ProcessorError(
                f"history_processors[{self.index}] ({name}): it raised {told}; "
                "mend the processor, or set on_error: skip to send the request without its edits"
            ) from error
        self.decisions.failures.setdefault((name, told), Failure(name, told))


@cache
def _sweagents_own() -> frozenset[type[Processor]]:
    """The classes that have SWE-agent's exemptions: those that ship, not any that calls itself so."""
    known = plugins()
    return frozenset(
        cls
        for name, cls in known.processors().items()
        if name in SWEAGENT_TYPES and known.owner("elision_processors", name) == "builtin"
    )
