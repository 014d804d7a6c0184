"""Asking one processor: its edits are judged by the guard one by one, and taken in or refused."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from typing import Any

from elision.compat import SWEAGENT, SWEAGENT_TYPES
from elision.edits import CacheBreakpoint, Drop, Edit, Insert, Remove, Replace, Tag
from elision.errors import ProcessorError
from elision.guard import Case, Rule, first_refusal
from elision.history import Address, Image, Opaque, Text, plain
from elision.overlay import content_at
from elision.processor import Processor, Stage
from elision.registry import plugins
from elision.report import AppliedEdit, Failure, Refusal
from elision.view import View


@dataclass(slots=True)
class Decisions:
    """What has been decided, as it is reported; each entry once."""

    edits: list[AppliedEdit] = field(default_factory=list)
    refusals: dict[tuple[str, int, int | None, str], Refusal] = field(default_factory=dict)
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

    def ask(self) -> list[int]:
        """Ask for edits and take in those that the guard lets pass; return the positions whose content changed."""
        bookmark = self.view.memory.bookmark()
        try:
            if self.stage == "history" and not self.processor.fires(self.view.moment):
                return []
            edits = _checked(self.processor.plan(self.view))
        except Exception as error:  # noqa: BLE001 (a plugin may raise anything; the request goes out)
            self._failed(error)
            self.view.memory.rewind(bookmark)
            return []
        return [position for edit in edits if (position := self._decide(edit)) is not None]

    def _decide(self, edit: Edit) -> int | None:
        view = self.view
        if self._changes_nothing(edit):
            return None
        case = Case(
            edit=edit,
            processor=self.processor,
            stage=self.stage,
            index=view.stage,
            history=view.history,
            overlay=view.overlay,
            stop=view.moment.stop,
            newest_step=view.moment.newest_step,
            window=view.window,
            sweagent=view.compat == SWEAGENT and type(self.processor) in _sweagents_own(),
        )
        refused = first_refusal(case)
        if refused is not None:
            rule, why = refused
            if not why.lasting and isinstance(edit, Replace):
                view.memory.deferred[edit.address] = None
            self._refuse(edit, rule, why.reason)
            return None
        return self._apply(edit)

    def _apply(self, edit: Edit) -> int | None:
        view = self.view
        applied = self._applied(edit)
        if view.overlay.apply(edit, self.index) and isinstance(edit, Replace):
            self.stale.append(edit.address.position)
        self.decisions.edits.append(applied)
        self._tell("elision_edit_applied", edit=applied)
        if isinstance(edit, Replace | Tag):
            self.decisions.touched.add(edit.address.position)
        return edit.address.position if isinstance(edit, Replace) else None

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

    def _applied(self, edit: Edit) -> AppliedEdit:
        position, part, call_id, tool = self._place(edit)
        before = after = 0
        reason, elides = edit.reason, False
        if isinstance(edit, Replace):
            found = content_at(self.view.history, self.view.overlay, edit.address, self.view.stage)
            before, after, elides = len(plain(found)), len(plain(edit.content)), edit.elides
        elif isinstance(edit, Insert):
            after = len(edit.text)
        return AppliedEdit(
            self.processor.type_name,
            _action(edit),
            self.processor.operation,
            position,
            part,
            call_id,
            tool,
            before,
            after,
            reason,
            elides,
        )

    def _refuse(self, edit: Edit, rule: Rule, reason: str) -> None:
        position, part, call_id, _ = self._place(edit)
        key = (self.processor.type_name, position, part, rule.name)
        if key not in self.decisions.refusals:
            refusal = Refusal(self.processor.type_name, _action(edit), position, part, call_id, rule.name, reason)
            self.decisions.refusals[key] = refusal
            self._tell("elision_edit_refused", refusal=refusal, rule=rule)

    def _place(self, edit: Edit) -> tuple[int, int | None, str, str]:
        history = self.view.history
        match edit:
            case Replace(address=address) | Tag(address=address):
                paired = history.paired.get(address)
                call = paired.call if paired else None
                return address.position, address.part, call.id if call else "", call.name if call else ""
            case Drop(step=step):
                return (history.steps[step].start if 0 <= step < len(history.steps) else -1), None, "", ""
            case Insert(position=position) | CacheBreakpoint(position=position) | Remove(position=position):
                return position, None, "", ""

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


def _checked(planned: Any) -> list[Edit]:
    if planned is None:
        raise TypeError("plan gave None; it gives edits (yield them, or return a list)")
    edits = list(planned)
    for edit in edits:
        if not _well_formed(edit):
            raise TypeError(f"plan gave {edit!r:.200}, which is no edit; edits are made with the view's builders")
    return edits


@cache
def _sweagents_own() -> frozenset[type[Processor]]:
    """The classes that have SWE-agent's exemptions: those that ship, not any that calls itself so."""
    known = plugins()
    return frozenset(
        cls
        for name, cls in known.processors().items()
        if name in SWEAGENT_TYPES and known.owner("elision_processors", name) == "builtin"
    )


_EDITS = (Replace, Drop, Remove, Insert, Tag, CacheBreakpoint)


def _well_formed(edit: Any) -> bool:
    """Whether this is an edit as the builders make them: no subclass, every field of its type."""
    if type(edit) not in _EDITS or not isinstance(edit.reason, str):
        return False
    match edit:
        case Replace(address=Address(position=int(), part=int()), content=tuple() as content, elides=bool()):
            return all(map(_is_content, content))
        case Tag(address=Address(position=int(), part=int()), tags=frozenset() as tags):
            return all(isinstance(tag, str) for tag in tags)
        case Insert(position=int(), role="user" | "system", text=str(), kind="note" | "summary"):
            return True
        case CacheBreakpoint(position=int(), on=bool()) | Drop(step=int()) | Remove(position=int()):
            return True
    return False


def _is_content(part: Any) -> bool:
    if type(part) is Text:
        return isinstance(part.text, str)
    return isinstance(part.url, str) if type(part) is Image else type(part) is Opaque


def _action(edit: Edit) -> str:
    match edit:
        case Replace(elides=True):
            return "elide"
        case CacheBreakpoint(on=on):
            return "set_cache_breakpoint" if on else "clear_cache_breakpoint"
        case _:
            return type(edit).__name__.lower()
