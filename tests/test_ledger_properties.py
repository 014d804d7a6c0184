"""Any generated history, with other models, tools and times in mid-run: each step's view is the same for all who ask.

What a decision rests on beside the history is in the archive's ledger, so a session, a fresh process and a worker that
shares the archive come to the same view.  ``--hypothesis-profile=large`` tries 2000 examples of each.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from dataclasses import replace
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scheduled_runs import reads
from scheduled_runs import requests as agents_requests
from wire_rules import bytes_of

import elision
from elision import Chain, Polling, Schedule, SentView, Session, Trigger, open_archive
from elision.testing import DIALECT_OF, SHAPES, Shape, chains, histories

SCHEDULED = ("clear_tool_results", "clear_tool_results", "dedupe", "image_limit", "recent_steps", "supersede")
SCHEDULES: list[Schedule] = ["break_even", "break_even", "every_step", Polling(polling="auto"), Polling(polling=2)]
SCHEDULES += [Trigger(trigger_tokens=2000), Trigger(trigger_share=0.001)]
READ = {"name": "read_file", "description": "Read a file. " * 20, "input_schema": {"type": "object"}}
RECALL = {"name": "recall", "description": "Read it back.", "input_schema": {"type": "object"}}
MODELS = [None, "claude-sonnet-4-5", "deepseek-v4-flash", "gpt-4o"]
PROFILES: list[dict[str, Any] | None] = [None, {"prices": {"input": 1.0, "cache_read": 0.01, "cache_write": 1.0}}]


class Asked(NamedTuple):
    """What one request says beside its messages."""

    model: str | None
    tools: list[Any] | None
    system: str | None
    now: float | None


asks = st.builds(
    Asked,
    model=st.sampled_from(MODELS),
    tools=st.sampled_from([[READ], [READ, RECALL], [RECALL]]),
    system=st.sampled_from([None, "Be brief. " * 30]),
    now=st.floats(0, 100_000),
)


@st.composite
def runs(draw: st.DrawFn, steps: int, *, models: bool = True) -> list[Asked]:
    """Draw the requests of a run: now and then something is another than before; a host tells the time, or does not."""
    timed, asked = draw(st.booleans()), draw(asks)
    found = []
    for _ in range(steps):
        if draw(st.integers(0, 3)) == 0:
            other = draw(asks)
            asked = other if models else other._replace(model=asked.model)
        found.append(asked if timed else asked._replace(now=None))
    return found


@st.composite
def long_runs(draw: st.DrawFn) -> list[Any]:
    """Draw a run whose results are long enough for schedules to come due."""
    return reads(*draw(st.lists(st.integers(50, 900), min_size=3, max_size=20))).messages()


@st.composite
def clearing(draw: st.DrawFn) -> Chain:
    """Draw a chain that clears, drops and supersedes by one schedule, with an archive of its own."""
    most = draw(st.sampled_from(["", ", clear_at_most_tokens: 400", ", clear_at_most_tokens: 400, order: largest"]))
    beside = draw(st.sampled_from(["", ", {type: dedupe}", ", {type: recent_steps, keep_last_steps: 6}"]))
    keep = draw(st.integers(0, 4))
    made = elision.loads(f"history_processors: [{{type: clear_tool_results, keep: {keep}{most}}}{beside}]")
    schedule = draw(st.sampled_from(SCHEDULES))
    return Chain(made.processors, schedule=schedule, archive=open_archive("memory:", environ={}), classification=None)


def stops(messages: list[Any]) -> list[int]:
    """Return the lengths of the history at which an agent sends a request: the model is to speak next."""
    lengths = range(1, len(messages) + 1)
    said = ("assistant", "model")
    return [at for at in lengths if at == len(messages) or messages[at].get("role") in said] or [0]


def view(run: Chain | Session, messages: Iterable[Any], asked: Asked, dialect: str | None = None) -> SentView:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return run.process(list(messages), dialect=dialect, **asked._asdict())


@pytest.mark.parametrize("shape", SHAPES)
def test_session_view_is_stateless_view_is_view_after_a_restart_whatever_changes_in_mid_run(shape: Shape) -> None:
    @given(histories(shape), chains(types=SCHEDULED, max_size=3), st.sampled_from(SCHEDULES), st.data())
    def holds(messages: list[Any], made: Chain, schedule: Schedule, data: st.DataObject) -> None:
        chain = replace(made, schedule=schedule, archive=open_archive("memory:", environ={}), classification=None)
        lengths, dialect = stops(messages), DIALECT_OF[shape]
        asked = data.draw(runs(len(lengths)))
        restart = data.draw(st.integers(0, len(lengths)))
        with chain.session() as session, chain.session() as restarted:
            for number, (stop, each) in enumerate(zip(lengths, asked, strict=True)):
                sent = bytes_of(view(session, messages[:stop], each, dialect).messages)

                assert bytes_of(view(chain, messages[:stop], each, dialect).messages) == sent
                if number >= restart:
                    assert bytes_of(view(restarted, messages[:stop], each, dialect).messages) == sent

    holds()


@given(long_runs(), clearing(), st.data())
def test_a_worker_with_another_price_map_sends_the_same_and_what_is_cleared_stays_cleared(
    messages: list[Any], chain: Chain, data: st.DataObject
) -> None:
    lengths = [len(request) for request in agents_requests(messages)]
    asked = data.draw(runs(len(lengths)))
    other = replace(chain, profile=data.draw(st.sampled_from(PROFILES)))
    gone: set[tuple[int, int | None]] = set()
    with chain.session() as session:
        for stop, each in zip(lengths, asked, strict=True):
            sent = view(session, messages[:stop], each)
            now_gone = {(edit.position, edit.part) for edit in sent.edits if edit.action in ("elide", "drop")}

            assert view(other, messages[:stop], each).messages == sent.messages
            assert gone <= now_gone
            gone = now_gone


@given(long_runs(), clearing(), st.data())
def test_processing_what_was_sent_changes_nothing_whatever_has_changed_but_the_model(
    messages: list[Any], chain: Chain, data: st.DataObject
) -> None:
    lengths = [len(request) for request in agents_requests(messages)]
    with chain.session() as session:
        for stop, each in zip(lengths, data.draw(runs(len(lengths), models=False)), strict=True):
            sent = view(session, messages[:stop], each)
    again = view(chain, sent.messages, each)

    assert again.messages == sent.messages
    assert again.edits == ()
