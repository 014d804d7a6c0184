"""The guard: rules that every edit must pass, whichever processor proposes it.

It runs on each edit, naming the processor and the rule, and cannot be configured away.  Rules are values of one kind: a
name, a number from the design, and a function that returns why an edit is refused, or ``None``.  After a refusal that
may pass (``until``) the engine offers the same part to the processor again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

from elision.edits import CLEARING, SHRINKING, CacheBreakpoint, Drop, Edit, Insert, Remove, Replace, Tag, length
from elision.graphemes import splits_grapheme
from elision.history import Address, Content, History, Image, Opaque, Paired, Text, ToolResult, has_surrogates, plain
from elision.moment import Request
from elision.offers import ends_open_step
from elision.overlay import Overlay, content_at, original
from elision.placeholders import is_placeholder
from elision.processor import Processor, Stage
from elision.repair import OUTCOME_UNKNOWN

if TYPE_CHECKING:
    from elision.view import View

Until: TypeAlias = Literal["never", "later", "changed"]
"""When an edit that was refused can pass: ``later`` when its step is no longer open or the newest, ``changed`` when
what is known of its result (or the request's tools) has changed."""


class Why(NamedTuple):
    """Why an edit is refused, and until when."""

    reason: str
    until: Until = "never"


@dataclass(frozen=True, slots=True)
class Case:
    """What a rule may look at: the edit, who proposed it, and the view that they had."""

    edit: Edit
    processor: Processor
    stage: Stage
    view: View
    sweagent: bool

    @property
    def history(self) -> History:
        """The history."""
        return self.view.history

    @property
    def overlay(self) -> Overlay:
        """What has been decided so far."""
        return self.view.overlay

    @property
    def stop(self) -> int:
        """How many messages there were."""
        return self.view.moment.stop

    @property
    def newest_step(self) -> int:
        """The step that the model has not answered."""
        return self.view.moment.newest_step


Check: TypeAlias = Callable[[Case], Why | None]


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule of the guard."""

    number: int
    name: str
    check: Check


def first_refusal(case: Case) -> tuple[Rule, Why] | None:
    """Return the first rule that refuses the edit, and why."""
    for rule in RULES:
        why = rule.check(case)
        if why is not None:
            return rule, why
    return None


def _within_reach(case: Case) -> Why | None:
    """An edit points at something that is in the view, and an entry processor keeps to what has just come in."""
    match case.edit:
        case Replace(address=address) | Tag(address=address):
            position, why = address.position, _part_exists(case, address)
        case Insert(position=position):
            why = None if 0 <= position <= case.stop else Why("there is no such place in the view")
        case CacheBreakpoint(position=position) | Remove(position=position):
            why = None if 0 <= position < case.stop else Why("there is no such message in the view")
        case Drop(step=step):
            known = 0 <= step <= case.newest_step
            position = case.history.steps[step].start if known else -1
            why = None if known else Why("there is no such step in the view")
    if why is None and case.stage == "entry" and not case.view.window[0] <= position < case.view.window[1]:
        return Why("an entry processor edits only the step that has just come in")
    return why


def _part_exists(case: Case, address: Address) -> Why | None:
    messages = case.history.messages
    if not 0 <= address.position < case.stop or not 0 <= address.part < len(messages[address.position].parts):
        return Why("there is no such part in the view")
    if not isinstance(messages[address.position].parts[address.part], Text | ToolResult):
        return Why("only text and tool results can be edited")
    return None


def _fits_stage(case: Case) -> Why | None:
    """Tags belong to observations, cache breakpoints to requests, system messages to wires that have them."""
    if isinstance(case.edit, Tag) and case.edit.address not in case.history.paired:
        return Why("only observations have tags")
    if isinstance(case.edit, CacheBreakpoint) and case.stage != "request":
        return Why("cache breakpoints are set for each request, by a processor of the stage 'request'")
    if isinstance(case.edit, CacheBreakpoint) and not case.history.wire.cache_breakpoints:
        return Why("this dialect has no cache breakpoints")
    if isinstance(case.edit, Insert) and case.edit.role == "system" and case.history.wire.system_beside:
        return Why("this dialect has no system messages; insert it as the user's")
    return None


def _step_is_atomic(case: Case) -> Why | None:
    """Rule 1: no orphan call or result; a step goes as a whole, and nothing stands between a call and its result."""
    match case.edit:
        case Drop(step=index):
            step = case.history.steps[index]
            if step.demo:
                return Why("demonstrations are not dropped")
            if any(address is not None and address.position >= step.stop for address in step.results):
                return Why("a result of this step stands elsewhere in the history")
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


def _missing_stays_missing(case: Case) -> Why | None:
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


def _newest_step_stays(case: Case) -> Why | None:
    """Rule 2: a step with an open call, and the newest step, are left alone.

    Entry and request processors may change results there, but not clear them.
    """
    match case.edit:
        case Drop(step=index):
            if case.history.steps[index].open_at(case.stop):
                return Why("pending: a call of this step has no result yet", "later")
            if index == case.newest_step:
                return Why("the newest step is not dropped: the model has not answered it", "later")
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


def _touches_declared(case: Case) -> Why | None:
    """Rule 4: text of the system, user and assistant is edited only by a processor whose class declares it."""
    edit = case.edit
    if isinstance(edit, Replace) and edit.address not in case.history.paired:
        message = case.history.messages[edit.address.position]
        if message.role not in case.processor.touches:
            return Why(f"{case.processor.type_name} does not declare that it touches the {message.role}'s text")
    return None


def _operation_declared(case: Case) -> Why | None:
    """Rule 4: content is replaced only by a processor whose class says what it does to it."""
    if isinstance(case.edit, Replace) and case.processor.operation == "none":
        return Why(f"{case.processor.type_name} declares the operation 'none', so it replaces nothing")
    return None


def _class_allows(case: Case) -> Why | None:
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
    if isinstance(case.edit, Drop) and own != "summarize":
        return own, "drop"
    if not isinstance(case.edit, Replace):
        return (own,)
    if case.edit.elides and own not in {*CLEARING, "offload", "budget"}:
        return own, "clear"
    return (own, "truncate") if own == "convert" and _loses_text(case, case.edit) else (own,)


def _loses_text(case: Case, edit: Replace) -> bool:
    """Whether text is gone that is no image now: what an image holds stood in the text, as data."""
    found = _found(case, edit.address)
    before = plain(found)
    new = Counter(part.url for part in edit.content if isinstance(part, Image) and part not in found)
    became = 0
    for url, times in new.items():
        data = f";base64,{url.partition(',')[2]}"
        became += (len(url) + 2) * min(times, before.count(data)) if data[8:] else 0
    return len(before) - len(plain(edit.content)) > became


def results_of(history: History, edit: Edit) -> list[Paired]:
    """Return the results that an edit changes or leaves out."""
    match edit:
        case Replace(address=address) if address in history.paired:
            return [history.paired[address]]
        case Drop(step=step):
            return [history.paired[address] for address in history.steps[step].results if address is not None]
        case _:
            return []


def _one_owner(case: Case) -> Why | None:
    """Rule 11: where the provider manages the context, nothing else removes from it."""
    removes = isinstance(case.edit, Drop) or (isinstance(case.edit, Replace) and case.processor.operation in SHRINKING)
    if removes and case.view.request.owner == "provider":
        return Why("the provider manages this context (owner: provider)")
    return None


def _way_back(case: Case) -> Why | None:
    """Rule 5: a placeholder is written only if something that the request offers can bring its original back."""
    edit = case.edit
    if not isinstance(edit, Replace) or not edit.elides or case.sweagent:
        return None
    paired = case.history.paired.get(edit.address)
    if paired is None or can_come_back(paired, case.view.request):
        return None
    return Why("no tool of the request can bring it back: offer elision.recall_tool_schema()", "changed")


def can_come_back(paired: Paired, request: Request) -> bool:
    """Whether a tool that the request offers, as far as it says, brings a result back."""
    offered = request.offered
    return offered is None or bool(request.recall_tool) or (paired.call is not None and paired.call.name in offered)


def _archive_keeps(case: Case) -> Why | None:
    """Rule 5: without an archive nothing is removed."""
    archive = case.view.originals.archive
    if isinstance(case.edit, Replace | Drop) and not archive.keeps and not redacts(case.edit, case.processor):
        return Why(archive.refusal)
    return None


def _archived_first(case: Case) -> Why | None:
    """Rule 5: the original of what is replaced or dropped can go into the archive.

    What may not be seen is redacted all the same; the host still has its history.
    """
    if not isinstance(case.edit, Replace | Drop) or redacts(case.edit, case.processor):
        return None
    why = case.view.originals.why_not(case.history, case.edit)
    return Why(why, "later" if case.view.originals.trouble else "never") if why else None


def redacts(edit: Edit, processor: Processor) -> bool:
    """Whether an edit withholds what may not be seen, and so stands whatever becomes of the archive."""
    return isinstance(edit, Replace) and not edit.elides and processor.operation == "redact"


def _never_grows(case: Case) -> Why | None:
    """Rule 6: an edit that elides, cuts or summarises never leaves more characters than it found."""
    edit = case.edit
    if not isinstance(edit, Replace) or case.processor.operation not in SHRINKING or case.sweagent:
        return None
    before, after = length(_found(case, edit.address)), length(edit.content)
    if after > before:
        return Why(f"it would grow from {before} to {after} characters")
    return None


def _elided_stays(case: Case) -> Why | None:
    """Rule 8: what is elided stays as it is, and a dropped step is gone."""
    edit = case.edit
    if isinstance(edit, Replace):
        text = plain(_found(case, edit.address))
        if case.overlay.elided(edit.address) or is_placeholder(text) or case.view.originals.is_ours(text):
            return Why("a placeholder stands there already")
        paired = case.history.paired.get(edit.address)
        if paired is not None and case.overlay.is_dropped(paired.step):
            return Why("its step has been dropped")
    return None


def _clean_text(case: Case) -> Why | None:
    """Rule 9: no blank text, no lone surrogates, cuts only between graphemes."""
    match case.edit:
        case Replace(address=address, content=content):
            texts = [part.text for part in content if isinstance(part, Text)]
            found = _found(case, address)
            if (found and not content and _alone(case, address)) or _blanks(content) > _blanks(found):
                return Why("it would leave a blank text")
            if any(has_surrogates(text) for text in texts if not text.isascii()):
                return Why("the new text holds a lone surrogate")
            if case.processor.operation == "truncate" and len(texts) == 1 and splits_grapheme(plain(found), texts[0]):
                return Why("the cut falls inside a character as a reader sees it (grapheme)")
        case Insert(text=text) if not text.isascii() and has_surrogates(text):
            return Why("the new text holds a lone surrogate")
        case _:
            pass
    return None


def _content_is_known(case: Case) -> Why | None:
    """Rule 0: host objects in new content are those that stood there; what nobody knows cannot be made up."""
    edit = case.edit
    if not isinstance(edit, Replace):
        return None
    stood = {id(part.raw) for part in (*original(case.history, edit.address), *_found(case, edit.address))}
    for part in edit.content:
        made_up = isinstance(part, Opaque) if part.raw is None else id(part.raw) not in stood
        if made_up:
            return Why("its content holds an object of the host's that did not stand there")
        if isinstance(part, Image) and has_surrogates(part.url):
            return Why("the new image's URL holds a lone surrogate")
    return None


ARCHIVED_FIRST = Rule(5, "archived_first", _archived_first)

RULES: tuple[Rule, ...] = (
    Rule(0, "within_reach", _within_reach),
    Rule(0, "fits_stage", _fits_stage),
    Rule(0, "content_is_known", _content_is_known),
    Rule(8, "elided_stays", _elided_stays),
    Rule(1, "step_is_atomic", _step_is_atomic),
    Rule(2, "missing_stays_missing", _missing_stays_missing),
    Rule(2, "newest_step_stays", _newest_step_stays),
    Rule(4, "touches_declared", _touches_declared),
    Rule(4, "operation_declared", _operation_declared),
    Rule(5, "archived_first", _archive_keeps),
    Rule(4, "class_allows", _class_allows),
    Rule(11, "one_owner", _one_owner),
    Rule(6, "never_grows", _never_grows),
    Rule(9, "clean_text", _clean_text),
    Rule(5, "way_back", _way_back),
    ARCHIVED_FIRST,
)


def _found(case: Case, address: Address) -> tuple[Content, ...]:
    return content_at(case.history, case.overlay, address, case.view.stage)


def _alone(case: Case, address: Address) -> bool:
    """Whether nothing else of the message's content is sent beside the part at ``address``."""
    parts = case.history.messages[address.position].parts
    if isinstance(parts[address.part], ToolResult):
        return True
    beside = [(Address(address.position, index), part) for index, part in enumerate(parts) if index != address.part]
    return not any(
        isinstance(part, Image | Opaque) or (isinstance(part, Text) and plain(_found(case, other)).strip())
        for other, part in beside
    )


def _blanks(content: tuple[Content, ...]) -> int:
    return sum(isinstance(part, Text) and not part.text.strip() for part in content)
