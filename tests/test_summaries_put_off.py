"""When a summary has to wait, or costs too much: bound thinking, a provider that manages the context, long runs."""

from __future__ import annotations

from typing import Any

import pytest
from summary_runs import BODY, begun, chain, reads, sent, summaries

import elision
from elision.standing import Standing
from elision.testing import call, result, thinking


def test_thinking_that_is_bound_to_the_prefix_puts_summaries_off() -> None:
    run = begun("anthropic")
    for number in range(9):
        run = run.step(thinking("hm", signature="s"), "I look.", call("read_file", path=f"{number}"), result(BODY))
    with pytest.warns(elision.ElisionWarning, match="nothing is removed from before the thinking"):
        view = chain("trigger_steps: 6, keep_last_steps: 2").process(
            run.messages(), dialect="anthropic", model="claude-opus-5-5"
        )

    assert summaries(view) == []
    assert {refusal.rule for refusal in view.refusals} == {"bound_thinking"}


def test_with_drop_thinking_a_summary_comes_when_the_turn_is_over() -> None:
    run = begun("anthropic")
    for number in range(9):
        run = run.step(thinking("hm", signature="s"), "I look.", call("read_file", path=f"{number}"), result(BODY))
    run = run.step("Done.").user("Thanks; go on.")
    made = chain("trigger_steps: 6, keep_last_steps: 2", "on_bound_thinking: drop_thinking")
    views = sent(made, run, model="claude-opus-5-5")

    assert [bool(summaries(view)) for view in views[-2:]] == [False, True]


def test_where_the_provider_manages_the_context_nothing_is_summed_up() -> None:
    made = chain("trigger_steps: 8, keep_last_steps: 2", "owner: provider")
    request = {"messages": reads(begun(), 1, 9).messages(), "truncation": "auto"}

    assert summaries(made.process(request)) == []


def test_a_step_costs_the_same_however_long_the_run_is(monkeypatch: pytest.MonkeyPatch) -> None:
    """The table is asked about each result a fixed number of times, one request after the other."""
    asked = [0]
    made = Standing.allows

    def counted(self: Standing, *given: Any) -> bool:
        asked[0] += 1
        return made(self, *given)

    monkeypatch.setattr(Standing, "allows", counted)
    counts = []
    for length in (30, 60):
        asked[0], run = 0, reads(begun(), 1, length).messages()
        with chain("trigger_steps: 9, keep_last_steps: 2").session() as session:
            for stop in range(2, len(run) + 1, 2):
                session.process(run[:stop])
        counts.append(asked[0])

    assert 0 < counts[1] <= 2.2 * counts[0]
