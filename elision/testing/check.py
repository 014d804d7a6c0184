"""``check_processor``: the contract that every processor must keep, tried on generated histories in every dialect."""

from __future__ import annotations

import json
from typing import Any, TypeAlias

from elision.errors import OverBudgetError
from elision.processor import Processor
from elision.testing.contract import BrokenContractError, Build, judge
from elision.testing.parts import DIALECT_OF, SHAPES, Entry, Shape
from elision.testing.shapes import write

Sample: TypeAlias = tuple[tuple[Entry, ...], bool]
"""What a history is made of, and whether it is sound."""


class _FoundError(BaseException):
    """Ends the search; hypothesis lets it through."""

    def __init__(self, sample: Sample, error: BrokenContractError) -> None:
        super().__init__(str(error))
        self.sample, self.error = sample, error


def check_processor(cls: type[Processor], *, max_examples: int = 50, **options: Any) -> None:
    """Check that a processor keeps the contract, on ``max_examples`` generated histories in each shape.

    ``options`` are the processor's own.  Raises ``AssertionError`` with the broken rule, the first message that differs
    where views are compared, and the smallest history found:

    - ``does_not_raise``: also where a history has faults.
    - ``input_untouched``: the host's messages stay as they are; those that no edit names are sent as the same objects.
    - ``pure``, ``deterministic``: the same view gives the same edits, from the same processor and from a new one.
    - ``within_reach``, ``step_is_atomic``, ``touches_declared``: it proposes nothing that the guard always refuses.
    - ``declares_operation``: one that replaces content says what it does to it.
    - ``never_grows``: where the operation shrinks, what it puts in place is not longer than what it found.
    - ``idempotent``: processing what was sent, in a new run with the same archive, changes nothing more.
    - ``session_equals_stateless``: step by step gives the same view as all at once.
    """
    cls(**options).prepare()
    for shape in SHAPES:
        broken = _search(shape, lambda: cls(**options), max_examples)
        if broken is not None:
            messages, error = broken
            told = json.dumps(messages, indent=1, default=repr)
            raise AssertionError(f"{cls.__name__} breaks the contract: {error}\nsmallest history ({shape}):\n{told}")


def _search(shape: Shape, build: Build, max_examples: int) -> tuple[list[Any], BrokenContractError] | None:
    """Return a small history on which a rule is broken, and how; ``None`` where none was found."""
    from elision.testing.strategies import entries  # first: it says what to do where hypothesis is missing

    from hypothesis import HealthCheck, Phase, given, settings  # isort: skip
    from hypothesis import strategies as st  # isort: skip

    sound, sick = entries(shape), entries(shape, faults=True)

    @settings(
        max_examples=max_examples,
        deadline=None,
        derandomize=True,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(st.one_of(*[st.tuples(sound, st.just(True))] * 3, st.tuples(sick, st.just(False))))
    def contract(sample: tuple[tuple[Entry, ...], bool]) -> None:
        error = _broken(shape, sample, build)
        if error is not None:
            raise _FoundError(sample, error)

    try:
        contract()
    except _FoundError as found:
        sample, error = _smaller(shape, found.sample, found.error, build)
        return write(shape, sample[0])[1], error
    return None


def _broken(shape: Shape, sample: Sample, build: Build) -> BrokenContractError | None:
    try:
        judge(write(shape, sample[0])[1], DIALECT_OF[shape], build, sound=sample[1])
    except BrokenContractError as error:
        return error
    except OverBudgetError:  # nothing is sent then, so nothing can be broken
        return None
    return None


def _smaller(
    shape: Shape, sample: Sample, error: BrokenContractError, build: Build
) -> tuple[Sample, BrokenContractError]:
    """Leave out entries for as long as the same rule stays broken."""
    entries, sound = sample
    for index in reversed(range(len(entries))):
        fewer = (*entries[:index], *entries[index + 1 :]), sound
        found = _broken(shape, fewer, build)
        if found is not None and found.rule == error.rule:
            return _smaller(shape, fewer, found, build)
    return sample, error
