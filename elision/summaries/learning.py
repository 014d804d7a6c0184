"""What one step said, learned from its originals; where the chain redacts, from what redaction has left of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from elision.errors import ArchiveError
from elision.history import History, Paired, Step
from elision.message import Address, Text, ToolResult, plain
from elision.overlay import content_at
from elision.placeholders.calls import call_text, tool_name
from elision.standing import RECEIPT, SKILL
from elision.summaries.digest import Digest
from elision.summaries.seen import Seen
from elision.summaries.statements import stated_in
from elision.summaries.wording import (
    exit_code,
    failing_tests,
    findings_in,
    identifiers_in,
    laid_down_in,
    line_of,
    reads_as_passed,
    revision,
    verbatim,
)

if TYPE_CHECKING:
    from elision.view import View

_TIMES = ("timestamp", "created_at", "time", "date")
_SAID_CHARS = 300
_STATED_CHARS = 4000
_NAMES = 200
"""What is kept word for word of one step: a model that writes a book is not kept whole."""


@dataclass(frozen=True, slots=True)
class StepFacts:
    """What there is to know of one step.

    ``writes`` are resources that it has written, ``done`` says what its receipts do, ``checks`` whether it has run
    something, such as tests, that did not fail, and ``loads`` are the skills that it has loaded, with their versions.
    """

    number: int
    ref: str
    said: str
    rules: tuple[str, ...]
    names: tuple[str, ...]
    digests: tuple[Digest, ...]
    failing: tuple[str, ...]
    files: tuple[str, ...]
    writes: tuple[str, ...]
    checks: bool
    done: tuple[str, ...]
    loads: tuple[str, ...]

    @property
    def must_keep(self) -> tuple[str, ...]:
        """What has to stand in every summary of it, word for word."""
        return (*self.rules, *self.failing, *self.names)


def learned(view: View, number: int) -> StepFacts:
    """Return what there is to know of a step."""
    known = view.memory.summed.learned
    found: StepFacts | None = known.get(number)
    if found is None:
        found = _learn(view, view.history.steps[number])
        if found.ref:
            known[number] = found
    return found


def up_to_date(view: View, facts: StepFacts, first: Seen) -> StepFacts:
    """Return what is known of a step, with what has become outdated since, and where it was first seen."""
    outdated = [view.standing.superseded(paired) for paired in results_in(view, view.history.steps[facts.number])]
    if len(outdated) != len(facts.digests):
        return facts
    digests = [
        each.model_copy(
            update={"outdated": now, "time": each.time or first.times.get(facts.number, ""), "session": first.session}
        )
        for each, now in zip(facts.digests, outdated, strict=True)
    ]
    return replace(facts, digests=tuple(digests))


def results_in(view: View, step: Step) -> list[Paired]:
    """Return the results of a step that there are by now, in the order of its calls."""
    found = (view.history.paired[address] for address in step.results if address is not None)
    return [paired for paired in found if paired.address.position < view.moment.stop]


def _learn(view: View, step: Step) -> StepFacts:
    said = said_in(view, step)
    ref = _ref(view, step.index)
    results = results_in(view, step)
    texts = [source(view, paired.address) for paired in results]
    classes = [view.standing.classes(paired) for paired in results]
    receipts = [
        (paired, text)
        for paired, names, text in zip(results, classes, texts, strict=True)
        if RECEIPT in names and not _failed(view, paired, text)
    ]
    return StepFacts(
        number=step.index,
        ref=ref,
        said=line_of(said, _SAID_CHARS),
        rules=tuple(map(verbatim, stated_in(said, _STATED_CHARS))),
        names=tuple(map(verbatim, identifiers_in(said)[:_NAMES])),
        digests=tuple(_digest(view, each, text, ref) for each, text in zip(results, texts, strict=True)),
        failing=tuple(verbatim(name) for text in texts for name in failing_tests(text)[:_NAMES]),
        files=tuple(dict.fromkeys(filter(None, (_resource(view, paired) for paired in results)))),
        writes=tuple(filter(None, (_resource(view, paired) for paired, _ in receipts))),
        checks=any(
            "dynamic" in names and "error" not in names and reads_as_passed(text)
            for names, text in zip(classes, texts, strict=True)
        ),
        done=tuple(_receipt(paired, text) for paired, text in receipts),
        loads=tuple(
            _skill(view, paired, text)
            for paired, names, text in zip(results, classes, texts, strict=True)
            if SKILL in names
        ),
    )


def said_in(view: View, step: Step) -> str:
    """Return what the model said in a step."""
    history = view.history
    return "\n".join(
        source(view, Address(position, index))
        for position in range(step.start, step.acted)
        for index, part in enumerate(history.messages[position].parts)
        if isinstance(part, Text)
    )


def source(view: View, address: Address) -> str:
    """Return the text that the host gave at an address, as far as the chain lets the model see it."""
    return plain(content_at(view.history, view.overlay, address, _redacted_by(view)))


def _redacted_by(view: View) -> int:
    """Return the last stage that redacts; -1 where none does, which no version is older than."""
    scheduler = view.memory.scheduler
    return scheduler.redacts_at if scheduler is not None else -1


def _digest(view: View, paired: Paired, text: str, ref: str) -> Digest:
    call = paired.call
    name = tool_name(call.name) if call else ""
    part = view.history.messages[paired.address.position].parts[paired.address.part]
    status = part.status if isinstance(part, ToolResult) else None
    code = exit_code(text)
    return Digest(
        step=paired.step + 1,
        tool=name or "output",
        call=call_text(call.name if call else "", call.arguments if call else None),
        status=status or ("not said" if code is None else "error" if code else "ok"),
        exit_code=code,
        lines=text.count("\n") + bool(text and not text.endswith("\n")),
        chars=len(text),
        findings=tuple(findings_in(text)) or (("nothing but blanks",) if text else ()),
        lays_down=tuple(laid_down_in(text)),
        sha256=_sha256(text),
        ref=ref or "none",
        classes=tuple(sorted(view.standing.classes(paired))),
        outdated=view.standing.superseded(paired),
        time=_time(view.history, paired),
        revision=revision(text),
    )


def _time(history: History, paired: Paired) -> str:
    """Return the time that the host has put into the message; never that of now."""
    raw = history.messages[paired.address.position].raw
    for name in _TIMES if isinstance(raw, Mapping) else ():
        found: Any = raw.get(name)
        if isinstance(found, str | int | float) and not isinstance(found, bool):
            return line_of(str(found), 40)
    return ""


def _resource(view: View, paired: Paired) -> str:
    """Return the file, or whatever else its rule names, that a call is about; nothing for a query of its own."""
    table = view.standing.table
    if table is None or paired.call is None:
        return ""
    found = table.resource(paired.call)
    return "" if found is None or found == table.same_call(paired.call) else line_of(found)


def _sha256(text: str) -> str:
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _failed(view: View, paired: Paired, text: str) -> bool:
    """Whether a call failed, as far as its host or its exit code says."""
    part = view.history.messages[paired.address.position].parts[paired.address.part]
    return getattr(part, "status", None) == "error" or bool(exit_code(text))


def _receipt(paired: Paired, text: str) -> str:
    call = paired.call
    shown = call_text(call.name, call.arguments) if call else "output"
    return f"step {paired.step + 1}: {shown}: {line_of(text)}" if text.strip() else f"step {paired.step + 1}: {shown}"


def _skill(view: View, paired: Paired, text: str) -> str:
    given = paired.call.arguments.get("version") if paired.call and isinstance(paired.call.arguments, Mapping) else None
    version = given if isinstance(given, str) and given else _sha256(text)[:12]
    name = _resource(view, paired) or call_text(paired.call.name if paired.call else "", None)
    return f"{name}, version {line_of(version, 40)}"


def _ref(view: View, number: int) -> str:
    """Return the name that the step's original has in the archive, or will have; nothing where it has none."""
    sealed = view.originals.sealed(view.history, number)
    return "" if isinstance(sealed, ArchiveError) else sealed.ref
