"""What is expected of the provider's cache, as checks; docs/acceptance.md lists them."""

from __future__ import annotations

import warnings
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scheduled_runs import chain, reads, sent, words

import elision
from elision import Chain, Schedule
from elision.testing import DIALECT_OF, SHAPES, Shape, chains, histories

CLAUDE = "claude-sonnet-4-5"
TOOLS = [
    {"type": "function", "function": {"name": name, "parameters": {}}} for name in ("read_file", "search", "write_file")
]
SYSTEM = "You fix bugs."
SHARED: list[Schedule] = ["every_step", "break_even"]


@pytest.mark.parametrize("shape", SHAPES)
def test_four_keys_clearing_changes_only_live_window_system_and_tools_keep_their_keys(shape: Shape) -> None:
    @given(histories(shape), chains(classification=None), st.sampled_from(SHARED))
    def holds(messages: list[Any], made: Chain, schedule: Schedule) -> None:
        edited = Chain(made.processors, classification=None, archive="memory:", schedule=schedule)
        said = {"system": SYSTEM, "tools": TOOLS, "dialect": DIALECT_OF[shape]}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            plain, found = Chain(archive="memory:").process(messages, **said), edited.process(messages, **said)
        before, after = plain.cache.keys, found.cache.keys

        assert (after.system, after.tools) == (before.system, before.tools)
        if {edit.operation for edit in found.edits} <= {"clear", "supersede"} and not found.repairs:
            assert after.task_state == before.task_state

    holds()


def test_clearing_changes_live_window_and_no_other_key() -> None:
    run = reads(*[400] * 8).messages()
    views = sent(chain("keep: 2, schedule: {polling: 3}"), run, system=SYSTEM, tools=TOOLS, model=CLAUDE)
    cleared = next(view for view in views if view.removed)
    plain = Chain(archive="memory:").process(cleared.history, system=SYSTEM, tools=TOOLS, model=CLAUDE)

    assert cleared.cache.keys[:3] == plain.cache.keys[:3]
    assert cleared.cache.keys.live_window != plain.cache.keys.live_window


def test_hit_rate_input_tokens_and_cost_before_and_after_capacity_saved_and_money_saved_apart() -> None:
    run = reads(*[1500] * 40).messages()
    clearing = elision.loads(
        "{history_processors: [{type: clear_tool_results, keep: 3}, {type: cache_control, plan: auto}], "
        "classification: none}",
        archive="memory:",
    )
    views = sent(clearing, run, system=words(3000), model=CLAUDE)
    cost = [(view.cache.full.dollars or 0, view.cache.cost or 0) for view in views]
    last, broken = views[-1].cache, next(view.cache for view in views if view.cache.breaks)

    assert last.saved.tokens == last.full.input_tokens - last.input_tokens > 30_000
    assert last.full.hit_rate > last.hit_rate > 0.8
    assert last.saved.dollars == pytest.approx((last.full.dollars or 0) - (last.cost or 0))
    assert broken.saved.tokens > 0 > (broken.saved.dollars or 0)
    assert sum(after for _, after in cost) < sum(before for before, _ in cost)
    assert last.read_tokens + last.write_tokens + last.miss_tokens == last.input_tokens


def test_tool_definitions_in_stable_order() -> None:
    messages = reads(900, 900).messages()
    more = {"type": "function", "function": {"name": "another", "parameters": {}}}
    given = [TOOLS, TOOLS[::-1], [more, *TOOLS[1:], TOOLS[0]], TOOLS[1:]]
    with Chain(archive="memory:").session() as session:
        views = [session.process(messages, tools=tools) for tools in given]

    assert [view.tools for view in views] == [TOOLS, TOOLS, [*TOOLS, more], TOOLS[1:]]
    assert views[0].tools is TOOLS
    assert all(any(tool is own for own in (*TOOLS, more)) for view in views for tool in view.tools)
    assert [view.cache.breaks[0].reason for view in views[1:3]] == [
        "the tools came in another order; send view.tools",
        "the tools changed",
    ]


def test_a_host_that_sends_the_tools_in_their_stable_order_keeps_the_prefix() -> None:
    messages = reads(900, 900, 900).messages()
    with Chain(archive="memory:").session() as session:
        tools = session.process(messages[:3], tools=TOOLS, model="gpt-4.1").tools
        shuffled = session.process(messages[:3], tools=TOOLS[::-1], model="gpt-4.1").tools
        session.process(messages[:5], tools=tools, model="gpt-4.1")
        view = session.process(messages, tools=shuffled, model="gpt-4.1")

    assert view.cache.breaks == ()
    assert view.cache.read_tokens > 1700
