"""Any generated history through chains of scheduled processors: each step's view depends on the history alone."""

from __future__ import annotations

import warnings
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from wire_rules import bytes_of

from elision import Chain, Polling, Schedule, Session
from elision.testing import DIALECT_OF, SHAPES, Shape, chains, histories, poisoned

SCHEDULED = (
    "clear_thinking",
    "clear_tool_inputs",
    "clear_tool_results",
    "dedupe",
    "image_limit",
    "recent_steps",
    "supersede",
)
OTHERS = ("closed_window", "last_n_observations", "remove_regex", "tag_tool_call_observations")
SHARED: list[Schedule] = ["every_step", Polling(polling=2), "break_even"]


def sent(run: Chain | Session, messages: list[Any], shape: Shape) -> str:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return bytes_of(run.process(messages, dialect=DIALECT_OF[shape]).messages)


@pytest.mark.parametrize("shape", SHAPES)
def test_a_session_a_fresh_process_and_one_that_was_restarted_give_the_same_views(shape: Shape) -> None:
    @given(
        st.one_of(histories(shape), poisoned(shape)),
        chains(types=(*SCHEDULED, *SCHEDULED, *OTHERS)),
        st.sampled_from([None, "default"]),
        st.sampled_from(SHARED),
        st.floats(0, 1),
    )
    def holds(messages: list[Any], made: Chain, table: str | None, schedule: Schedule, share: float) -> None:
        chain = Chain(made.processors, classification=table, archive=made.opened_archive, schedule=schedule)
        restart = int(share * len(messages))
        with chain.session() as session, chain.session() as restarted:
            for stop in range(len(messages) + 1):
                view = sent(session, messages[:stop], shape)
                if stop >= restart:
                    assert view == sent(restarted, messages[:stop], shape)
                if stop in {restart, len(messages)}:
                    assert view == sent(chain, messages[:stop], shape)

    holds()
