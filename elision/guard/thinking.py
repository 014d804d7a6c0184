"""Rule 3: thinking that has to go back goes back, with what it is bound to."""

from __future__ import annotations

from dataclasses import replace

from elision.binding import BOUND, Binding
from elision.edits import Replace
from elision.guard.case import Case, Why
from elision.guard.content import clean_text
from elision.guard.reach import content_is_known
from elision.guard.recovery import redacts
from elision.message import Thinking


def thinking_stays(case: Case) -> Why | None:
    """Rule 3: thinking is left out only where the model does not want it back."""
    edit, history = case.edit, case.history
    if not isinstance(edit, Replace) or not _is_thinking(case, edit):
        return None
    number = history.step_of[edit.address.position]
    rule = case.view.profile.thinking.rule
    if rule == "tool_turns" and number is not None:
        return _stays_in_turn(case, history.steps[number].turn)
    first = case.view.binding.first()
    if rule == BOUND and not case.view.waits and first is not None and first < edit.address:
        return Why("thinking goes from the beginning on: some stands before this, and what follows is bound to both")
    return None


def _stays_in_turn(case: Case, turn: int) -> Why | None:
    turns = case.history.turns
    if turn + 1 >= len(turns) or turns[turn + 1].start >= case.stop:
        return Why("the model wants the thinking of the turn that is open back")
    if turns[turn].calls:
        return Why("the model wants the thinking of turns with calls back")
    return None


def bound_thinking(case: Case) -> Why | None:
    """Rule 3: what thinking is bound to is edited as ``on_bound_thinking`` says."""
    binding = case.view.binding
    if case.view.waits or redacts(case.edit, case.processor) or not binding.would_break(case.edit, case.stage):
        return None
    if binding.policy == "request_drop_block":
        return None
    if binding.policy != "drop_thinking" or case.stage == "request":
        return Why(bound_to(binding))
    if not binding.closed:
        return Why(f"{bound_to(binding)}: when the turn is over", "turn")
    return _why_it_stays(case)


def bound_to(binding: Binding) -> str:
    """Say which thinking is in the way of an edit."""
    last = binding.last()
    where = last.position if last else 0
    return f"thinking in message {where} is bound to what stands before it (on_bound_thinking: {binding.policy})"


def _why_it_stays(case: Case) -> Why | None:
    """Say why thinking behind an edit cannot be left out with it."""
    for address in case.view.binding.behind(case.edit):
        removal = Replace(address, ())
        why, gone = case.view.originals.why_not(case.history, removal), replace(case, edit=removal)
        found = Why(why, "later") if why else content_is_known(gone) or clean_text(gone)
        if found is not None:
            return Why(f"thinking in message {address.position} would have to go, too: {found.reason}", found.until)
    return None


def _is_thinking(case: Case, edit: Replace) -> bool:
    return isinstance(case.history.messages[edit.address.position].parts[edit.address.part], Thinking)
