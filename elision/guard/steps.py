"""Rules 1 and 2: steps are atomic, and what the model has not answered stays."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from elision.edits import CLEARING, Drop, Insert, Remove, Replace
from elision.guard.case import Case, Why
from elision.history import History, Step
from elision.message import Opaque, plain
from elision.offers import ends_open_step
from elision.outcomes import OUTCOME_UNKNOWN
from elision.overlay import original
from elision.pairing import is_said, step_at


def step_is_atomic(case: Case) -> Why | None:
    """Rule 1: no orphan call or result; a step goes as a whole, and nothing stands between a call and its result."""
    match case.edit:
        case Drop(step=index):
            return _not_whole(case.history, case.history.steps[index])
        case Remove():
            return Why("a message goes only with its whole step; system and user messages stay")
        case Insert(position=position, text=text):
            index_of = case.history.step_of[position] if position < len(case.history) else None
            if index_of is not None and case.history.steps[index_of].start != position:
                return Why("a message inside a step would part a call from its result")
            if not text.strip():
                return Why("an inserted message needs text")
        case _:
            pass
    return None


def _not_whole(history: History, step: Step) -> Why | None:
    if step.demo:
        return Why("demonstrations are not dropped")
    if any(address is not None and address.position >= step.stop for address in step.results):
        return Why("a result of this step stands elsewhere in the history")
    if _asked_at_the_server(history, step) != _found_at_the_server(history, step):
        return Why("a call of the provider's own tools and its result stand in two steps")
    return None


def _asked_at_the_server(history: History, step: Step) -> set[str]:
    return {_field(part, "id") for part in _opaque(history, step) if part.type.endswith("_tool_use")}


def _found_at_the_server(history: History, step: Step) -> set[str]:
    return {_field(part, "tool_use_id") for part in _opaque(history, step) if part.type.endswith("_tool_result")}


def _opaque(history: History, step: Step) -> Iterator[Opaque]:
    said = history.messages[step.start : step.acted]
    return (part for message in said for part in message.parts if isinstance(part, Opaque))


def _field(part: Opaque, name: str) -> str:
    raw = part.raw
    return str(raw.get(name) if isinstance(raw, Mapping) else getattr(raw, name, None))


def missing_stays_missing(case: Case) -> Why | None:
    """Rule 2: what stands for a missing result, in a mended history, is left alone."""
    edit, history = case.edit, case.history
    if isinstance(edit, Drop) and ends_open_step(history, history.steps[edit.step]):
        return Why("the step before it lacks a result, and would seem to have one that comes later")
    paired = history.paired.get(edit.address) if isinstance(edit, Replace) else None
    if paired is None or paired.step < 0 or not history.steps[paired.step].unfinished:
        return None
    if plain(original(history, paired.address)) == OUTCOME_UNKNOWN:
        return Why("pending: this stands for a result that is missing", "later")
    return None


def newest_step_stays(case: Case) -> Why | None:
    """Rule 2: a step with an open call, and the newest step, are left alone.

    Entry and request processors may change results there, but not clear them, and never calls and thinking.
    """
    match case.edit:
        case Replace(address=address) if is_said(case.history, address):
            said = "calls and thinking of the newest step go back as they came"
            return _open_or_newest(case, step_at(case.history, address), said)
        case Drop(step=index):
            return _open_or_newest(case, index, "the newest step is not dropped: the model has not answered it")
        case Replace(address=address) if (paired := case.history.paired.get(address)) and paired.step >= 0:
            if case.stage != "history" and case.processor.operation not in CLEARING:
                return None
            if case.history.steps[paired.step].open_at(case.stop):
                return Why("pending: a call of this step has no result yet", "later")
            if paired.step == case.newest_step and not case.sweagent:
                return Why("the newest step is not edited here: the model has not read it", "later")
        case _:
            pass
    return None


def _open_or_newest(case: Case, index: int, newest: str) -> Why | None:
    if index < 0:
        return Why("it belongs to no step")
    if case.history.steps[index].open_at(case.stop):
        return Why("pending: a call of this step has no result yet", "later")
    return Why(newest, "later") if index == case.newest_step else None
