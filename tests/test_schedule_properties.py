"""Any generated history through any chain of built-ins, under each schedule: a session only caches its decisions.

The suite tries a few examples; ``--hypothesis-profile=large`` tries 2000 of each.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from wire_rules import bytes_of

from elision import Chain, ElisionWarning, SentView, open_archive, processor_types
from elision.testing import DIALECT_OF, SHAPES, Shape, chains, histories, poisoned

BUILT_IN = tuple(sorted(name for name in processor_types() if name != "call"))
REWRITING = (
    "clear_thinking",
    "clear_tool_inputs",
    "clear_tool_results",
    "dedupe",
    "image_limit",
    "last_n_observations",
    "recent_steps",
    "supersede",
)
TABLES = [None, "default"]
STOPS = st.integers(0, 200)


def views(chain: Chain, messages: list[Any], shape: Shape, start: int = 0) -> list[SentView]:
    """Return the views of a session that begins with so many messages."""
    with chain.session() as session, warnings.catch_warnings():
        warnings.simplefilter("ignore", ElisionWarning)
        return [session.process(messages[:stop], dialect=DIALECT_OF[shape]) for stop in range(start, len(messages) + 1)]


def fresh(chain: Chain) -> Chain:
    """Return the chain as another process has it, with an archive of its own."""
    return replace(chain, archive=open_archive("memory:", environ={}))


@pytest.mark.parametrize("shape", SHAPES)
def test_session_view_is_stateless_view_is_view_after_a_restart_at_any_step(shape: Shape) -> None:
    @given(
        st.one_of(histories(shape), poisoned(shape)),
        st.sampled_from(TABLES).flatmap(lambda table: chains(types=BUILT_IN, classification=table, max_size=3)),
        STOPS,
    )
    def holds(messages: list[Any], chain: Chain, stop: int) -> None:
        begin = stop % (len(messages) + 1)
        whole = [bytes_of(view.messages) for view in views(chain, messages, shape)]
        restarted = [bytes_of(view.messages) for view in views(fresh(chain), messages, shape, begin)]
        shared = [bytes_of(view.messages) for view in views(chain, messages, shape, begin)]

        assert restarted == whole[begin:]
        assert shared == whole[begin:]

    holds()


@pytest.mark.parametrize("shape", SHAPES)
def test_processing_what_was_sent_changes_nothing(shape: Shape) -> None:
    """A round that ``clear_at_most_tokens`` stopped goes on where what was sent is processed again."""

    @given(histories(shape), st.sampled_from(TABLES).flatmap(rewriting))
    def holds(messages: list[Any], chain: Chain) -> None:
        view = views(chain, messages, shape, len(messages))[-1]
        if view.repairs:  # what was mended is a step more
            return
        again = views(chain, view.messages, shape, len(view.messages))[-1]

        assert bytes_of(again.messages) == bytes_of(view.messages)

    holds()


def rewriting(table: str | None) -> st.SearchStrategy[Chain]:
    return chains(types=REWRITING, classification=table, max_size=3).filter(stops_nowhere)


@pytest.mark.parametrize("shape", SHAPES)
def test_what_is_cleared_stays_cleared_and_between_two_rounds_each_request_extends_the_one_before(shape: Shape) -> None:
    @given(st.one_of(histories(shape), poisoned(shape)), chains(types=("clear_tool_results",), max_size=2))
    def holds(messages: list[Any], chain: Chain) -> None:
        found = views(chain, messages, shape)
        gone = [{(edit.position, edit.part) for edit in view.edits} for view in found]

        assert all(before <= after for before, after in pairwise(gone))
        for before, view in complete(found):
            if view.edits == before.edits:
                assert bytes_of(view.messages[: len(before.messages)]) == bytes_of(before.messages)

    holds()


def complete(found: list[SentView]) -> Iterator[tuple[SentView, SentView]]:
    """Yield the views, two at a time, of which no call lacks a result and nothing had to be mended."""
    whole = [view for view in found if not view.pending and not view.repairs]
    yield from pairwise(whole)


def stops_nowhere(chain: Chain) -> bool:
    """Whether each round takes all that is due."""
    return all(getattr(processor, "clear_at_most_tokens", None) is None for processor in chain.processors)
