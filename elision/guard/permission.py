"""Rules 4 and 11: the table allows it, the processor declares it, and the context is ours to manage."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from elision.edits import CLEAR_INPUTS, CLEARING, SHRINKING, Drop, Replace
from elision.guard.case import Case, Why, found_at, results_of
from elision.message import Image, Part, Thinking, ToolCall, plain

_SPOKEN: Mapping[type[Part], str] = {ToolCall: "calls", Thinking: "thinking"}


def touches_declared(case: Case) -> Why | None:
    """Rule 4: text of the system, user and assistant is edited only by a processor whose class declares it."""
    edit = case.edit
    if isinstance(edit, Replace) and edit.address not in case.history.paired:
        message = case.history.messages[edit.address.position]
        if message.role not in case.processor.touches:
            what = _SPOKEN.get(type(message.parts[edit.address.part]), "text")
            return Why(f"{case.processor.type_name} does not declare that it touches the {message.role}'s {what}")
    return None


def operation_declared(case: Case) -> Why | None:
    """Rule 4: content is replaced only by a processor whose class says what it does to it."""
    if isinstance(case.edit, Replace) and case.processor.operation == "none":
        return Why(f"{case.processor.type_name} declares the operation 'none', so it replaces nothing")
    return None


def class_allows(case: Case) -> Why | None:
    """Rule 4: the table allows it for every class that the result has; a step goes if all its results may."""
    standing, edit = case.view.standing, case.edit
    if standing.table is None or case.sweagent:
        return None
    for paired in results_of(case.history, edit):
        facts = standing.facts(paired, case.newest_step)
        for operation in _operations(case):
            verdict = standing.table.verdict(operation, standing.classes(paired), facts)
            if not verdict.allowed:
                return Why(verdict.reason, "never" if verdict.lasting else "changed")
    return None


def _operations(case: Case) -> tuple[str, ...]:
    """Return the columns of the table that an edit falls under: its processor's, and what it does besides."""
    own = case.processor.operation
    if isinstance(case.edit, Replace) and case.edit.address not in case.history.paired:
        if own == "budget":
            return (CLEAR_INPUTS,)
        return (own,) if own in {"redact", CLEAR_INPUTS} else (own, CLEAR_INPUTS)
    if isinstance(case.edit, Drop) and own != "summarize":
        return own, "drop"
    if not isinstance(case.edit, Replace):
        return (own,)
    if case.edit.elides and own not in {*CLEARING, "offload", "budget"}:
        return own, "clear"
    return (own, "truncate") if own == "convert" and _loses_text(case, case.edit) else (own,)


def _loses_text(case: Case, edit: Replace) -> bool:
    """Whether text is gone that is no image now: what an image holds stood in the text, as data."""
    found = found_at(case, edit.address)
    before = plain(found)
    new = Counter(part.url for part in edit.content if isinstance(part, Image) and part not in found)
    became = 0
    for url, times in new.items():
        data = f";base64,{url.partition(',')[2]}"
        became += (len(url) + 2) * min(times, before.count(data)) if data[8:] else 0
    return len(before) - len(plain(edit.content)) > became


def one_owner(case: Case) -> Why | None:
    """Rule 11: where the provider manages the context, nothing else removes from it."""
    removes = isinstance(case.edit, Drop) or (isinstance(case.edit, Replace) and case.processor.operation in SHRINKING)
    if removes and case.view.request.owner == "provider":
        return Why("the provider manages this context (owner: provider)", "changed")
    return None
