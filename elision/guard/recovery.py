"""Rule 5: the original is kept before it leaves the view, and something can bring it back."""

from __future__ import annotations

from typing import TYPE_CHECKING

from elision.edits import Drop, Edit, Pointer, Replace
from elision.guard.case import Case, Why
from elision.history import Paired
from elision.moment import Request
from elision.pairing import is_said
from elision.processor import Processor

if TYPE_CHECKING:
    from elision.classification import Table


def way_back(case: Case) -> Why | None:
    """Rule 5: a placeholder is written only if something that the request offers can bring its original back."""
    edit = case.edit
    if not isinstance(edit, Replace) or not edit.elides or case.sweagent:
        return None
    if isinstance(edit.template, Pointer):
        return None if file_can_be_read(case.view.standing.table, case.view.request) else Why(_NO_READER, "changed")
    paired, request = case.history.paired.get(edit.address), case.view.request
    said = is_said(case.history, edit.address)
    if can_come_back(paired, request) if paired is not None else not said or arguments_can_come_back(request):
        return None
    return Why("no tool of the request can bring it back: offer elision.recall_tool_schema()", "changed")


_NO_READER = (
    "no tool of the request can read the file or recall it: offer one that reads files, or elision.recall_tool_schema()"
)


def file_can_be_read(table: Table | None, request: Request) -> bool:
    """Whether the request, as far as it says, has a tool that reads an offloaded file, or brings the original back."""
    from elision.offloading import file_reader

    return arguments_can_come_back(request) or bool(file_reader(request.offered, table))


def can_come_back(paired: Paired, request: Request) -> bool:
    """Whether a tool that the request offers, as far as it says, brings a result back."""
    offered = request.offered
    return offered is None or bool(request.recall_tool) or (paired.call is not None and paired.call.name in offered)


def arguments_can_come_back(request: Request) -> bool:
    """Whether the request, as far as it says, has a tool that brings arguments of calls back."""
    return request.offered is None or bool(request.recall_tool)


def archive_keeps(case: Case) -> Why | None:
    """Rule 5: without an archive nothing is removed."""
    archive = case.view.originals.archive
    if isinstance(case.edit, Replace | Drop) and not archive.keeps and not redacts(case.edit, case.processor):
        return Why(archive.refusal)
    return None


def archived_first(case: Case) -> Why | None:
    """Rule 5: the original of what is replaced or dropped can go into the archive.

    What may not be seen is redacted all the same; the host still has its history.  Of an edit that waits it is asked
    when the edit is made.
    """
    if case.view.waits or not isinstance(case.edit, Replace | Drop) or redacts(case.edit, case.processor):
        return None
    why = case.view.originals.why_not(case.history, case.edit)
    return Why(why, "later" if case.view.originals.trouble else "never") if why else None


def redacts(edit: Edit, processor: Processor) -> bool:
    """Whether an edit withholds what may not be seen, and so stands whatever becomes of the archive."""
    return isinstance(edit, Replace) and not edit.elides and processor.operation == "redact"
