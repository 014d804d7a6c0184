"""The guard: rules that every edit must pass, whichever processor proposes it.

It runs on each edit, naming the processor and the rule, and cannot be configured away.  Rules are values of one kind: a
name, a number from the design, and a function that returns why an edit is refused, or ``None``.  A refusal that may
pass (``lasting=False``) makes the engine offer the same part to the processor again later.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

import regex

from elision.edits import CLEARING, SHRINKING, CacheBreakpoint, Drop, Edit, Insert, Remove, Replace, Tag
from elision.history import Address, Content, History, Image, Opaque, Text, ToolResult, has_surrogates, plain
from elision.moment import Request
from elision.overlay import Overlay, content_at, original
from elision.placeholders import is_placeholder
from elision.processor import Processor, Stage

MAX_CACHE_BREAKPOINTS = 4
"""Anthropic's limit, counted over tools, system and messages (platform.claude.com, prompt caching, 2026-11)."""


class Why(NamedTuple):
    """Why an edit is refused, and whether that will stay so."""

    reason: str
    lasting: bool = True


@dataclass(frozen=True, slots=True)
class Case:
    """What a rule may look at: the edit, who proposed it and when."""

    edit: Edit
    processor: Processor
    stage: Stage
    index: int | None
    history: History
    overlay: Overlay
    stop: int
    newest_step: int
    window: tuple[int, int]
    sweagent: bool


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
    if why is None and case.stage == "entry" and not case.window[0] <= position < case.window[1]:
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


def _newest_step_stays(case: Case) -> Why | None:
    """Rule 2: a step with an open call, and the newest step, are left alone.

    Entry and request processors may change results there, but not clear them.
    """
    match case.edit:
        case Drop(step=index):
            if case.history.steps[index].open_at(case.stop):
                return Why("pending: a call of this step has no result yet", lasting=False)
            if index == case.newest_step:
                return Why("the newest step is not dropped: the model has not answered it", lasting=False)
        case Replace(address=address) if (paired := case.history.paired.get(address)) and paired.step >= 0:
            if case.stage != "history" and case.processor.operation not in CLEARING:
                return None
            if case.history.steps[paired.step].open_at(case.stop):
                return Why("pending: a call of this step has no result yet", lasting=False)
            if paired.step == case.newest_step and not case.sweagent:
                return Why("the newest step is not edited here: the model has not read it", lasting=False)
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


def _never_grows(case: Case) -> Why | None:
    """Rule 6: an edit that elides, cuts or summarises never leaves more characters than it found."""
    edit = case.edit
    if not isinstance(edit, Replace) or case.processor.operation not in SHRINKING or case.sweagent:
        return None
    before = plain(_found(case, edit.address))
    after = plain(edit.content)
    if len(after) > len(before):
        return Why(f"it would grow from {len(before)} to {len(after)} characters")
    return None


def _elided_stays(case: Case) -> Why | None:
    """Rule 8: what is elided stays as it is, and a dropped step is gone."""
    edit = case.edit
    if isinstance(edit, Replace):
        if case.overlay.elided(edit.address) or is_placeholder(plain(_found(case, edit.address))):
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
            if case.processor.operation == "truncate" and len(texts) == 1 and _splits_grapheme(plain(found), texts[0]):
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


RULES: tuple[Rule, ...] = (
    Rule(0, "within_reach", _within_reach),
    Rule(0, "fits_stage", _fits_stage),
    Rule(0, "content_is_known", _content_is_known),
    Rule(8, "elided_stays", _elided_stays),
    Rule(1, "step_is_atomic", _step_is_atomic),
    Rule(2, "newest_step_stays", _newest_step_stays),
    Rule(4, "touches_declared", _touches_declared),
    Rule(4, "operation_declared", _operation_declared),
    Rule(6, "never_grows", _never_grows),
    Rule(9, "clean_text", _clean_text),
)


def _found(case: Case, address: Address) -> tuple[Content, ...]:
    return content_at(case.history, case.overlay, address, case.index)


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


def _splits_grapheme(before: str, after: str) -> bool:
    """Whether ``after`` keeps a head or a tail of ``before`` that ends inside a grapheme."""
    if before.isascii():
        return False
    head = _common(before, after)
    tail = _common(before[::-1], after[::-1])
    return _inside(before, head) or _inside(before, len(before) - tail)


def _common(left: str, right: str) -> int:
    low, high = 0, min(len(left), len(right))
    while low < high:
        middle = (low + high + 1) // 2
        if left[:middle] == right[:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _inside(text: str, at: int) -> bool:
    """Whether ``at`` falls inside a grapheme; a window of 64 characters is more than any emoji sequence needs."""
    if not 0 < at < len(text):
        return False
    start = max(0, at - 32)
    position = start
    for match in regex.finditer(r"\X", text, pos=start, endpos=min(len(text), at + 32)):
        position = match.end()
        if position >= at:
            break
    return position != at


def excess_breakpoints(history: History, overlay: Overlay, request: Request) -> list[tuple[int, bool]]:
    """Return the messages whose cache breakpoints are over the limit, oldest first, and whether they are ours.

    The newest are kept: they are what the next request reads from.
    """
    counts = {position: history.messages[position].marks for position in history.marked}
    counts |= {position: int(on) for position, on in overlay.marks.items()}
    fixed = _marks_in(request.system) + _marks_in(request.tools)
    excess, room = [], MAX_CACHE_BREAKPOINTS - fixed
    for position in sorted(counts, reverse=True):
        room -= counts[position]
        if counts[position] and room < 0:
            excess.append((position, overlay.marks.get(position, False)))
    return excess[::-1]


def _marks_in(value: object) -> int:
    """Count the marks of a system prompt or of tool definitions; a tool may have a parameter of that name."""
    found = 0
    for item in value if isinstance(value, list | tuple) else ():
        inner = item.get("function") if isinstance(item, Mapping) else None
        found += any(isinstance(owner, Mapping) and "cache_control" in owner for owner in (item, inner))
    return found
