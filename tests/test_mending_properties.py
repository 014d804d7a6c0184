"""What goes out for a poisoned history is the same whether it was mended step by step, or all at once."""

from __future__ import annotations

import copy
import operator
import warnings
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from wire_rules import bytes_of

from elision import Chain, SentView, Session
from elision.dialect import Dialect, by_name
from elision.history import History
from elision.registry import plugins
from elision.testing import DIALECT_OF, Shape, chains, poisoned

SHAPES: tuple[Shape, ...] = ("openai", "anthropic", "responses", "gemini", "miniswe")
CLEARING = ("clear_tool_inputs", "clear_tool_results", "last_n_observations", "supersede", "tag_tool_call_observations")
OTHERS = ("budget", "cache_control", "clear_thinking", "recent_steps", "save_reminder", "summarize", "truncate")


def asked(run: Chain | Session, messages: list[Any], shape: Shape) -> SentView:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return run.process(messages, dialect=DIALECT_OF[shape])


def told(view: SentView) -> tuple[Any, ...]:
    return bytes_of(view.messages), view.repairs, view.pending, view.edits


@pytest.mark.parametrize("shape", SHAPES)
def test_a_session_sends_what_a_fresh_process_sends_however_its_history_was_poisoned(shape: Shape) -> None:
    @given(poisoned(shape), chains(types=(*CLEARING, *OTHERS), max_size=3), st.sets(st.integers(1, 40)))
    def holds(messages: list[Any], chain: Chain, skipped: set[int]) -> None:
        with chain.session() as session:
            for stop in sorted({*range(len(messages) + 1)} - skipped):
                view = asked(session, messages[:stop], shape)

                assert told(view) == told(asked(chain, messages[:stop], shape))

    holds()


@pytest.mark.parametrize("shape", SHAPES)
def test_a_host_that_copies_rewrites_or_branches_a_poisoned_history_gets_what_a_fresh_process_sends(
    shape: Shape,
) -> None:
    @given(
        poisoned(shape),
        poisoned(shape),
        chains(types=(*CLEARING, *OTHERS), max_size=2),
        st.lists(
            st.tuples(st.integers(1, 6), st.sampled_from(["same", "copied", "same", "branched", "shorter"])),
            max_size=12,
        ),
    )
    def holds(messages: list[Any], others: list[Any], chain: Chain, requests: list[tuple[int, str]]) -> None:
        stop = 0
        with chain.session() as session:
            for more, how in requests:
                stop = stop - more if how == "shorter" else stop + more
                messages = copy.deepcopy(messages) if how == "copied" else messages
                messages = [*messages[:stop], *others[: more * 4]] if how == "branched" else messages
                given = messages[: max(stop, 0)]

                assert told(asked(session, given, shape)) == told(asked(chain, given, shape))

    holds()


@pytest.mark.parametrize("shape", SHAPES[:4])
def test_what_was_mended_is_sent_again_as_the_very_object(shape: Shape) -> None:
    @given(poisoned(shape))
    def holds(messages: list[Any]) -> None:
        with Chain([], classification=None).session() as session:
            before: list[Any] = []
            altered = 0
            for stop in range(len(messages) + 1):
                asked(session, messages[:stop], shape)
                if session.outgoing is None or session.fold is None:
                    continue
                history, sent = session.fold.history, list(session.outgoing.rendered)
                if len(history.altered) == altered:
                    assert all(map(operator.is_, before, sent))
                altered = len(history.altered)
                before = sent if history.ready() == len(history.segments) else []

    holds()


@pytest.mark.parametrize("shape", SHAPES)
def test_a_history_that_was_cut_is_one_that_has_not_come_so_far(shape: Shape) -> None:
    @given(poisoned(shape), st.data())
    def holds(messages: list[Any], data: st.DataObject) -> None:
        reader = by_name(plugins().dialects(), DIALECT_OF[shape])
        history = read(messages, reader)
        stop = data.draw(st.sampled_from([*(segment.start for segment in history.segments), len(messages)]))
        shorter = read(messages[:stop], reader)
        if all(start >= stop for start in history.altered[len(shorter.altered) :]):
            history.cut(stop)

            assert known(history) == known(shorter)
            assert known(read(messages[stop:], reader, history)) == known(read(messages, reader))

    holds()


def read(messages: list[Any], reader: Dialect, history: History | None = None) -> History:
    history = History(reader.wire) if history is None else history
    for raw in messages:
        history.append(reader.parse(raw, history))
    return history


def known(history: History) -> dict[str, Any]:
    return {**vars(history), "_answered": {key: found for key, found in vars(history)["_answered"].items() if found}}
