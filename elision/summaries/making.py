"""A summary when it is due: the steps that it stands for go, and it comes before the first of them, all at once."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from elision.edits import Drop, Edit, Insert
from elision.summaries.asking import NotYetError, at_once
from elision.summaries.awaiting import asking_for, awaited_from, has_come
from elision.summaries.composing import NoShorterError, Round, query_of, text_of
from elision.summaries.learning import learned
from elision.summaries.measuring import between, look, measure_of, position_of, size_of, tokens_of
from elision.summaries.spec import SummarySpec
from elision.summaries.summed import Awaited, Covered, Span
from elision.summaries.triggers import Measure, SummaryCondition, SummaryTriggers
from elision.summaries.writing import SummaryError
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

_LEAST_OF_STAYING = 4
"""The part of what stays that it has to take out where that is over the limit by itself."""

_LEAST_OF_STAYING_STEPS = 3
"""The part of the steps that stay that it has to take out where steps are counted."""

_SUMMARIES_SHARE = 2
"""The part of a limit that all summaries may have: they must not be what reaches it."""

_MERGED_SHARE = 2
"""The part of what all summaries may have that one has which replaces them."""


def summary_edits(view: View, spec: SummarySpec) -> list[Edit]:
    """Return the summary that is due now and the steps that go for it; nothing where none is, or none is any use."""
    size = size_of(view)
    if size is None or not _has_entered_a_step(view):
        return []
    look(view)
    summed = view.memory.summed
    if size.settled or (spec.asked is not None and summed.useless >= MOST_USELESS):
        return []
    if summed.awaited is not None:
        return _come(view, spec, size, summed.awaited)
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
    wanted = (_fewest_steps(each, measure, len(places)) for each in _conditions(spec.triggers) if each.limits)
    fewest = max(summed.wait_for, min(wanted, default=0))
    spanned = _spanned(view, size, places)
    return places if len(places) >= fewest and spanned >= _least(spec, measure, spanned) else range(0)


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


def _least(spec: SummarySpec, measure: Measure, spanned: int) -> int:
    """Return the tokens that have to go at least: a summary that frees too little is due again at once.

    Where what stays is over the limit by itself, it is due at every step, and has to pay for what it rewrites.
    """
    limit, stays = _limit(spec, measure), measure.tokens - spanned
    beyond = stays // _LEAST_OF_STAYING if limit and stays >= limit else 0
    return max(spec.clear_at_least_tokens, limit // _LEAST_SHARE, beyond)


def _limit(spec: SummarySpec, measure: Measure) -> int:
    """Return the lowest limit in tokens; 0 where there is none."""
    return min(filter(None, (_trigger_tokens(each, measure) for each in _conditions(spec.triggers))), default=0)


def _fewest_steps(condition: SummaryCondition, measure: Measure, steps: int) -> int:
    """Return the steps that have to go at least; each has two messages or more.

    A limit of steps may stand just above those that stay, and would be reached again with each step.
    """
    limit, stays = (condition.trigger_messages or 0), measure.messages - 2 * steps
    messages = max(limit // _LEAST_SHARE, stays // _LEAST_OF_STAYING if 0 < limit <= stays else 0)
    staying = math.ceil((measure.steps - steps) / _LEAST_OF_STAYING_STEPS) if condition.trigger_steps else 0
    return max((condition.trigger_steps or 0) // _LEAST_SHARE, staying, messages // 2)


def _conditions(triggers: SummaryTriggers) -> list[SummaryCondition]:
    return [triggers, *triggers.any_of, *triggers.all_of]


def _trigger_tokens(condition: SummaryCondition, measure: Measure) -> int:
    window = measure.window_tokens or 0
    shares = [share for share in (condition.trigger_share, condition.history_share) if share is not None]
    shares += [1 - condition.window_left_share] if condition.window_left_share is not None else []
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
    """Make a summary, or have one made in the background."""
    found = _round(view, spec, size, places)
    if found is None:
        return []
    if spec.asked is None or not spec.background:
        return _tried(view, spec, found, lambda: text_of(view, spec, found, at_once(view)), len(places))
    try:
        query = query_of(view, spec, spec.asked, found)
    except ValueError as error:
        raise _useless(view, spec, error) from None
    awaited = awaited_from(view, found.covered, query)
    view.memory.summed.awaited = awaited
    return _come(view, spec, size, awaited)


def _come(view: View, spec: SummarySpec, size: RunSize, awaited: Awaited) -> list[Edit]:
    """Put a summary that was asked for before where it belongs, if it has come and its steps are as they were."""
    asking = asking_for(view, awaited)
    if asking is None or _hindered(view, awaited.covered.steps[0]) is not None:
        return []
    standing = set(view.memory.summed.numbers)
    may_go = all(number in standing and not view.why_refused(Drop(number)) for number in awaited.covered.steps)
    if view.originals.trouble:
        return []
    try:
        made = text_of(view, spec, _sized(view, spec, size, awaited.covered), asking, awaited.query) if may_go else ""
    except NotYetError:
        return []
    except (SummaryError, ValueError) as error:
        has_come(view, awaited)
        raise _useless(view, spec, error) from None
    has_come(view, awaited)
    return _edits(view, spec, _sized(view, spec, size, awaited.covered), made) if made else []


def _tried(view: View, spec: SummarySpec, found: Round, text: Callable[[], str], waited: int) -> list[Edit]:
    """Return the edits of a summary; where it is of no use, note that and say why."""
    try:
        return _edits(view, spec, found, text())
    except (SummaryError, ValueError) as error:
        if spec.asked is None:
            view.memory.summed.wait_for = 2 * waited
            if isinstance(error, NoShorterError):
                # Short steps say no more than their digests: it is too early, and nothing has failed.
                return []
        raise _useless(view, spec, error) from None


def _useless(view: View, spec: SummarySpec, error: Exception) -> SummaryError:
    """Count a run that was of no use, and return what is said of it."""
    summed = view.memory.summed
    summed.useless += 1
    if spec.asked is not None and summed.useless >= MOST_USELESS:
        return SummaryError(f"{error}; after {MOST_USELESS} useless runs it is not tried again in this run")
    return SummaryError(str(error))


def _round(view: View, spec: SummarySpec, size: RunSize, places: range) -> Round | None:
    """Return what is to be summed up: the steps that the guard lets go, those between that stay, those that overlap."""
    summed = view.memory.summed
    due = [summed.numbers[place] for place in places]
    carried = _carried(view, spec.carry_files)
    steps = [number for number in due if number not in carried and not view.why_refused(Drop(number))]
    if view.originals.trouble or not steps:
        _set_aside(view, due, carried)
        return None
    overlap = range(max(0, steps[0] - spec.overlap_steps), steps[0])
    shown = [number for number in overlap if view.overlay.is_dropped(number)] + steps
    most = _most_in_all(view, spec, size)
    total = min(spec.max_tokens, most // _MERGED_SHARE) + sum(span.tokens for span in summed.spans)
    if not summed.spans or (total <= most and len(summed.spans) < MOST_SUMMARIES):
        return _sized(view, spec, size, Covered(tuple(steps), tuple(shown)))
    before = {number for span in summed.spans for number in span.steps}
    return _sized(view, spec, size, Covered(tuple(steps), tuple(sorted({*before, *shown})), tuple(summed.spans)))


def _most_in_all(view: View, spec: SummarySpec, size: RunSize) -> int:
    """Return the tokens that all summaries may have."""
    limit = _limit(spec, measure_of(view, size))
    return min(spec.max_total_tokens, limit // _SUMMARIES_SHARE) if limit else spec.max_total_tokens


def _sized(view: View, spec: SummarySpec, size: RunSize, covered: Covered) -> Round:
    """Return a round with the tokens of what goes for it, and the steps between that stay."""
    steps, shown, replaced = covered
    tokens = sum(tokens_of(view, size, number) for number in steps) + sum(span.tokens for span in replaced)
    gone = {*shown, *steps}
    history = view.history.steps[shown[0] : shown[-1] + 1]
    kept = [
        step.index
        for step in history
        if not step.demo and step.index not in gone and not view.overlay.is_dropped(step.index)
    ]
    each = _most_in_all(view, spec, size) // _MERGED_SHARE
    return Round(covered, kept, tokens, min(each if replaced else min(spec.max_tokens, each), tokens - 1))


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


def _edits(view: View, spec: SummarySpec, found: Round, text: str) -> list[Edit]:
    summed = view.memory.summed
    steps, shown, replaced = found.covered
    position = min([position_of(view, steps[0]), *(span.position for span in replaced)])
    summed.made += 1
    key = f"{spec.name}:{view.stage}:{summed.made}"
    gone = [*(number for span in replaced for number in span.steps), *steps]
    span = Span(key, shown[0], shown[-1] + 1, tuple(gone), position, count_text(text, view.model))
    summed.spans = [*(each for each in summed.spans if each not in replaced), span]
    covered = set(steps)
    summed.numbers = [number for number in summed.numbers if number not in covered]
    summed.useless = summed.wait_for = 0
    if view.memory.scheduler is not None:
        view.memory.scheduler.act()
    one = span.first + 1 == span.stop
    covers = f"step {span.stop}" if one else f"steps {span.first + 1}-{span.stop}"
    return [
        Insert(position, "user", text, "summary", f"stands for {covers}", key, tuple(each.key for each in replaced)),
        *(Drop(number, f"in the summary of {covers}") for number in steps),
    ]
