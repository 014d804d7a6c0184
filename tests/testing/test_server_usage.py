"""The model server reports what was used under the names of each provider, and what that costs."""

from __future__ import annotations

import pytest
from long_requests import WORDS, anthropic, chat
from model_client import asked

from elision.profiles import profile_for
from elision.testing import ModelServer

FIGURES = {
    "gpt-4.1": lambda u: {"prompt_tokens_details": {"cached_tokens": u.read_tokens}},
    "gpt-5.6": lambda u: {
        "prompt_tokens_details": {"cached_tokens": u.read_tokens, "cache_write_tokens": u.write_tokens}
    },
    "deepseek-v4-pro": lambda u: {
        "prompt_cache_hit_tokens": u.read_tokens,
        "prompt_cache_miss_tokens": u.input_tokens - u.read_tokens,
        "prompt_tokens_details": {"cached_tokens": u.read_tokens},
    },
    "kimi-k3.1-pro": lambda u: {"cached_tokens": u.read_tokens},
}


@pytest.mark.parametrize("model", FIGURES)
def test_usage_has_the_names_of_the_provider(model: str) -> None:
    with ModelServer() as server:
        asked(server, "openai", chat(model, 1))
        figures = asked(server, "openai", chat(model, 2))["usage"]
        usage = server.usage[1]
    own = {key: value for key, value in figures.items() if key not in TOTALS}

    assert usage.read_tokens > 0
    assert [figures[key] for key in TOTALS[:3]] == [
        usage.input_tokens,
        usage.output_tokens,
        usage.input_tokens + usage.output_tokens,
    ]
    assert own == FIGURES[model](usage)


TOTALS = ["prompt_tokens", "completion_tokens", "total_tokens", "completion_tokens_details"]


def test_anthropics_usage_counts_what_was_neither_read_nor_written_as_input() -> None:
    with ModelServer() as server:
        asked(server, "anthropic", anthropic(1, (-1, 2)))
        figures = asked(server, "anthropic", anthropic(2, (-1, 2)))["usage"]
        usage = server.usage[1]

    assert figures["input_tokens"] == usage.miss_tokens > 0
    assert figures["cache_read_input_tokens"] == usage.read_tokens > 0
    assert figures["cache_creation_input_tokens"] == usage.write_tokens == 0


def test_responses_report_what_was_read() -> None:
    body = {"model": "gpt-5.2", "input": [{"role": "user", "content": WORDS}]}
    with ModelServer() as server:
        asked(server, "responses", body)
        figures = asked(server, "responses", body)["usage"]

    assert figures["input_tokens_details"] == {"cached_tokens": 1536}


def test_the_cost_is_that_of_the_prices_of_each_model_or_of_one_profile() -> None:
    with ModelServer(["word " * 100] * 2) as server:
        asked(server, "anthropic", anthropic(1, (2,)))
        asked(server, "anthropic", anthropic(2, (4,)))
        first, second = server.usage
    tokens = (first.write_tokens, second.write_tokens, second.read_tokens, first.output_tokens + second.output_tokens)
    written, new, read, output = tokens
    other = profile_for("gpt-4.1")

    assert server.cost() == pytest.approx(((written + new) * 3.75 + read * 0.30 + output * 15) / 1e6)
    assert server.cost(other) == pytest.approx(((written + new) * 2 + read * 0.50 + output * 8) / 1e6)


def test_an_own_profile_sets_rules_window_and_prices() -> None:
    own = {"cache": {"min_tokens": 16}, "prices": {"input": 1, "cache_read": 0.5, "output": 0}}
    body = {"model": "gpt-4.1", "messages": [{"role": "user", "content": "word " * 127}]}
    with ModelServer(profile=own) as server:
        asked(server, "openai", body)
        asked(server, "openai", body)

    assert [each.read_tokens for each in server.usage] == [0, 128]
    assert server.cost() == pytest.approx((128 + 64) / 1e6)
