"""Processors whose edits wait: what a plugin of one's own may do, and what happens when it fails."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import ClassVar, Literal

import pytest
from scheduled_runs import breaks, cleared, reads, sent

import elision
from elision import Candidate, Chain, Edit, Operation, Polling, Processor, Schedule, View
from elision.schedule import Load, Prices, is_due


class Patient(Processor):
    """Clears old results, the largest of those that are due at a time."""

    operation: ClassVar[Operation] = "clear"
    scheduled: ClassVar[bool] = True
    seen: ClassVar[list[list[int]]] = []

    type: Literal["patient"] = "patient"
    fails: bool = False

    def plan(self, view: View) -> Iterator[Edit]:
        for observation in view.older_observations(0):
            yield observation.elide()

    def chosen(self, waiting: Sequence[Candidate], view: View) -> Sequence[Candidate]:
        self.seen.append([each.tokens for each in waiting])
        if self.fails:
            raise KeyError(view.observation_count)
        return [max(waiting, key=lambda each: each.tokens)]


def chain(*processors: Processor, schedule: Schedule, on_error: Literal["skip", "raise"] = "skip") -> Chain:
    archive = elision.open_archive("memory:", environ={})
    return Chain(processors, schedule=schedule, on_error=on_error, classification=None, archive=archive)


def test_a_processor_chooses_among_its_own_by_tokens_although_its_schedule_counts_none() -> None:
    Patient.seen.clear()
    views = sent(chain(Patient(), schedule=Polling(polling=3)), reads(100, 300, 200, 90, 90).messages())

    assert [len(tokens) for tokens in Patient.seen] == [3]
    assert all(tokens > 0 for tokens in Patient.seen[0])
    assert (breaks(views), cleared(views[-1])) == ([4], [1])


def test_where_choosing_fails_the_request_goes_out_and_the_edits_wait_on() -> None:
    views = sent(chain(Patient(fails=True), schedule=Polling(polling=3)), reads(*[100] * 6).messages())

    assert (views[-1].edits, breaks(views)) == ((), [])
    assert {(failure.processor, failure.error) for failure in views[-1].failures} == {("patient", "KeyError: 4")}


def test_where_choosing_fails_on_error_raise_says_so() -> None:
    with pytest.raises(elision.ProcessorError, match=r"history_processors\[0\] \(patient\): it raised KeyError"):
        sent(chain(Patient(fails=True), schedule="every_step", on_error="raise"), reads(*[100] * 6).messages())


@pytest.mark.parametrize(
    ("schedule", "expected"), [("every_step", [2, 3, 4, 5, 6]), (Polling(polling=1), [2, 3, 4, 5, 6])]
)
def test_polling_one_is_every_step(schedule: Schedule, expected: list[int]) -> None:
    processor = elision.loads("history_processors: [{type: clear_tool_results, keep: 1}]").processors[0]

    assert breaks(sent(chain(processor, schedule=schedule), reads(*[100] * 6).messages())) == expected


@pytest.mark.parametrize(
    ("total", "stale", "due"),
    [
        (140_000, 100_000, False),
        (160_000, 2_000, False),
        (160_000, 12_000, True),
        (195_000, 500, True),
    ],
    ids=["there is room", "little would be gained", "enough would be gained", "hardly anything is left"],
)
def test_where_what_stays_fills_the_window_the_prefix_is_not_rewritten_at_each_step(
    total: int, stale: int, due: bool
) -> None:
    load = Load(
        steps=1,
        total_tokens=total,
        stale_tokens=stale,
        rewritten_tokens=100_000,
        added_tokens=500,
        removed_tokens=500,
        carried=stale,
        kept=5,
        spent=1_000.0,
        prices=Prices(read=0.3, write=3.75, window_tokens=200_000),
    )

    assert is_due("break_even", load) is due
