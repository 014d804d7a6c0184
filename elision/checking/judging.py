"""Whether a canary might go, and whether it comes back."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from elision.archive.content import Content, encode, name
from elision.archive.recall import recall
from elision.chain import Chain
from elision.checking.following import Gone, Run, is_always_kept, text_of
from elision.checking.report import Fate, State
from elision.checking.script import Canary
from elision.classification.classes import REMOVING
from elision.compat import SWEAGENT, SWEAGENT_TYPES
from elision.errors import ElisionError
from elision.processor import Processor
from elision.redaction import redact_content
from elision.registry import plugins
from elision.report import AppliedEdit, Refusal, SentView

_TRUE_OPERATION = "declare what it does to a result (truncate, clear …), so that the table is asked"


@dataclass(frozen=True, slots=True)
class _Verdict:
    """What is to be said of a canary that went."""

    state: State
    why: str = ""
    advice: str = ""


def fates(run: Run, canaries: list[Canary], gone: list[Gone], last: SentView) -> Iterator[Fate]:
    """Yield what became of each canary."""
    by_line = {each.canary.line: each for each in gone}
    for canary in canaries:
        found = by_line.get(canary.line)
        if found is not None:
            yield _fate(run, found)
        else:
            yield Fate(canary.of, canary.where, run.dialect.name, "kept", by=_kept_by(run, canary, last))


def own_of_sweagent(chain: Chain, processor: Processor) -> bool:
    """Whether a processor has SWE-agent's exemptions from the table."""
    kind = processor.type_name
    built_in = plugins().owner("elision_processors", kind) == "builtin"
    return chain.compat == SWEAGENT and kind in SWEAGENT_TYPES and built_in


def _kept_by(run: Run, canary: Canary, last: SentView) -> str:
    """Name the rule that refused to let an observation go, if a processor wanted that."""
    paired = run.paired.get(canary.of)
    if paired is None:
        return ""
    places = {tuple(paired.address), (run.history.steps[paired.step].start, None)}
    refused: list[Refusal] = [each for each in last.refusals if (each.position, each.part) in places]
    return f"{refused[0].rule} refused {refused[0].processor}" if refused else ""


def _fate(run: Run, gone: Gone) -> Fate:
    canary, processors = gone.canary, run.chain.processors
    if not processors:
        return Fate(canary.of, canary.where, run.dialect.name, "lost", gone.step, problem="the engine lost it")
    processor, edit = processors[gone.culprit], run.edit(gone)
    verdict = _may_go(run, gone, processor)
    if verdict.state == "removed":
        verdict = _comes_back(run, gone, edit)
    by, ref = f"{processor.type_name} ({processor.operation})", edit.ref if edit else ""
    told = f"{by} took it out: {verdict.why}; ref {ref or 'none'}; {verdict.advice}" if verdict.why else ""
    return Fate(canary.of, canary.where, run.dialect.name, verdict.state, gone.step, by, ref, told)


def _may_go(run: Run, gone: Gone, processor: Processor) -> _Verdict:
    """Judge by what the processor says of itself, by the table and by what was known at that step."""
    name, exempt = gone.canary.of, own_of_sweagent(run.chain, processor)
    # As the guard has it: what only changes the form loses no text, else it is a cut.
    operation = "truncate" if processor.operation == "convert" else processor.operation
    if is_always_kept(name):
        return _Verdict("lost", f"the {name} is always kept", "mend the processor")
    if operation == "redact" and processor.view_policy == "full":
        return _Verdict("withheld")
    if not run.chain.opened_archive.keeps:
        return _Verdict("lost", "archive: none, so nothing may be removed", "mend the processor, or name an archive")
    if operation not in REMOVING and not exempt:
        secrets = " but secrets" if operation == "redact" else ""
        return _Verdict("lost", f"the operation '{operation}' takes out nothing{secrets}", _TRUE_OPERATION)
    refusal = "" if exempt else _refusal(run, gone, operation)
    return _Verdict("lost", refusal, "mend the processor") if refusal else _Verdict("removed")


def _refusal(run: Run, gone: Gone, operation: str) -> str:
    """Say why the table forbids it; nothing where it does not."""
    table, standing = run.standing.table, run.standing
    if table is None:
        return ""
    newest, paired = run.advance(gone.stop), run.paired[gone.canary.of]
    return table.verdict(operation, standing.classes(paired), standing.facts(paired, newest)).reason


def _comes_back(run: Run, gone: Gone, edit: AppliedEdit | None) -> _Verdict:
    """Look for the original in the archive: the same bytes, and the canary in what is recalled."""
    advice = "see what is with the archive (elision archive verify)"
    if edit is None or not edit.ref:
        return _Verdict("lost", "no edit with a ref says so", "mend the processor")
    archive, expected = run.chain.opened_archive, _expected(run, gone, edit)
    try:
        found = archive.get(edit.ref).content
        recalled = recall(edit.ref, page_chars=None, archive=archive)
    except ElisionError as error:
        return _Verdict("lost", f"it cannot be recalled ({error})", advice)
    wanted, got = _sha256(redact_content(expected, archive.stored)), _sha256(found)
    if wanted != got:
        return _Verdict("lost", f"recalled bytes differ (sha256 {got[:12]}, not {wanted[:12]})", advice)
    hidden = archive.stored == "full" or recalled.policy == "full"
    if gone.canary.line not in recalled.text and not hidden:
        return _Verdict("lost", "what is recalled does not have it", advice)
    return _Verdict("withheld" if hidden else "removed")


def _expected(run: Run, gone: Gone, edit: AppliedEdit) -> Content:
    paired = run.paired[gone.canary.of]
    if edit.action == "drop":
        step = run.history.steps[paired.step]
        return list(run.messages[step.start : step.stop])
    return text_of(run.history, paired)


def _sha256(content: Any) -> str:
    if isinstance(content, str):
        return hashlib.sha256(content.encode("utf-8", "surrogatepass")).hexdigest()
    return name(*encode(content))
