"""Rules 0: an edit points at something that is there and can be edited so."""

from __future__ import annotations

from elision.edits import CacheBreakpoint, Drop, Insert, Remove, Replace, Tag
from elision.guard.case import Case, Why, found_at
from elision.message import Address, Image, Opaque, Piece, Thinking, ToolCall, has_surrogates
from elision.overlay import original


def within_reach(case: Case) -> Why | None:
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
    if isinstance(messages[address.position].parts[address.part], Image | Opaque):
        return Why("only texts, tool results, calls and thinking can be edited")
    return None


def fits_stage(case: Case) -> Why | None:
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


def content_is_known(case: Case) -> Why | None:
    """Rule 0: host objects in new content are those that stood there; what nobody knows cannot be made up."""
    edit = case.edit
    if not isinstance(edit, Replace):
        return None
    there = case.history.messages[edit.address.position].parts[edit.address.part]
    if isinstance(there, ToolCall | Thinking):
        return _why_not_said(there, edit.content)
    stood = {id(part.raw) for part in (*original(case.history, edit.address), *found_at(case, edit.address))}
    for part in edit.content:
        if isinstance(part, ToolCall | Thinking):
            return Why("calls and thinking stay where they stand")
        made_up = isinstance(part, Opaque) if part.raw is None else id(part.raw) not in stood
        if made_up:
            return Why("its content holds an object of the host's that did not stand there")
        if isinstance(part, Image) and has_surrogates(part.url):
            return Why("the new image's URL holds a lone surrogate")
    return None


def _why_not_said(there: ToolCall | Thinking, content: tuple[Piece, ...]) -> Why | None:
    """Say why a call or thinking may not become this: calls get other arguments of the same form, thinking goes."""
    if there.fixed:
        return Why("the provider accepts it only as it came")
    if isinstance(there, Thinking):
        return Why("thinking is removed as a whole or stays as it is") if content else None
    if there.raw is None:
        return Why("the call is read from the text; there are no arguments to replace")
    match content:
        case (ToolCall(id=there.id, name=there.name, arguments=arguments, raw=raw),) if raw is there.raw:
            if isinstance(arguments, str) is isinstance(there.arguments, str):
                return None
            return Why("new arguments have the form of the old ones: an object, or a text")
    return Why("a call is replaced by itself with other arguments")
