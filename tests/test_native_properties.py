"""Any generated history, whatever models it goes to: with ``native`` each view depends on the history alone."""

from __future__ import annotations

import warnings
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from native_runs import CLAUDE, ELSEWHERE
from wire_rules import bytes_of

from elision import Chain, SentView, Session, processor_types
from elision.testing import DIALECT_OF, Shape, chains, histories

SHAPES: tuple[Shape, ...] = ("openai", "anthropic", "responses")
MODELS = (CLAUDE, ELSEWHERE, "gpt-5.2", "bedrock/anthropic.claude-opus-5-5-v1:0")
OTHERS = ("clear_tool_results", "supersede", "remove_regex", "recent_steps")


def asked(run: Chain | Session, messages: list[Any], shape: Shape, model: str) -> SentView:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return run.process(messages, dialect=DIALECT_OF[shape], model=model)


def with_native(made: Chain, table: str | None) -> Chain:
    processors = [processor_types()["native"](trigger_tokens=1, keep=1), *made.processors]
    return Chain(processors, classification=table, archive=made.opened_archive, schedule="every_step")


@pytest.mark.parametrize(
    ("shape", "table"), [("openai", None), ("openai", "default"), ("anthropic", "default"), ("responses", "default")]
)
def test_views_and_what_is_asked_of_the_provider_are_those_of_a_fresh_process(shape: Shape, table: str | None) -> None:
    @given(histories(shape), chains(types=OTHERS), st.sampled_from(MODELS), st.floats(0, 1))
    def holds(messages: list[Any], made: Chain, model: str, share: float) -> None:
        chain = with_native(made, table)
        looked_at = {int(share * len(messages)), len(messages)}
        with chain.session() as session:
            for stop in range(len(messages) + 1):
                view = asked(session, messages[:stop], shape, model)
                if stop in looked_at:
                    fresh = asked(chain, messages[:stop], shape, model)

                    assert bytes_of(view.messages) == bytes_of(fresh.messages)
                    assert (view.params, view.owner) == (fresh.params, fresh.owner)

    holds()


@pytest.mark.parametrize("shape", SHAPES)
def test_nothing_goes_while_the_provider_clears_and_what_is_gone_never_comes_back(shape: Shape) -> None:
    @given(histories(shape), chains(types=OTHERS), st.data())
    def holds(messages: list[Any], made: Chain, data: st.DataObject) -> None:
        chain, gone = with_native(made, None), frozenset[Any]()
        with chain.session() as session:
            for stop in range(len(messages) + 1):
                view = asked(session, messages[:stop], shape, data.draw(st.sampled_from(MODELS)))
                now = frozenset(
                    (each.position, each.part) for each in view.edits if each.elides or each.action == "drop"
                )

                assert gone <= now
                assert view.owner == "elision" or gone == now
                assert bool(view.params) == (view.owner == "provider")
                gone = now

    holds()
