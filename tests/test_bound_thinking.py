"""Guard rule 3: what happens to edits before thinking that is bound to what stands before it."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator
from typing import Any

import pytest
from guarded import planned
from thinking_runs import (
    BOUND,
    DROP_BLOCK,
    NEWEST,
    answer,
    bound_at,
    cleared,
    clearing,
    quiet,
    refused,
    step,
    turns,
)

import elision
from elision import Chain, Edit, ElisionError, ElisionWarning, View
from elision.testing import conversation


@pytest.mark.parametrize("shape", ["anthropic", "openai"])
def test_request_drop_block_clears_and_the_request_says_so_from_then_on(shape: Any) -> None:
    run = turns(shape, 4)
    with clearing("request_drop_block").session() as session:
        first = session.process(run.messages()[:3])
        views = [session.process(run.messages()[:stop]) for stop in range(4, len(run.messages()) + 1)]

    assert (cleared(first), first.params) == ([], {})
    assert cleared(views[-1]) == [2, 4, 6]
    assert [view.params for view in views if cleared(view)] == [DROP_BLOCK] * len(
        [1 for view in views if cleared(view)]
    )


def test_the_header_of_beta_features_is_joined_however_the_request_spells_it() -> None:
    request = {
        "model": BOUND,
        "messages": turns("anthropic", 4).messages(),
        "extra_headers": {"Anthropic-Beta": "fine-grained-tool-streaming-2025-05-14", "X-Team": "a"},
    }
    view = clearing("request_drop_block").process(request)
    ours = DROP_BLOCK["extra_headers"]["anthropic-beta"]

    assert view.params["extra_headers"] == {
        "anthropic-beta": f"fine-grained-tool-streaming-2025-05-14,{ours}",
        "X-Team": "a",
    }


def test_the_request_keeps_what_it_says_of_thinking_and_its_headers_and_beta_features() -> None:
    request = {
        "model": BOUND,
        "messages": turns("anthropic", 4).messages(),
        "thinking": {"type": "enabled", "budget_tokens": 4096, "block_binding": {"x": 1}},
        "betas": ["context-1m-2025-08-07"],
        "extra_headers": {"x-team": "a", "anthropic-beta": "fine-grained-tool-streaming-2025-05-14"},
    }
    view = clearing("request_drop_block").process(request)

    assert view.params == {
        "thinking": {
            "type": "enabled",
            "budget_tokens": 4096,
            "block_binding": {"x": 1, "prefix_mismatch_behavior": "drop_block"},
        },
        "extra_headers": {
            "x-team": "a",
            "anthropic-beta": "fine-grained-tool-streaming-2025-05-14,context-1m-2025-08-07,"
            "thinking-binding-controls-2026-08-01",
        },
    }


def test_a_request_that_drops_blocks_already_is_cleared_without_an_option() -> None:
    run = turns("anthropic", 4)
    request = {"model": BOUND, "messages": run.messages(), "thinking": DROP_BLOCK["thinking"]}
    view = clearing().process(request)
    beside = clearing().process({"messages": run.messages(), "extra_body": {"thinking": DROP_BLOCK["thinking"]}})

    assert cleared(view) == cleared(beside) == [2, 4, 6]
    assert view.params == beside.params == DROP_BLOCK


def test_whoever_sends_the_params_of_views_needs_no_option() -> None:
    with clearing().session() as session:
        session.sets_params = True
        view = session.process(turns("anthropic", 4).messages())

    assert cleared(view) == [2, 4, 6]
    assert view.params == DROP_BLOCK


def test_by_default_nothing_is_cleared_and_one_warning_says_why_and_what_to_do() -> None:
    run = turns("openai", 4)
    with clearing().session() as session, warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        views = [session.process(run.messages()[:stop]) for stop in range(1, len(run.messages()) + 1)]

    assert all(view.edits == () and view.params == {} for view in views)
    (told_once,) = (str(each.message) for each in caught)
    assert told_once == (
        "nothing is removed from before the thinking of 'claude-opus-5-5', which is bound to all that stands before "
        "it: a request in which that has changed is an error there; write on_bound_thinking: request_drop_block in the "
        "chain and send view.params with each request, or on_bound_thinking: drop_thinking"
    )
    assert (
        "bound_thinking",
        "thinking in message 5 is bound to what stands before it (on_bound_thinking: defer)",
    ) in refused(views[-1])


def test_defer_clears_what_stands_behind_the_last_thinking() -> None:
    run = conversation("anthropic").user("Go.")
    for number in range(8):
        run = step(run, number, thinks=number in {0, 2})
    view = quiet(clearing("defer"), run)

    assert cleared(view) == [2, 6, 8, 10, 12, 14]


def test_what_defer_holds_back_is_cleared_when_another_model_takes_over() -> None:
    run = turns("anthropic", 4)
    with clearing("defer").session() as session, warnings.catch_warnings():
        warnings.simplefilter("ignore", ElisionWarning)
        before = session.process(run.messages())
        after = session.process(step(run, 4).messages(), model=NEWEST)

    assert cleared(before) == []
    assert cleared(after) == [2, 4, 6, 8]
    assert refused(after) == set()


@pytest.mark.parametrize("shape", ["anthropic", "openai"])
def test_error_raises_loses_nothing_and_leaves_the_session_usable(shape: Any) -> None:
    run = turns(shape, 4)
    with clearing("error").session() as session:
        fine = session.process(run.messages()[:3])
        with pytest.raises(ElisionError) as raised:
            session.process(run.messages())
        with pytest.raises(ElisionError, match="on_bound_thinking"):
            session.process(run.messages())
        view = session.process(step(run, 4).messages(), model=NEWEST)
        again = session.process(run.messages()[:3])

    assert fine.messages == again.messages == run.messages()[:3]
    assert str(raised.value) == (
        "on_bound_thinking: clear_tool_results would edit message 2, and thinking in message 3 is bound to what stands "
        "before it (on_bound_thinking: error); write on_bound_thinking: request_drop_block in the chain and send "
        "view.params with each request, or on_bound_thinking: drop_thinking"
    )
    assert view.messages[-1] == step(run, 4).messages()[-1]


def test_edits_of_what_has_just_come_in_and_cache_breakpoints_are_no_edits_of_the_prefix() -> None:
    def shorten(view: View) -> Iterator[Edit]:
        for observation in view.observations:
            yield observation.replace("line", reason="short")

    entry = planned(shorten, stage="entry", operation="truncate")
    marks = elision.loads("{history_processors: [{type: cache_control}]}").processors
    chain = Chain([entry, *marks], classification=None, archive="memory:", model=BOUND, on_bound_thinking="error")
    view = chain.process(turns("anthropic", 4).messages())

    assert [edit.action for edit in view.edits].count("replace") == 4
    assert "set_cache_breakpoint" in [edit.action for edit in view.edits]
    assert view.refusals == ()


def test_what_a_request_processor_edits_is_never_bound_to() -> None:
    """It is not remembered: the next answer's thinking would be bound to it."""

    def note(view: View) -> Iterable[Edit]:
        return [view.insert("Mind the time.", before=view.messages[-1])]

    chain = Chain([planned(note)], classification=None, archive="memory:", model=BOUND)
    run = answer(turns("openai", 2)).user("And now?")
    view = quiet(chain, run)
    said = quiet(Chain(chain.processors, model=BOUND, on_bound_thinking="request_drop_block"), run)

    assert (len(view.edits), refused(view)) == (0, {("bound_thinking", bound_at(5, "defer"))})
    assert (len(said.edits), said.params) == (1, DROP_BLOCK)


def test_models_that_do_not_check_the_prefix_are_cleared_under_every_policy() -> None:
    for policy in (None, "request_drop_block", "defer", "drop_thinking", "error"):
        view = clearing(policy, NEWEST).process(turns("anthropic", 4).messages())

        assert (cleared(view), view.params) == ([2, 4, 6], {})


def test_a_run_without_thinking_is_cleared_and_no_profile_is_asked_for() -> None:
    run = conversation("openai").user("Go.")
    for number in range(4):
        run = step(run, number, thinks=False)

    assert cleared(clearing("error").process(run.messages())) == [2, 4, 6]


def test_where_the_model_changes_to_one_that_binds_its_thinking_the_request_says_what_was_edited_before() -> None:
    run = turns("anthropic", 4).messages()
    with clearing("request_drop_block").session() as session:
        before = session.process(run, model=NEWEST)
        after = session.process(run, model=BOUND)
    with clearing("request_drop_block").session() as session:
        untouched = [session.process(run[:3], model=each).params for each in (NEWEST, BOUND)]

    assert (cleared(before), before.params) == ([2, 4, 6], {})
    assert (cleared(after), after.params) == ([2, 4, 6], DROP_BLOCK)
    assert untouched == [{}, {}]
