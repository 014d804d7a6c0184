"""``compact_interval``: every so many steps a summary takes their place, overlapping with the one before."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest
from summary_runs import begun, last, loaded, reads, sent, summaries, texts

import elision
from elision.testing import call, check_processor, result


def covered(found: list[str]) -> list[str]:
    return [re.findall(r"Summary of steps (\d+-\d+)", text)[0] for text in found]


def test_every_3_steps_with_overlap_1_covers_1_3_then_3_6_then_6_9() -> None:
    view = last(loaded("[{type: compact_interval, interval_steps: 3, overlap_steps: 1}]"), reads(begun(), 1, 10))
    texts_of = summaries(view)

    assert covered(texts_of) == ["1-3", "3-6", "6-9"]
    assert ["3.py" in text for text in texts_of] == [True, True, False]
    assert ["6.py" in text for text in texts_of] == [False, True, True]


def test_each_summary_extends_the_view_up_to_the_steps_that_it_stands_for() -> None:
    views = [
        view.messages for view in sent(loaded("[{type: compact_interval, interval_steps: 3}]"), reads(begun(), 1, 13))
    ]
    breaks = [number for number, (before, view) in enumerate(pairwise(views), 1) if view[: len(before)] != before]

    assert breaks == [4, 7, 10, 13]
    assert all(views[number][: 1 + number // 3] == views[number - 1][: 1 + number // 3] for number in breaks)


def test_steps_that_stay_do_not_count() -> None:
    run = begun()
    for number in range(6):
        run = run.step(call("create_issue", title=f"{number}"), result("Issue 991 was created"))
    view = last(loaded("[{type: compact_interval, interval_steps: 3}]"), run)

    assert summaries(view) == []
    assert texts(view).count("Issue 991 was created") == 6


def test_the_overlap_is_from_the_originals_and_the_head_stays() -> None:
    options = "interval_steps: 4, overlap_steps: 2, keep_first_steps: 2, keep_last_steps: 3"
    view = last(loaded(f"[{{type: compact_interval, {options}}}]"), reads(begun(), 1, 13))

    assert covered(summaries(view)) == ["3-6", "5-10"]
    assert "I read 2.py." in texts(view)


def test_an_overlap_as_long_as_the_interval_is_refused() -> None:
    with pytest.raises(elision.ConfigError, match=r"overlap_steps \(3\) has to be fewer than interval_steps \(3\)"):
        loaded("[{type: compact_interval, interval_steps: 3, overlap_steps: 3}]")


def test_the_contract() -> None:
    check_processor(elision.processor_types()["compact_interval"], max_examples=5, interval_steps=2, overlap_steps=1)
