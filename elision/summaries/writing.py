"""The text of a summary: from what was learned of its steps, as long as it may be, and checked before it is used."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from elision.placeholders.calls import call_text
from elision.summaries.digest import FULL, MINIMAL, SHORT, Digest, problem_of
from elision.summaries.learning import StepFacts, learned, up_to_date
from elision.summaries.measuring import user_texts
from elision.summaries.rendering import render_summary
from elision.summaries.seen import first_seen
from elision.summaries.wording import line_of, missing
from elision.tokens import count_text

if TYPE_CHECKING:
    from elision.view import View

_DETAILS = ((FULL, FULL), (SHORT, FULL), (SHORT, SHORT), (MINIMAL, SHORT), (MINIMAL, MINIMAL), (-1, MINIMAL), (-1, -1))
"""How much is told of the older half of the steps, and of the newer: the first that is short enough."""

_GOAL_CHARS = 200
_FILES = 20
_KEPT = 20


class SummaryError(Exception):
    """A summary cannot be used; the message says why."""


@dataclass(frozen=True, slots=True)
class Draft:
    """What a summary is written from: its steps (with those that overlap), and how long it may be."""

    facts: Sequence[StepFacts]
    kept: Sequence[str]
    must_keep: Sequence[str]
    goal: str
    way_back: str
    most_tokens: int
    session: str = ""


def draft_of(view: View, steps: Sequence[int], kept: Sequence[int], must_keep: Sequence[str], most: int) -> Draft:
    """Return what a summary of some steps is written from; ``kept`` are those between them that stand."""
    first = first_seen(view, steps)
    facts = [up_to_date(view, learned(view, number), first) for number in steps]
    asked = user_texts(view)
    wanted = [fact for each in facts for fact in each.must_keep]
    return Draft(
        facts=facts,
        kept=[_named(view, number) for number in kept[:_KEPT]],
        must_keep=list(dict.fromkeys([*wanted, *_found(view, steps, must_keep)])),
        goal=line_of(_goal(asked), _GOAL_CHARS),
        way_back=_way_back(view, [each.ref for each in facts]),
        most_tokens=most,
        session=first.session,
    )


def _goal(asked: Sequence[tuple[int, str]]) -> str:
    """Return the end of the first message: hosts put what they add of their own before what the user said."""
    return next((text for position, text in reversed(asked) if position == asked[0][0]), "")


def _found(view: View, steps: Sequence[int], wanted: Sequence[str]) -> list[str]:
    """Return those of the user's facts that stand in the originals of some steps."""
    if not wanted:
        return []
    from elision.summaries.transcript import said_at

    text = "\n".join(said_at(view, number) for number in steps)
    return [fact for fact in wanted if fact in text]


def _named(view: View, number: int) -> str:
    calls = [call_text(call.name, call.arguments) for _, call in view.history.steps[number].calls]
    return f"step {number + 1}{f' ({calls[0]})' if calls else ''}"


def _way_back(view: View, refs: Sequence[str]) -> str:
    tool = view.request.recall_tool
    some = next((ref for ref in refs if ref), "")
    if not some:
        return "the host has them"
    named = f"{tool} REF gives one back whole" if tool else "each is in the archive under its ref"
    return f"{named}, such as {tool} {some}" if tool else f"{named}, such as {some}"


def written(draft: Draft, template: str, model: str | None, told: str = "") -> str:
    """Return the text, with everything that has to be in it; ``told`` is what a model has written."""
    problem = _unfit(draft.facts)
    if problem:
        raise SummaryError(problem)
    text = ""
    for older, newer in _DETAILS:
        facts = _shown(draft, older, newer, told)
        text = render_summary(template, {**facts, "must_keep": []})
        left = missing(draft.must_keep, text)
        if left:
            text = render_summary(template, {**facts, "must_keep": left})
        text = _with_missing(text, draft.must_keep)
        if count_text(text, model) <= draft.most_tokens:
            break
    return text


def _with_missing(text: str, facts: Sequence[str]) -> str:
    """Return a text with what it still lacks at its end: a template of the user's own may show less."""
    left = missing(facts, text)
    return "\n".join([text, "Word for word:", *(f"- {fact}" for fact in left)]) if left and text.strip() else text


def _shown(draft: Draft, older: int, newer: int, told: str) -> Mapping[str, Any]:
    facts, half = draft.facts, len(draft.facts) // 2
    digests, said = list[str](), list[str]()
    for place, each in enumerate(facts):
        detail = older if place < half else newer
        if told:
            detail = min(detail, MINIMAL)
        digests += _lines(each, detail)
        if each.said and not told and detail >= MINIMAL:
            said.append(f"step {each.number + 1}: {each.said if detail > MINIMAL else line_of(each.said, 80)}")
    files = list(dict.fromkeys(name for each in facts for name in each.files))
    return {
        "first": facts[0].number + 1,
        "last": facts[-1].number + 1,
        "kept": draft.kept,
        "told": told,
        "goal": "" if told else draft.goal,
        "said": said,
        "digests": digests,
        "files": [*files[:_FILES], "…"] if len(files) > _FILES else files,
        "session": draft.session,
        "way_back": draft.way_back,
    }


def _lines(facts: StepFacts, detail: int) -> list[str]:
    if detail >= MINIMAL:
        return [each.line(detail) for each in facts.digests]
    calls = [each.tool if each.status != "error" else f"{each.tool} (failed)" for each in facts.digests]
    says = [line for each in facts.digests for line in each.lays_down]
    said = f"; says {' | '.join(dict.fromkeys(says))}" if says else ""
    return [f"step {facts.number + 1}: {', '.join(calls)}{said}; ref {facts.ref}"] if calls else []


def _unfit(facts: Sequence[StepFacts]) -> str:
    """Say why a digest does not pass its schema; nothing where all do."""
    for each in facts:
        for digest in each.digests:
            try:
                Digest.model_validate(digest.model_dump())
            except ValidationError as error:
                return f"the digest of step {each.number + 1} is not fit: {problem_of(error)}"
    return ""


def skills_of(facts: Sequence[StepFacts]) -> list[str]:
    """Return the skills that steps have loaded, with their versions."""
    return list(dict.fromkeys(name for each in facts for name in each.loads))
