"""Which processor of a chain took a line out of a request."""

from __future__ import annotations

from elision.history import History
from elision.message import Address
from elision.needle import Needle, parts_of
from elision.report import SentView
from elision.sent_request import SentRequest
from elision.session import Session


def taker(line: str, history: History, view: SentView, session: Session) -> int | None:
    """Return the place in the chain of the processor whose edit took a line out of the last request of a session.

    ``None`` where no edit did.
    """
    fold, outgoing, needle = session.fold, session.outgoing, Needle(line)
    if fold is None or outgoing is None:
        return None
    now = SentRequest(view, fold, outgoing, needle)
    names = [processor.type_name for processor in session.chain.processors]
    for address in _places(needle, history, len(view.history)):
        step = history.step_of[address.position] if address not in history.paired else history.paired[address].step
        taken: int | None = None
        for _, stage, content in now.contents(address, step):
            if needle.count(content):
                taken = None
            elif taken is None:
                taken = stage if content is not None else _dropper(view, history, step, names)
        if taken is not None:
            return taken
    return None


def _places(needle: Needle, history: History, stop: int) -> list[Address]:
    return [
        Address(position, index)
        for position, message in enumerate(history.messages[:stop])
        for index, part in enumerate(message.parts)
        if parts_of([part]) and needle.count(part)
    ]


def _dropper(view: SentView, history: History, step: int | None, names: list[str]) -> int | None:
    """Return who dropped a step."""
    start = None if step is None else history.steps[step].start
    by = {edit.processor for edit in view.edits if edit.action == "drop" and edit.position == start}
    return next((index for index, name in enumerate(names) if name in by), None)
