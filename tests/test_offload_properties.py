"""Any generated history through ``offload``, alone and before others: its view depends on the history alone."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from removed import lost
from wire_rules import bytes_of, wire_faults

from elision import Chain, SentView, Session, open_archive
from elision.testing import DIALECT_OF, SHAPES, Shape, chains, histories, poisoned

WIRES = ("openai", "anthropic", "responses", "gemini")
TYPES = ("offload", "offload", "clear_tool_results", "remove_regex", "last_n_observations", "dedupe", "truncate")
TOOLS: list[Any] = [
    None,
    [{"name": "read_file"}, {"name": "search"}],
    [{"name": "bash"}, {"name": "recall"}],
    [{"name": "search"}],
]


@pytest.fixture(autouse=True)
def working_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def sent(run: Chain | Session, messages: list[Any], shape: Shape, tools: Any = None) -> SentView:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return run.process(messages, dialect=DIALECT_OF[shape], tools=tools)


@pytest.mark.parametrize("shape", SHAPES)
def test_a_session_a_fresh_process_and_one_that_was_restarted_give_the_same_views(shape: Shape) -> None:
    @settings(max_examples=12)
    @given(
        st.one_of(histories(shape), poisoned(shape)),
        chains(types=TYPES),
        st.sampled_from([None, "default"]),
        st.floats(0, 1),
        st.sampled_from(TOOLS),
    )
    def holds(messages: list[Any], made: Chain, table: str | None, share: float, tools: Any) -> None:
        chain = Chain(
            made.processors, classification=table, archive=open_archive("memory:", environ={}), schedule="every_step"
        )
        restart = int(share * len(messages))
        with chain.session() as session, chain.session() as restarted:
            for stop in range(len(messages) + 1):
                view = bytes_of(sent(session, messages[:stop], shape, tools).messages)
                if stop >= restart:
                    assert view == bytes_of(sent(restarted, messages[:stop], shape, tools).messages)
                if stop in {restart, len(messages)}:
                    assert view == bytes_of(sent(chain, messages[:stop], shape, tools).messages)

    holds()


@pytest.mark.parametrize("shape", SHAPES)
def test_all_that_is_left_out_comes_back_what_is_sent_is_valid_and_sending_it_again_changes_nothing(
    shape: Shape,
) -> None:
    @settings(max_examples=20)
    @given(histories(shape), chains(types=("offload",), max_size=2))
    def holds(messages: list[Any], made: Chain) -> None:
        archive = open_archive("memory:", environ={})
        chain = Chain(made.processors, classification=None, archive=archive)
        view = sent(chain, messages, shape)

        assert lost(view, archive) == {}
        assert DIALECT_OF[shape] not in WIRES or wire_faults(DIALECT_OF[shape], view.messages) == []
        if not view.repairs:
            assert bytes_of(sent(chain, view.messages, shape).messages) == bytes_of(view.messages)

    holds()
