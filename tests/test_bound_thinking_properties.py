"""Guard rule 3 over generated histories: every policy, every thinking rule, all that clears."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import suppress
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from thinking_runs import (
    BOUND,
    NEWEST,
    NONE,
    TURNS,
    any_runs,
    call_ids,
    calls_in,
    changed_since,
    newest_thoughts,
    thinking_runs,
    thoughts,
    unbound,
    with_model,
)
from wire_rules import bytes_of, wire_faults

from elision import Chain, ElisionError, OnBoundThinking, SentView, Session
from elision.testing import DIALECT_OF, Shape, chains

CLEARING = (
    "clear_tool_results",
    "supersede",
    "dedupe",
    "recent_steps",
    "image_limit",
    "last_n_observations",
    "closed_window",
    "clear_tool_inputs",
)
ALL = (*CLEARING, "clear_thinking")
SHAPES: tuple[Shape, ...] = ("anthropic", "openai")
POLICIES: tuple[OnBoundThinking, ...] = get_args(OnBoundThinking)
MODELS = (BOUND, NEWEST, TURNS, NONE)
"""A model for each thinking rule."""


def sent(run: Chain | Session, messages: list[Any], shape: Shape) -> SentView | None:
    """Return the view of a request; nothing where an edit before bound thinking is an error."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with suppress(ElisionError):
            return run.process(messages, dialect=DIALECT_OF[shape])
    return None


def told(view: SentView | None) -> str:
    return "error" if view is None else bytes_of([view.messages, view.params])


def histories_of(shape: Shape) -> st.SearchStrategy[list[Any]]:
    return st.one_of(thinking_runs(shape), thinking_runs(shape), any_runs(shape))


def requests(chain: Chain, messages: list[Any], shape: Shape) -> Iterator[tuple[dict[int, SentView], int]]:
    """Send a history request by request; yield the views so far, by the length of their history, and the newest."""
    views: dict[int, SentView] = {}
    with chain.session() as session:
        for stop in range(len(messages) + 1):
            found = sent(session, messages[:stop], shape)
            if found is None:
                return
            views[stop] = found
            yield views, stop


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("shape", SHAPES)
def test_after_any_edit_no_later_thinking_block_remains_that_the_rule_forbids(
    shape: Shape, policy: OnBoundThinking
) -> None:
    """But where the request has the provider leave it out."""

    @given(histories_of(shape), chains(types=ALL))
    def holds(messages: list[Any], made: Chain) -> None:
        for views, stop in requests(with_model(made, BOUND, policy), messages, shape):
            view = views[stop]
            assert wire_faults(shape, view.messages) == []
            assert "thinking" in view.params or unbound(views, messages, stop) == []

    holds()


@pytest.mark.parametrize("shape", SHAPES)
def test_with_defer_no_message_before_a_bound_block_is_edited(shape: Shape) -> None:
    @given(histories_of(shape), chains(types=CLEARING))
    def holds(messages: list[Any], made: Chain) -> None:
        for views, stop in requests(with_model(made, BOUND, "defer"), messages, shape):
            assert changed_since(views, messages, stop) == []

    holds()


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("shape", SHAPES)
def test_the_newest_steps_thinking_is_byte_equal_under_every_policy(shape: Shape, policy: OnBoundThinking) -> None:
    @given(histories_of(shape), chains(types=ALL), st.sampled_from(MODELS))
    def holds(messages: list[Any], made: Chain, model: str) -> None:
        for views, stop in requests(with_model(made, model, policy), messages, shape):
            newest = newest_thoughts(messages[:stop])
            last = [found for each in views[stop].messages if (found := thoughts(each))][-1:]
            assert not newest or bytes_of(last) == bytes_of([newest])

    holds()


def told_ids(message: Any, given: list[Any]) -> list[str] | int:
    """The ids of a message's calls, or how many it has where ids repeat, so that some are sent with others."""
    found = [name for each in given for name in call_ids(each)]
    return call_ids(message) if len(set(found)) == len(found) else len(call_ids(message))


@pytest.mark.parametrize("shape", SHAPES)
def test_every_message_with_calls_keeps_its_thinking_where_the_model_wants_that_of_turns_back(shape: Shape) -> None:
    @given(histories_of(shape), chains(types=ALL), st.sampled_from(POLICIES))
    def holds(messages: list[Any], made: Chain, policy: OnBoundThinking) -> None:
        given_of = [(told_ids(each, messages), thoughts(each)) for each in messages if calls_in(each)]
        for views, stop in requests(with_model(made, TURNS, policy), messages, shape):
            kept = [(told_ids(each, messages), thoughts(each)) for each in views[stop].messages if calls_in(each)]
            assert all(each in given_of for each in kept)

    holds()


@pytest.mark.parametrize("shape", SHAPES)
def test_a_session_a_fresh_process_and_one_that_was_restarted_agree_on_bound_thinking(shape: Shape) -> None:
    @given(
        histories_of(shape),
        chains(types=ALL),
        st.sampled_from([BOUND, BOUND, BOUND, *MODELS]),
        st.sampled_from(POLICIES),
        st.floats(0, 1),
    )
    def holds(messages: list[Any], made: Chain, model: str, policy: OnBoundThinking, share: float) -> None:
        chain = with_model(made, model, policy)
        restart = int(share * len(messages))
        with chain.session() as session, chain.session() as restarted:
            for stop in range(len(messages) + 1):
                view = told(sent(session, messages[:stop], shape))
                if stop >= restart:
                    assert view == told(sent(restarted, messages[:stop], shape))
                if stop in {restart, len(messages)}:
                    assert view == told(sent(chain, messages[:stop], shape))

    holds()


@pytest.mark.parametrize("shape", SHAPES)
def test_drop_thinking_leaves_thinking_out_only_together_with_an_edit_before_it(shape: Shape) -> None:
    @given(histories_of(shape), chains(types=CLEARING))
    def holds(messages: list[Any], made: Chain) -> None:
        view = sent(with_model(made, BOUND, "drop_thinking"), messages, shape)
        assert view is not None
        dropped = [edit for edit in view.edits if edit.reason == "bound to what stood before it"]
        others = [edit.position for edit in view.edits if edit not in dropped]

        assert all(edit.ref and edit.position >= min(others) for edit in dropped)

    holds()
