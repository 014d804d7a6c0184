"""The rules of the contract, and one processor tried on one history."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any, NamedTuple, TypeAlias

from elision.archive import Archive
from elision.archive.opening import trial_archive
from elision.chain import Chain
from elision.dialect import by_name
from elision.edits import SHRINKING, Edit, Replace, length
from elision.errors import ProcessorError
from elision.history import History
from elision.overlay import content_at
from elision.processor import Processor
from elision.registry import plugins
from elision.report import SentView
from elision.view import View

LONG = 200
"""Characters from which a text outdoes every placeholder: an edit that makes it longer is a mistake."""

_MISTAKES = ("within_reach", "step_is_atomic", "touches_declared")
"""Rules of the guard whose refusal shows a mistake of the processor; others depend on the moment or on the text."""


Build: TypeAlias = Callable[[], Processor]


class Planned(NamedTuple):
    """An edit, and how many characters stood where it puts new content."""

    edit: Edit
    found: int


@dataclass(frozen=True, slots=True)
class Trial:
    """One processor on one history: its messages afterwards, what was planned each time, the view, and the archive."""

    messages: list[Any]
    plans: list[list[Planned]]
    view: SentView
    archive: Archive


@dataclass(frozen=True, slots=True)
class Evidence:
    """What the rules look at; ``again`` is the same processor a second time, ``fresh`` a new one.

    A history that is not ``sound`` has faults that the engine mends, so some rules do not apply.
    """

    messages: list[Any]
    dialect: str
    sound: bool
    build: Build
    first: Trial
    again: Trial
    fresh: Trial


class BrokenContractError(AssertionError):
    """A processor broke a rule of the contract."""

    def __init__(self, rule: str, what: str) -> None:
        super().__init__(f"{rule}: {what}")
        self.rule = rule


def judge(messages: list[Any], dialect: str, build: Build, *, sound: bool) -> None:
    """Try a processor on one history; raise :class:`BrokenContractError` for the first rule that it breaks."""
    processor = build()
    trials = [_try(chosen, messages, dialect) for chosen in (processor, processor, build())]
    evidence = Evidence(messages, dialect, sound, build, *trials)
    for name, rule in RULES.items():
        what = rule(evidence)
        if what is not None:
            raise BrokenContractError(name, what)
    refusals = {refusal.rule: refusal for refusal in evidence.first.view.refusals}
    for name in _MISTAKES if sound else ():
        if name in refusals:
            refused = refusals[name]
            raise BrokenContractError(
                name, f"the guard refused to {refused.action} message {refused.position}: {refused.reason}"
            )


def _try(processor: Processor, messages: list[Any], dialect: str) -> Trial:
    given = copy.deepcopy(messages)
    plans: list[list[Planned]] = []
    plan = type(processor).plan

    def watched(view: View) -> list[Edit]:
        edits = list(plan(processor, view) or ())
        plans.append([Planned(edit, _found(view, edit)) for edit in edits])
        return edits

    # The processor is frozen; the engine finds this before the method of its class.
    object.__setattr__(processor, "plan", watched)
    archive = _new_archive()
    return Trial(given, plans, _processed(processor, given, dialect, archive), archive)


def _new_archive() -> Archive:
    return trial_archive()


def _chain(processor: Processor, archive: Archive) -> Chain:
    """Return a chain that tries the processor itself: no table refuses what it proposes."""
    return Chain([processor], on_error="raise", classification=None, archive=archive, schedule="every_step")


def _processed(processor: Processor, messages: list[Any], dialect: str, archive: Archive) -> SentView:
    try:
        return _chain(processor, archive).process(messages, dialect=dialect)
    except ProcessorError as error:
        raise BrokenContractError("does_not_raise", f"{type(error.__cause__).__name__}: {error.__cause__}") from error


def _found(view: View, edit: Edit) -> int:
    if not isinstance(edit, Replace):
        return 0
    position, part = edit.address
    known = 0 <= position < len(view.history) and 0 <= part < len(view.history.messages[position].parts)
    return length(content_at(view.history, view.overlay, edit.address, view.stage)) if known else 0


def _input_untouched(case: Evidence) -> str | None:
    trial = case.first
    if trial.messages != case.messages:
        changed = [index for index, raw in enumerate(case.messages) if trial.messages[index] != raw]
        return f"it changed the host's own messages {changed}; propose edits instead"
    if trial.view.repairs:
        return None
    history = _parsed(trial.messages, case.dialect)
    named = {edit.position for edit in trial.view.edits}
    dropped = {edit.position for edit in trial.view.edits if edit.action == "drop"}
    for step in history.steps:
        if step.start in dropped:
            named.update(range(step.start, step.stop))
    sent = set(map(id, trial.view.messages))
    lost = [index for index, raw in enumerate(trial.messages) if index not in named and id(raw) not in sent]
    return f"messages {lost} are not sent as they came, and no edit says so" if lost else None


def _pure(case: Evidence) -> str | None:
    if case.first.plans == case.again.plans:
        return None
    told = "the same view gave other edits the second time; plan keeps no state and reads no clock, counter or chance"
    return told + _difference(case.first.view, case.again.view, "the first time", "the second time")


def _deterministic(case: Evidence) -> str | None:
    if case.first.plans == case.fresh.plans and _bytes(case.first.view) == _bytes(case.fresh.view):
        return None
    told = "a new processor with the same options gave other edits; they follow from the view and the options alone"
    return told + _difference(case.first.view, case.fresh.view, "by the first", "by the new one")


def _declares_operation(case: Evidence) -> str | None:
    replaces = any(isinstance(planned.edit, Replace) for plan in case.first.plans for planned in plan)
    if replaces and case.build().operation == "none":
        return "it replaces content but its class says operation 'none'; declare what it does to a result"
    return None


def _never_grows(case: Evidence) -> str | None:
    if case.build().operation not in SHRINKING:
        return None
    for plan in case.first.plans:
        for edit, found in plan:
            after = length(edit.content) if isinstance(edit, Replace) and not edit.elides else 0
            if found >= LONG and after > found:
                return f"it would put {after} characters where it found {found}"
    return None


def _step_is_atomic(case: Evidence) -> str | None:
    if not case.sound or _parsed(case.messages, case.dialect).poisoned:
        return None
    if _parsed(case.first.view.messages, case.dialect).poisoned:
        return "a call and its result were parted"
    return None


def _idempotent(case: Evidence) -> str | None:
    view = case.first.view
    if case.build().operation == "none" or view.repairs or any(edit.action == "insert" for edit in view.edits):
        return None
    once_more = _processed(case.build(), view.messages, case.dialect, case.first.archive)
    if _bytes(once_more) == _bytes(view):
        return None
    told = (
        "processing what was sent changed it once more; a new run knows the placeholders of the first, and nothing "
        "else of it, so plan must know by its text what replace() put in place, and leave it as it is"
    )
    return told + _difference(view, once_more, "sent first", "sent then")


def _session_equals_stateless(case: Evidence) -> str | None:
    processor = case.build()
    messages = case.first.messages
    with _chain(processor, _new_archive()).session() as session:
        views = [session.process(messages[:stop], dialect=case.dialect) for stop in range(1, len(messages) + 1)]
    if not views or _bytes(views[-1]) == _bytes(case.first.view):
        return None
    told = (
        "step by step in a session it gave another view than all at once; what it proposes at a step follows from the "
        "history up to that step and from its options, not from how often it is asked"
    )
    return told + _difference(case.first.view, views[-1], "all at once", "step by step")


def _parsed(messages: list[Any], dialect: str) -> History:
    reader = by_name(plugins().dialects(), dialect)
    history = History(reader.wire)
    for raw in messages:
        history.append(reader.parse(raw, history))
    return history


def _bytes(view: SentView) -> str:
    return json.dumps(view.messages, default=repr)


def _difference(one: SentView, other: SentView, *names: str) -> str:
    """Show the first message in which two views differ, each shortened around the place."""
    for index, pair in enumerate(zip_longest(one.messages, other.messages)):
        texts = ["(none)" if message is None else json.dumps(message, default=repr) for message in pair]
        if texts[0] != texts[1]:
            alike = zip(*texts, strict=False)
            place = next((at for at, (a, b) in enumerate(alike) if a != b), min(map(len, texts)))
            shown = [f"\n  {name}: {_around(place, text)}" for name, text in zip(names, texts, strict=True)]
            return f"\nmessage {index} of the view is the first that differs:{''.join(shown)}"
    return ""


def _around(place: int, text: str) -> str:
    start, stop = max(0, place - 60), place + 140
    return f"{'…' if start else ''}{text[start:stop]}{'…' if stop < len(text) else ''}"


Check: TypeAlias = Callable[[Evidence], str | None]
RULES: Mapping[str, Check] = {
    "input_untouched": _input_untouched,
    "pure": _pure,
    "deterministic": _deterministic,
    "declares_operation": _declares_operation,
    "never_grows": _never_grows,
    "step_is_atomic": _step_is_atomic,
    "session_equals_stateless": _session_equals_stateless,
    "idempotent": _idempotent,
}
