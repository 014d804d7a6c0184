"""A summary when it is due: the steps that it stands for go, and it comes before the first of them, all at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from elision.edits import Drop, Edit, Insert
from elision.errors import ArchiveError
from elision.summaries.asking import Asked, answer, probed
from elision.summaries.learning import learned
from elision.summaries.measuring import between, look, measure_of, position_of, size_of, tokens_of, user_texts
from elision.summaries.rendering import render_summary
from elision.summaries.summed import Span
from elision.summaries.transcript import CHARS_A_TOKEN, transcript
from elision.summaries.triggers import Measure, SummaryCondition, SummaryTriggers
from elision.summaries.writing import Draft, SummaryError, draft_of, written
from elision.tokens import count_text

if TYPE_CHECKING:
    from elision.scheduler import RunSize
    from elision.view import View

MOST_USELESS = 2
"""Useless runs after which a model is not asked any more."""

MOST_SUMMARIES = 8
"""Summaries that stand at once; the next one takes the place of all."""

_LEAST_SHARE = 10
"""The part of a limit that a summary has to take out at least: else each step would be a break."""

_MERGED_SHARE = 2
"""The part of what all summaries may have that one has which replaces them."""


@dataclass(frozen=True, slots=True)
class SummarySpec:
    """How one processor summarises."""

    name: str
    triggers: SummaryTriggers
    keep_first_steps: int = 1
    keep_last_steps: int = 1
    keep_last_tokens: int | None = None
    shrink_to_share: float | None = None
    interval_steps: int | None = None
    overlap_steps: int = 0
    max_tokens: int = 2000
    max_total_tokens: int = 8000
    clear_at_least_tokens: int = 0
    must_keep: Sequence[str] = ()
    carry_files: int = 0
    template: str = "summary"
    prompt: str = "prompt"
    asked: Asked | None = None
    max_input_tokens: int = 30_000
    probe: Asked | None = None


class NoShorterError(SummaryError):
    """The text is no shorter than the steps."""


@dataclass(slots=True)
class _Round:
    """One summary in the making; ``replaced`` are the earlier ones that it takes the place of."""

    steps: list[int]
    shown: list[int]
    kept: list[int]
    tokens: int
    replaced: list[Span] = field(default_factory=list)


def summary_edits(view: View, spec: SummarySpec) -> list[Edit]:
    """Return the summary that is due now and the steps that go for it; nothing where none is, or none is any use."""
    size = size_of(view)
    if size is None or not _has_entered_a_step(view):
        return []
    look(view)
    summed = view.memory.summed
    if size.settled or (spec.asked is not None and summed.useless >= MOST_USELESS):
        return []
    places = _due_places(view, spec, size)
    if not places:
        return []
    hindered = _hindered(view, summed.numbers[places[0]])
    return _made(view, spec, size, places) if hindered is None else hindered


def _due_places(view: View, spec: SummarySpec, size: RunSize) -> range:
    """Return which of the steps that may go are summed up now; none where that is not due, or frees too little."""
    summed, measure = view.memory.summed, measure_of(view, size)
    places = between(view, size, spec.keep_first_steps, spec.keep_last_steps, spec.keep_last_tokens)
    places = _shrunk(view, spec, places)
    if not _due(spec, measure, len(places)):
        return range(0)
    if not places:
        _tell_of_fixed(view, spec, measure, size)
        return places
    wanted = (_fewest_steps(each) for each in _conditions(spec.triggers) if each.limits)
    fewest = max(summed.wait_for, min(wanted, default=0))
    enough = len(places) >= fewest and _least(spec, measure) <= _spanned(view, size, places)
    return places if enough else range(0)


def _has_entered_a_step(view: View) -> bool:
    """Whether it is a step that has just come in, or the turn is over and bound thinking may go."""
    stop = view.moment.stop
    return stop > 0 and (view.history.step_of[stop - 1] is not None or view.binding.closed)


def _due(spec: SummarySpec, measure: Measure, steps: int) -> bool:
    if spec.interval_steps is not None and steps >= spec.interval_steps:
        return True
    return spec.triggers.due(measure)


def _shrunk(view: View, spec: SummarySpec, places: range) -> range:
    """Leave so many of the newest steps out that a share of all stands, the first ones included."""
    if spec.shrink_to_share is None:
        return places
    numbers = view.memory.summed.numbers
    left = max(int((len(numbers) + 1) * spec.shrink_to_share), places.start + 1)
    return range(places.start, max(places.start, min(places.stop, len(numbers) + 1 - (left - places.start))))


def _least(spec: SummarySpec, measure: Measure) -> int:
    """Return the tokens that have to go at least: a summary that frees too little is due again at once."""
    limits = [each for each in (_trigger_tokens(one, measure) for one in _conditions(spec.triggers)) if each]
    return max([spec.clear_at_least_tokens, *([min(limits) // _LEAST_SHARE] if limits else [])])


def _fewest_steps(condition: SummaryCondition) -> int:
    """Return the steps that have to go at least; each has two messages or more."""
    return max((condition.trigger_steps or 0) // _LEAST_SHARE, (condition.trigger_messages or 0) // _LEAST_SHARE // 2)


def _conditions(triggers: SummaryTriggers) -> list[SummaryCondition]:
    return [triggers, *triggers.any_of, *triggers.all_of]


def _trigger_tokens(condition: SummaryCondition, measure: Measure) -> int:
    window = measure.window_tokens or 0
    shares = [share for share in (condition.trigger_share, condition.history_share) if share is not None]
    found = [condition.trigger_tokens or 0, *(int(share * window) for share in shares)]
    return min((each for each in found if each), default=0)


def _spanned(view: View, size: RunSize, places: range) -> int:
    """Return the tokens from the first of some steps to the last."""
    steps, numbers = view.history.steps, view.memory.summed.numbers
    return size.weights.upto(steps[numbers[places[-1]]].stop) - size.weights.upto(steps[numbers[places[0]]].start)


def _hindered(view: View, first: int) -> list[Edit] | None:
    """Return what is proposed where nothing can go: one step, so that the report says why; ``None`` where it can."""
    if view.request.owner == "provider" or not view.originals.archive.keeps:
        return [Drop(first, "summarised")]
    if view.originals.trouble:
        return []
    binding = view.binding
    comes = Insert(position_of(view, first), "user", "-")
    if binding.closed or binding.policy == "request_drop_block" or not binding.would_break(comes, "history"):
        return None
    # With drop_thinking a refused edit would be made by itself at the end of the turn.
    return [] if binding.policy == "drop_thinking" else [Drop(first, "summarised")]


def _tell_of_fixed(view: View, spec: SummarySpec, measure: Measure, size: RunSize) -> None:
    """Say once where what no summary can take out is over the limit by itself."""
    limit, summed = _trigger_tokens(spec.triggers, measure), view.memory.summed
    steps = view.history.steps
    fixed = measure.beside_tokens + (size.weights.upto(steps[0].start) if steps else measure.messages_tokens)
    if limit and fixed >= limit and not summed.told_of_fixed:
        summed.told_of_fixed = True
        raise SummaryError(
            f"the trigger is at {limit} tokens, and the system prompt, the tools and what stands before the first step "
            f"have {fixed} by themselves: nothing can be summarised; raise the trigger"
        )


def _made(view: View, spec: SummarySpec, size: RunSize, places: range) -> list[Edit]:
    """Make a summary; note a run that was of no use, and say why."""
    summed = view.memory.summed
    try:
        found = _round(view, spec, size, places)
        if found is None:
            return []
        text = _text(view, spec, found)
    except (SummaryError, ValueError) as error:
        summed.useless += 1
        summed.wait_for = 2 * len(places) if spec.asked is None else 0
        if spec.asked is None and isinstance(error, NoShorterError):
            # Short steps say no more than their digests: it is too early, and nothing has failed.
            return []
        if spec.asked is not None and summed.useless >= MOST_USELESS:
            told = f"after {MOST_USELESS} useless runs it is not tried again in this run"
            raise SummaryError(f"{error}; {told}") from None
        raise SummaryError(str(error)) from None
    return _edits(view, spec, found, text)


def _round(view: View, spec: SummarySpec, size: RunSize, places: range) -> _Round | None:
    """Return what is to be summed up: the steps that the guard lets go, those between that stay, those that overlap."""
    summed = view.memory.summed
    due = [summed.numbers[place] for place in places]
    carried = _carried(view, spec.carry_files)
    steps = [number for number in due if number not in carried and not view.why_refused(Drop(number))]
    if view.originals.trouble or not steps:
        _set_aside(view, due, carried)
        return None
    tokens = sum(tokens_of(view, size, number) for number in steps)
    overlap = range(max(0, steps[0] - spec.overlap_steps), steps[0])
    shown = [number for number in overlap if view.overlay.is_dropped(number)] + steps
    found = _Round(steps, shown, [], tokens)
    total = spec.max_tokens + sum(span.tokens for span in summed.spans)
    if summed.spans and (total > spec.max_total_tokens or len(summed.spans) >= MOST_SUMMARIES):
        found.replaced = list(summed.spans)
        found.tokens += sum(span.tokens for span in summed.spans)
        before = {number for span in summed.spans for number in span.steps}
        found.shown = sorted({*before, *shown})
    gone = {*found.shown, *steps}
    history = view.history.steps[found.shown[0] : found.shown[-1] + 1]
    found.kept = [
        step.index
        for step in history
        if not step.demo and step.index not in gone and not view.overlay.is_dropped(step.index)
    ]
    return found


def _set_aside(view: View, due: Sequence[int], carried: set[int]) -> None:
    """Look at steps that the guard keeps again only when what is known of them has changed."""
    if not view.originals.trouble:
        summed = view.memory.summed
        kept = {number for number in due if number not in carried}
        summed.numbers = [number for number in summed.numbers if number not in kept]
        summed.held |= kept


def _carried(view: View, most: int) -> set[int]:
    """Return the steps in which the files that were used last were used last."""
    found: dict[str, int] = {}
    for step in reversed(view.history.steps[: view.moment.steps]):
        if len(found) >= most:
            break
        if not step.demo and not step.open_at(view.moment.stop):
            for name in learned(view, step.index).files:
                if len(found) < most:
                    found.setdefault(name, step.index)
    return set(found.values())


def _text(view: View, spec: SummarySpec, found: _Round) -> str:
    """Return the text of a summary that has passed every gate."""
    most = spec.max_total_tokens // _MERGED_SHARE if found.replaced else spec.max_tokens
    draft = draft_of(view, found.shown, found.kept, spec.must_keep, min(most, found.tokens - 1))
    told = _told(view, spec, found, draft) if spec.asked is not None else ""
    text = _checked(view, found, written(draft, spec.template, view.model, told))
    if spec.probe is not None:
        lacking = probed(view, spec.probe, text, draft.must_keep)
        if lacking:
            text = _checked(view, found, "\n".join([text, "Word for word:", *(f"- {fact}" for fact in lacking)]))
    return text


def _checked(view: View, found: _Round, text: str) -> str:
    """Return a text that is neither empty nor longer than what it stands for."""
    if not text.strip():
        raise SummaryError("the summary is empty")
    tokens = count_text(text, view.model)
    if tokens >= found.tokens:
        raise NoShorterError(f"the summary has {tokens} tokens, no fewer than what it would stand for ({found.tokens})")
    return text


def _told(view: View, spec: SummarySpec, found: _Round, draft: Draft) -> str:
    """Return what a model writes about the originals of the steps."""
    assert spec.asked is not None  # noqa: S101 (the caller's)
    sealed = [view.originals.sealed(view.history, number) for number in found.shown]
    content = ",".join("" if isinstance(each, ArchiveError) else each.sha256 for each in sealed)

    def prompt(share: int) -> str:
        chars = spec.max_input_tokens * CHARS_A_TOKEN // share
        said = [text for _, text in user_texts(view)]
        facts = {
            "asked": transcript_of(said, chars // 4),
            "first": found.shown[0] + 1,
            "last": found.shown[-1] + 1,
            "transcript": transcript(view, found.shown, chars * 3 // 4),
            "must_keep": list(draft.must_keep),
            "max_tokens": spec.max_tokens,
        }
        return render_summary(spec.prompt, facts)

    return answer(view, spec.asked, content, [lambda: prompt(1), lambda: prompt(2)]).strip()


def transcript_of(texts: Sequence[str], most_chars: int) -> list[str]:
    """Return texts of the user, the newest last, each cut so that all fit."""
    from elision.summaries.transcript import cut

    each = max(most_chars // max(len(texts), 1), 200)
    return [f"user: {cut(text, each)}" for text in texts]


def _edits(view: View, spec: SummarySpec, found: _Round, text: str) -> list[Edit]:
    summed = view.memory.summed
    replaced = found.replaced
    position = min([position_of(view, found.steps[0]), *(span.position for span in replaced)])
    summed.made += 1
    key = f"{spec.name}:{view.stage}:{summed.made}"
    gone = [*(number for span in replaced for number in span.steps), *found.steps]
    span = Span(key, found.shown[0], found.shown[-1] + 1, tuple(gone), position, count_text(text, view.model))
    summed.spans = [*(each for each in summed.spans if each not in replaced), span]
    covered = set(found.steps)
    summed.numbers = [number for number in summed.numbers if number not in covered]
    summed.useless = summed.wait_for = 0
    if view.memory.scheduler is not None:
        view.memory.scheduler.act()
    covers = f"steps {span.first + 1}-{span.stop}"
    return [
        Insert(position, "user", text, "summary", f"stands for {covers}", key, tuple(each.key for each in replaced)),
        *(Drop(number, f"in the summary of {covers}") for number in found.steps),
    ]
