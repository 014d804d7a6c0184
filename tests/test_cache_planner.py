"""The cache planner against a simulated cache that sees only what is sent."""

from __future__ import annotations

import warnings
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scheduled_runs import requests, words
from simulated_caches import PrefixCache

import elision
from elision import Chain, Polling, Schedule
from elision.profiles import profile_for
from elision.testing import DIALECT_OF, Shape, call, chains, conversation, histories, result

MODELS = ["claude-sonnet-4-5", "gpt-4.1", "gpt-5.6", "deepseek-v4-flash", "qwen3-max", "gemini-3.1-pro-preview"]
SYSTEM = words(6000)
PLANS = ["", "last_n_messages: 3", "plan: auto", "plan: auto, ttl: 1h"]
SCHEDULED = ("clear_tool_results", "dedupe", "last_n_observations", "recent_steps", "supersede", "remove_regex")
SHARED: list[Schedule] = ["every_step", Polling(polling=2), "break_even"]


@pytest.mark.parametrize("shape", ["openai", "anthropic"])
def test_what_is_expected_to_be_read_is_what_a_cache_finds_that_sees_only_the_bytes(shape: Shape) -> None:
    @given(
        histories(shape),
        chains(types=SCHEDULED),
        st.sampled_from(PLANS),
        st.sampled_from(SHARED),
        st.sampled_from(MODELS),
    )
    def holds(messages: list[Any], made: Chain, plan: str, schedule: Schedule, model: str) -> None:
        marking = elision.loads(f"history_processors: [{{type: cache_control, {plan}}}]", archive="memory:")
        chain = Chain((*made.processors, *marking.processors), archive="memory:", schedule=schedule)
        cache = PrefixCache(profile_for(model).cache, DIALECT_OF[shape], model)
        with chain.session() as session, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for stop in range(1, len(messages) + 1):
                view = session.process(messages[:stop], system=SYSTEM, model=model, dialect=DIALECT_OF[shape])
                found = view.cache

                assert found.read_tokens == cache.read(view.messages, SYSTEM)
                assert found.input_tokens == found.read_tokens + found.write_tokens + found.miss_tokens

    holds()


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("parallel", [1, 12])
def test_a_long_run_is_read_as_the_provider_would_find_it(model: str, parallel: int) -> None:
    run = conversation("anthropic").user("Go on.")
    for number in range(40):
        calls = [call("read_file", path=f"{number}/{part}.py") for part in range(parallel)]
        run = run.step("I look.", *calls, *[result(words(900 // parallel)) for _ in calls])
    chain = elision.loads(
        "{history_processors: [{type: clear_tool_results, keep: 4, schedule: {polling: 9}}, "
        "{type: cache_control, plan: auto}], classification: none}",
        archive="memory:",
    )
    cache = PrefixCache(profile_for(model).cache, "anthropic", model)
    broken = 0
    with chain.session() as session:
        for messages in requests(run.messages()):
            view = session.process(messages, system=SYSTEM, model=model)
            broken += len(view.cache.breaks)

            assert view.cache.read_tokens == cache.read(view.messages, SYSTEM)

    assert broken
