"""``budget`` cuts a run in steps: once it has cut, the next requests extend what was sent, as a fresh process does."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import elision
from elision import OverBudgetError, SentView
from elision.testing import Conversation, Shape, call, conversation, result

READING = [{"type": "function", "function": {"name": "read_file", "parameters": {"type": "object"}}}]
BASH = [{"type": "function", "function": {"name": "bash", "parameters": {"type": "object"}}}]
PAGE = "".join(f"line {number} of a page\n" for number in range(80))
LIMIT = 8550


def chain(most: int = 9000) -> elision.Chain:
    return elision.loads(f"history_processors: [{{type: budget, max_tokens: {most}}}]", archive="memory:")


def reads(steps: int, text: str = PAGE, said: str = "", shape: Shape = "openai") -> Conversation:
    run = conversation(shape).user("Go.")
    for number in range(steps):
        run = run.step(*([said] if said else []), call("read_file", path=f"f{number}"), result(f"{number}\n{text}"))
    return run


def sent(run: Conversation, tools: Any = READING, most: int = 9000) -> list[SentView]:
    """Send a run step by step; each view is that of a fresh process, and stays as it is when it comes back."""
    messages, views, made = run.messages(), [], chain(most)
    with made.session() as session:
        for stop in range(1, len(messages) + 1):
            if stop == len(messages) or messages[stop]["role"] == "assistant":
                view = session.process(messages[:stop], tools=tools, dialect=run.dialect)
                fresh = made.process(messages[:stop], tools=tools, dialect=run.dialect)
                assert json.dumps(view.messages) == json.dumps(fresh.messages)
                assert made.process(view.messages, tools=tools, dialect=run.dialect).messages == view.messages
                views.append(view)
    return views


def breaks(views: list[SentView]) -> list[int]:
    """Return the requests that do not extend the one before them."""
    return [
        number
        for number, (before, view) in enumerate(pairwise(views), 1)
        if view.messages[: len(before.messages)] != before.messages
    ]


@pytest.mark.parametrize(
    ("tools", "shape"),
    [(READING, "openai"), (BASH, "openai"), (None, "openai"), (None, "anthropic")],
    ids=["called again", "cut to head and tail", "by ref", "anthropic"],
)
def test_between_two_cuts_requests_extend_each_other(tools: Any, shape: Shape) -> None:
    run = reads(40, shape=shape)
    views = sent(run, tools)
    broken = breaks(views)

    assert all(view.tokens.after <= LIMIT for view in views)
    assert 4 <= len(broken) <= 9
    assert min(later - earlier for earlier, later in pairwise(broken)) >= 3


def test_a_cut_goes_to_four_fifths_of_the_limit_and_not_far_below() -> None:
    views = sent(reads(40))

    for number in breaks(views):
        assert 0.7 * LIMIT < views[number].tokens.after <= 0.8 * LIMIT


def test_a_large_new_result_is_cut_before_steps_go_and_stays_so_until_the_next_cut() -> None:
    run = reads(3, "short")
    run = run.step(call("read_file", path="large"), result(PAGE * 40))
    views = sent(run.step(call("read_file", path="a"), result("b")), BASH)
    before, after = views[-2:]

    assert [edit.action for edit in before.edits] == ["replace"]
    assert "lines, left out here" in str(before.messages[-1]["content"])
    assert len(after.messages) == len(run.messages()) + 2


def test_where_only_whole_steps_are_left_to_go_several_go_together() -> None:
    views = sent(reads(90, PAGE[:200], said="I look at it, and think about what it says. " * 20), most=6000)

    assert all(view.tokens.after <= 5700 for view in views)
    assert any(edit.action == "drop" for edit in views[-1].edits)
    assert len(breaks(views)) < len(views) / 2


@settings(max_examples=15, deadline=None)
@given(sizes=st.lists(st.integers(1, 60), min_size=3, max_size=14), most=st.integers(200, 900))
def test_any_run_fits_and_is_the_same_in_a_session_as_from_scratch(sizes: list[int], most: int) -> None:
    run = conversation().user("Go.")
    for number, size in enumerate(sizes):
        run = run.step(call("read_file", path=f"f{number}"), result("a line of it\n" * size))
    try:
        views = sent(run, most=most)
    except OverBudgetError:
        return

    assert all(view.tokens.after <= most for view in views)
