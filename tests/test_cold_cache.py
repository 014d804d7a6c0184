"""Where the provider has nothing of the prefix any more, clearing is free: what waits for a price does not wait."""

from __future__ import annotations

from typing import Any

import pytest
from scheduled_runs import breaks, cleared, reads, requests

import elision
from elision import Chain, Polling, Schedule, SentView, Trigger, open_archive
from elision.profiles import profile_for

MODEL = "deepseek-v4-flash"
RUN = reads(*[300] * 12).messages()
READ = [{"type": "function", "function": {"name": "read_file", "parameters": {}}}]
READ_WRITE = [*READ, {"type": "function", "function": {"name": "write_file", "parameters": {}}}]


def chain(schedule: Schedule = "break_even", options: str = "keep: 4") -> Chain:
    (processor,) = elision.loads(f"history_processors: [{{type: clear_tool_results, {options}}}]").processors
    return Chain(
        [processor], schedule=schedule, archive=open_archive("memory:", environ={}), classification=None, model=MODEL
    )


def sent(made: Chain, at: int, **then: Any) -> list[SentView]:
    """Send the run, a minute from step to step; from step ``at`` on with something else."""
    views = []
    with made.session() as session:
        for number, messages in enumerate(requests(RUN)):
            said: dict[str, Any] = {"tools": READ, "system": "Be brief.", "now": 60.0 * number} | (
                then if number >= at else {}
            )
            if callable(said["now"]):
                said["now"] = said["now"](number)
            view = session.process(messages, **said)

            assert made.process(messages, **said).messages == view.messages
            views.append(view)
    return views


def test_without_anything_of_the_kind_this_run_clears_nothing() -> None:
    assert breaks(sent(chain(), 20)) == []


@pytest.mark.parametrize("schedule", ["break_even", Polling(polling="auto")])
@pytest.mark.parametrize(
    "then",
    [
        {"now": lambda number: 86_400.0 + 60 * number},
        {"model": "claude-fable-5-1"},
        {"tools": READ_WRITE},
        {"system": "Be thorough."},
    ],
    ids=["late", "model", "tools", "system"],
)
def test_what_waits_is_cleared_for_free_once_the_cache_is_cold(schedule: Schedule, then: dict[str, Any]) -> None:
    views = sent(chain(schedule), 9, **then)

    assert breaks(views) == [9]
    assert cleared(views[9]) == cleared(views[-1]) == [0, 1, 2, 3, 4]


@pytest.mark.parametrize(
    ("schedule", "expected"),
    [(Polling(polling=100), []), (Trigger(trigger_tokens=100_000), []), ("every_step", list(range(5, 13)))],
)
def test_fixed_schedules_do_what_they_say_cold_or_not(schedule: Schedule, expected: list[int]) -> None:
    assert breaks(sent(chain(schedule), 9, now=lambda number: 86_400.0 + 60 * number)) == expected


def test_a_gap_within_the_time_that_the_provider_keeps_a_cache_is_none() -> None:
    lasts = profile_for(MODEL).cache.ttl[0].seconds

    assert breaks(sent(chain(), 9, now=lambda number: 480.0 + lasts + 60 * (number - 9))) == []


def test_a_clock_that_goes_back_makes_nothing_cold() -> None:
    assert breaks(sent(chain(), 9, now=lambda number: -86_400.0 + 60 * number)) == []


def test_calls_without_a_session_know_the_time_of_the_request_before_from_the_archive() -> None:
    made = chain()
    views = [
        made.process(messages, now=60.0 * number + 86_400.0 * (number >= 9))
        for number, messages in enumerate(requests(RUN))
    ]

    assert breaks(views) == [9]


def test_without_a_time_calls_without_a_session_take_no_cache_for_cold() -> None:
    made = chain()

    assert breaks([made.process(messages) for messages in requests(RUN)]) == []


def test_a_cold_cache_clears_nothing_in_swe_agents_own_chains() -> None:
    made = elision.loads(
        "agent: {history_processors: [{type: last_n_observations, n: 2, polling: 50}]}", archive="memory:"
    )
    with made.session() as session:
        views = [session.process(each, now=1e6 * number) for number, each in enumerate(requests(RUN))]

    assert len({len(cleared(view)) for view in views}) == 1
