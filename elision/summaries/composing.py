"""The text of one summary: written, checked, and what a model is asked for it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING

from elision.summaries.asking import Asked, Asking, Query, probed, query
from elision.summaries.measuring import user_texts
from elision.summaries.rendering import render_summary
from elision.summaries.seen import prefixes_of
from elision.summaries.spec import SummarySpec
from elision.summaries.summed import Covered
from elision.summaries.transcript import cut, fitting, transcript
from elision.summaries.writing import Draft, SummaryError, draft_of, written
from elision.tokens import count_text

if TYPE_CHECKING:
    from elision.view import View


_LEAST_ASKED = 200


class NoShorterError(SummaryError):
    """The text is no shorter than the steps."""


@dataclass(frozen=True, slots=True)
class Round:
    """One summary in the making: what it covers, the steps between that stay, the tokens of what goes, and its own."""

    covered: Covered
    kept: Sequence[int]
    tokens: int
    most_tokens: int


def text_of(view: View, spec: SummarySpec, found: Round, asking: Asking, asked: Query | None = None) -> str:
    """Return the text of a summary that has passed every gate; ``asked`` is what a model has been asked before."""
    draft = _draft(view, spec, found)
    told = ""
    if spec.asked is not None:
        told = asking(asked or _query(view, spec, spec.asked, found, draft)).strip()
        _no_longer(view, found, told, f"what {spec.asked.name} gave")
    text = _checked(view, found, written(draft, spec.template, view.model, told))
    if spec.probe is not None:
        lacking = probed(asking, spec.probe, text, draft.must_keep)
        if lacking:
            text = _checked(view, found, "\n".join([text, "Word for word:", *(f"- {fact}" for fact in lacking)]))
    return text


def query_of(view: View, spec: SummarySpec, asked: Asked, found: Round) -> Query:
    """Return what a model is asked about the originals of the steps."""
    return _query(view, spec, asked, found, _draft(view, spec, found))


def _draft(view: View, spec: SummarySpec, found: Round) -> Draft:
    return draft_of(view, found.covered.shown, found.kept, spec.must_keep, found.most_tokens)


def _query(view: View, spec: SummarySpec, asked: Asked, found: Round, draft: Draft) -> Query:
    steps, prefixes = view.history.steps, prefixes_of(view)
    content = ",".join(prefixes.of(steps[number].start, steps[number].stop).hex() for number in found.covered.shown)

    said = [text for _, text in user_texts(view)]

    def made(chars: int) -> str:
        facts = {
            "asked": _asked(said, chars // 4),
            "first": found.covered.shown[0] + 1,
            "last": found.covered.shown[-1] + 1,
            "transcript": transcript(view, found.covered.shown, chars * 3 // 4),
            "must_keep": _as_many(draft.must_keep, chars // 4),
            "max_tokens": spec.max_tokens,
        }
        return render_summary(spec.prompt, facts)

    def prompt(share: int) -> str:
        return fitting(made, spec.max_input_tokens // share, asked.model or view.model)

    return query(asked, content, [lambda: prompt(1), lambda: prompt(2)])


def _asked(texts: Sequence[str], most_chars: int) -> list[str]:
    """Return texts of the user, the newest last, each cut so that all fit; where they are many, the first and those."""
    many = max(most_chars // _LEAST_ASKED, 1)
    shown = texts if len(texts) <= many else [texts[0], *texts[len(texts) - many + 1 :]]
    each = max(most_chars // max(len(shown), 1), _LEAST_ASKED)
    return [f"user: {cut(text, each)}" for text in shown]


def _as_many(facts: Sequence[str], most_chars: int) -> list[str]:
    """Return the first facts, as many as there is room for: what is not in the answer is added to it."""
    lengths = accumulate(len(fact) for fact in facts)
    return [fact for fact, length in zip(facts, lengths, strict=True) if length <= most_chars]


def _checked(view: View, found: Round, text: str) -> str:
    """Return a text that is neither empty nor longer than what it stands for."""
    if not text.strip():
        raise SummaryError("the summary is empty")
    _no_longer(view, found, text, "the summary")
    return text


def _no_longer(view: View, found: Round, text: str, what: str) -> None:
    tokens = count_text(text, view.model)
    if tokens >= found.tokens:
        raise NoShorterError(f"{what} has {tokens} tokens, no fewer than what it would stand for ({found.tokens})")
