"""Task notes: one message with what has to be known to go on, made anew from the facts at a break."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from elision.edits import Edit, Insert
from elision.message import Address, Text
from elision.summaries.learning import learned, source
from elision.summaries.measuring import is_ours
from elision.summaries.rendering import render_summary
from elision.summaries.statements import rules_in
from elision.summaries.wording import line_of, verbatim

if TYPE_CHECKING:
    from elision.view import View

_GOAL_CHARS = 400
_ASKED_CHARS = 200


@dataclass(frozen=True, slots=True)
class NotesSpec:
    """How one processor keeps notes: how many entries of each kind, and what they look like."""

    name: str
    template: str = "notes"
    most_rules: int = 30
    most_done: int = 30
    must_keep: Sequence[str] = ()


@dataclass(slots=True)
class Log:
    """The facts so far, in order; each step and each message is looked at once."""

    step: int = 0
    position: int = 0
    asked: list[str] = field(default_factory=list)
    first: int = -1
    goal: str = ""
    rules: dict[str, None] = field(default_factory=dict)
    skills: dict[str, None] = field(default_factory=dict)
    done: list[str] = field(default_factory=list)
    unverified: dict[str, None] = field(default_factory=dict)
    next: str = ""
    said_in: int = -1
    said_at: int = -1
    asked_at: int = -1


def note_edits(view: View, spec: NotesSpec) -> list[Edit]:
    """Return the notes as they are now, in the place of those before; nothing where they would rewrite more."""
    overlay, broken_at = view.overlay, view.memory.broken_at
    log = _log(view)
    begins = f"{spec.name}:{view.stage}:"
    before = [insert for key, insert in overlay.keyed.items() if key.startswith(begins)]
    text = render_summary(spec.template, _facts(view, spec, log))
    if not text or any(each.text == text for each in before):
        return []
    if broken_at is None or any(each.position < broken_at for each in before):
        return []
    position = view.moment.stop
    replaces = tuple(each.key for each in before)
    return [Insert(position, "user", text, "note", "task notes", f"{begins}{position}", replaces)]


def _facts(view: View, spec: NotesSpec, log: Log) -> dict[str, object]:
    gone, tool = len(view.overlay.dropped), view.request.recall_tool
    how = f"{tool} REF gives one back" if tool else "each is in the archive under its ref"
    return {
        "goal": log.goal,
        "asked": log.asked[-5:],
        "skills": list(log.skills),
        "rules": [*list(log.rules)[-spec.most_rules :], *(fact for fact in spec.must_keep if fact not in log.rules)],
        "done": [*(["…"] if len(log.done) > spec.most_done else []), *log.done[-spec.most_done :]],
        "unverified": list(log.unverified),
        "next": _next(view, log),
        "originals": f"{how}; {gone} steps have been left out" if gone else how,
    }


def _next(view: View, log: Log) -> str:
    """Return what comes next, as far as it was said; what the model said with its calls has been done by now."""
    if log.said_at < log.asked_at:
        return f"what the user said last: {log.asked[-1]}"
    newest = log.said_in + 1 == log.step
    if not log.next or (newest and not view.history.steps[log.said_in].calls):
        return log.next
    if newest:
        return f"go on from step {log.step}, which is done; there you said: {log.next}"
    return f"go on from step {log.step}; in step {log.said_in + 1}, which is done, you said: {log.next}"


def _log(view: View) -> Log:
    """Take in what is new."""
    summed = view.memory.summed
    log = summed.log if isinstance(summed.log, Log) else Log()
    summed.log = log
    _take_in_users(view, log)
    for step in view.history.steps[log.step : view.moment.steps]:
        log.step = step.index + 1
        if step.demo:
            continue
        facts = learned(view, step.index)
        log.skills.update(dict.fromkeys(facts.loads))
        log.done += facts.done
        if facts.checks:
            log.unverified.clear()
        log.unverified.update(dict.fromkeys(facts.writes))
        if facts.said:
            log.next, log.said_in, log.said_at = facts.said, step.index, step.start
    return log


def _take_in_users(view: View, log: Log) -> None:
    for position in range(log.position, view.moment.stop):
        message = view.history.messages[position]
        if message.role != "user" or message.kind == "demo":
            continue
        for index, part in enumerate(message.parts):
            if not isinstance(part, Text) or is_ours(view, part.text):
                continue
            text = source(view, Address(position, index))
            for rule in rules_in(text):
                log.rules.pop(verbatim(rule), None)
                log.rules[verbatim(rule)] = None
            if log.first in (-1, position):
                # Hosts put what they add of their own before what the user said.
                log.first, log.goal = position, line_of(text, _GOAL_CHARS)
            else:
                log.asked.append(line_of(text, _ASKED_CHARS))
                log.asked_at = position
    log.position = view.moment.stop
