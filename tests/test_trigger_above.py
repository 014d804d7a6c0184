"""Triggers that what stays is above by itself: clearing one result at each step would cost more than clearing none."""

from __future__ import annotations

from itertools import pairwise

import pytest
from scheduled_runs import breaks, chain, cleared, reads, sent

CASES = {
    "large results among the newest": ("keep: 3", [9000] * 24),
    "more to keep than the trigger": ("keep: 12", [2100] * 60),
    "what stays is just below the trigger": ("keep: 9", [2100] * 60),
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("model", [None, "claude-sonnet-4-5", "gpt-4o"])
def test_what_cannot_get_below_the_trigger_is_cleared_when_it_pays_and_not_at_each_step(
    case: str, model: str | None
) -> None:
    keep, sizes = CASES[case]
    made = chain(f"{keep}, trigger_tokens: 20000")
    messages = reads(*sizes).messages()
    views = sent(made, messages, model=model)
    broken = breaks(views)

    assert 2 <= len(broken) <= len(sizes) // 2
    assert all(later - earlier > 1 for earlier, later in pairwise(broken))
    assert len(cleared(views[-1])) >= len(sizes) // 2
    assert views[-1].messages == made.process(messages, model=model).messages


def test_a_gate_of_ones_own_is_all_that_is_asked() -> None:
    views = sent(chain("keep: 3, trigger_tokens: 20000, clear_at_least_tokens: 1"), reads(*[9000] * 12).messages())

    assert breaks(views) == list(range(4, 13))


def test_a_trigger_that_clearing_gets_well_below_acts_at_once() -> None:
    views = sent(chain("keep: 3, trigger_tokens: 20000"), reads(*[2000] * 40).messages())
    sizes = [view.tokens.before for view in views]
    first = breaks(views)[0]

    assert sizes[first - 1] < 20000 <= sizes[first]
    assert cleared(views[first]) == list(range(first - 3))


@pytest.mark.parametrize(
    ("options", "size"), [("keep: 1, trigger_tokens: 1", 90), ("keep: 1, trigger_tokens: 2000", 3000)]
)
def test_what_is_written_again_for_little_is_cleared_as_the_trigger_says(options: str, size: int) -> None:
    views = sent(chain(options), reads(*[size] * 8).messages())

    assert [len(cleared(view)) for view in views] == [0, 0, 1, 2, 3, 4, 5, 6, 7]
