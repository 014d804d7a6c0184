"""Any generated history through chains that sum up: one view for all who ask, valid on the wire, the same when sent."""

from __future__ import annotations

import warnings
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from wire_rules import bytes_of, role_of, wire_faults

from elision import Chain, Polling, Session
from elision.testing import DIALECT_OF, SHAPES, Shape, chains, histories, poisoned

SUMMING = ("compact_interval", "summarize", "task_notes")
OTHERS = ("clear_tool_results", "recent_steps", "remove_regex", "supersede")
WIRES = ("openai", "anthropic", "responses", "gemini")


def sent(run: Chain | Session, messages: list[Any], shape: Shape) -> list[Any]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return run.process(messages, dialect=DIALECT_OF[shape]).messages


@pytest.mark.parametrize("shape", SHAPES)
def test_a_session_a_fresh_process_and_one_that_was_restarted_give_the_same_valid_views(shape: Shape) -> None:
    @settings(max_examples=12)
    @given(
        st.one_of(histories(shape), poisoned(shape)),
        chains(types=(*SUMMING, *SUMMING, *OTHERS)),
        st.sampled_from([None, "default"]),
        st.sampled_from(["every_step", Polling(polling=2)]),
        st.floats(0, 1),
    )
    def holds(messages: list[Any], made: Chain, table: str | None, schedule: Any, share: float) -> None:
        chain = Chain(made.processors, classification=table, archive=made.opened_archive, schedule=schedule)
        restart = int(share * len(messages))
        with chain.session() as session, chain.session() as restarted:
            for stop in range(len(messages) + 1):
                view = sent(session, messages[:stop], shape)
                if shape in WIRES and (stop == len(messages) or role_of(messages[stop]) != "assistant"):
                    assert wire_faults(shape, view) == []
                if stop >= restart:
                    assert bytes_of(view) == bytes_of(sent(restarted, messages[:stop], shape))
                if stop in {restart, len(messages)}:
                    assert bytes_of(view) == bytes_of(sent(chain, messages[:stop], shape))

    holds()


@pytest.mark.parametrize("shape", SHAPES)
def test_processing_what_was_sent_changes_nothing(shape: Shape) -> None:
    @settings(max_examples=12)
    @given(histories(shape), chains(types=SUMMING, max_size=2))
    def holds(messages: list[Any], made: Chain) -> None:
        chain = Chain(made.processors, classification=None, archive=made.opened_archive, schedule="every_step")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            view = chain.process(messages, dialect=DIALECT_OF[shape])
        if not view.repairs:
            assert bytes_of(sent(chain, view.messages, shape)) == bytes_of(view.messages)

    holds()
