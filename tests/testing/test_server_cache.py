"""The model server reads and writes a cache by the rules of each provider, and reports it in its words."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from long_requests import MARK, WORDS, Clock, anthropic, chat
from model_client import asked, post

from elision.profiles import profile_for
from elision.testing import ModelServer, failure, reply, thinking
from elision.testing.server import Usage


def used(shape: str, *bodies: dict[str, Any], clock: Callable[[], float] | None = None, **options: Any) -> list[Usage]:
    with ModelServer(clock=clock or Clock(), **options) as server:
        for body in bodies:
            asked(server, shape, body)
        return server.usage


def test_a_common_prefix_is_read_in_whole_units() -> None:
    first, second = used("openai", chat("gpt-4.1", 1), chat("gpt-4.1", 2))

    assert (first.read_tokens, first.write_tokens) == (0, first.input_tokens)
    assert second.read_tokens == first.input_tokens - first.input_tokens % 128
    assert second.read_tokens + second.write_tokens == second.input_tokens


def test_a_prefix_ends_at_the_message_that_changes() -> None:
    _, changed = used("openai", chat("gpt-4.1", 2), chat("gpt-4.1", 2, first="X"))
    head = used("openai", chat("gpt-4.1", 0))[0].input_tokens

    assert head - 128 <= changed.read_tokens <= head + 128


def test_a_prefix_goes_on_inside_of_a_message() -> None:
    bodies = [
        {"model": "gpt-5.2", "messages": [{"role": "user", "content": each}]} for each in (WORDS * 2, WORDS + "x")
    ]

    assert 1600 - 256 <= used("openai", *bodies)[1].read_tokens <= 1600


def test_short_prompts_are_not_cached() -> None:
    body = {"model": "gpt-4.1", "messages": [{"role": "user", "content": "word " * 1000}]}
    longer = {"model": "gpt-4.1", "messages": [{"role": "user", "content": "word " * 1100}]}

    assert [each.read_tokens for each in used("openai", body, body)] == [0, 0]
    assert used("openai", longer, longer)[1].read_tokens == 1024


def test_other_tools_models_and_cache_keys_begin_a_cache_of_their_own() -> None:
    tool = {"type": "function", "function": {"name": "ls", "parameters": {"type": "object"}}}
    bodies = [chat("gpt-4.1", 1), chat("gpt-4.1", 1, tools=[tool]), chat("gpt-4.1-mini", 1)]
    bodies += [chat("gpt-4.1", 1, prompt_cache_key="other"), chat("gpt-4.1", 1)]

    assert [each.read_tokens > 0 for each in used("openai", *bodies)] == [False, False, False, False, True]


@pytest.mark.parametrize(
    ("model", "ttl"), [("gpt-4.1", 3600), ("deepseek-v4-pro", 86400), ("gpt-5.6", 1800), ("kimi-k3.1-pro", 3600)]
)
def test_an_entry_is_gone_after_its_time_and_a_read_begins_the_time_anew(model: str, ttl: int) -> None:
    clock = Clock()
    with ModelServer(clock=clock) as server:
        for wait in (0, ttl - 1, ttl - 1, ttl):
            clock.now += wait
            asked(server, "openai", chat(model, 1))

    assert [each.read_tokens > 0 for each in server.usage] == [False, True, True, False]


def test_deepseek_reads_only_up_to_the_end_of_an_earlier_request() -> None:
    one, two, changed, again = used(
        "openai",
        chat("deepseek-v4-pro", 1),
        chat("deepseek-v4-pro", 2),
        chat("deepseek-v4-pro", 2, first="X"),
        chat("deepseek-v4-pro", 1, first="X"),
    )

    assert two.read_tokens == one.input_tokens - one.input_tokens % 64
    assert (changed.read_tokens, again.read_tokens) == (0, 0)


def test_gpt_from_5_6_on_reads_only_up_to_marks() -> None:
    one, two, changed = used("openai", chat("gpt-5.6", 1), chat("gpt-5.6", 2), chat("gpt-5.6", 2, first="X"))
    marked = chat("gpt-5.6", 1)
    marked["messages"][0]["content"] = [
        {"type": "text", "text": WORDS, "prompt_cache_breakpoint": {"mode": "explicit"}}
    ]
    head, after = used("openai", marked, chat("gpt-5.6", 2, first="X"))

    assert (two.read_tokens, changed.read_tokens) == (one.input_tokens, 0)
    assert 0 < after.read_tokens < head.input_tokens


def test_explicit_mode_takes_no_mark_at_the_end() -> None:
    body = chat("gpt-5.6", 1, prompt_cache_options={"mode": "explicit"})

    assert [each.read_tokens for each in used("openai", body, body)] == [0, 0]


@pytest.mark.parametrize(("ttl", "seconds"), [(None, 1800), ("30m", 1800), ("12h", 43200)])
def test_a_request_says_how_long_marks_of_gpt_5_6_live(ttl: str | None, seconds: int) -> None:
    body = chat("gpt-5.6", 1, **({"prompt_cache_options": {"ttl": ttl}} if ttl else {}))
    (usage,) = used("openai", body)

    assert usage.writes == ((seconds, usage.input_tokens),)


def test_anthropic_caches_nothing_without_a_breakpoint() -> None:
    first, second = used("anthropic", anthropic(1), anthropic(1))

    assert (first.write_tokens, second.read_tokens, second.miss_tokens) == (0, 0, second.input_tokens)


def test_anthropic_reads_up_to_an_earlier_breakpoint_and_writes_up_to_the_last() -> None:
    one, two = used("anthropic", anthropic(1, (2,)), anthropic(2, (4,)))

    assert (one.read_tokens, one.write_tokens, one.miss_tokens) == (0, one.input_tokens, 0)
    assert two.read_tokens == one.input_tokens
    assert two.write_tokens == two.input_tokens - one.input_tokens


def test_anthropic_bills_what_stands_behind_the_last_breakpoint_as_input() -> None:
    (first,) = used("anthropic", anthropic(1, (-1,)))

    assert 0 < first.write_tokens < first.input_tokens
    assert first.miss_tokens == first.input_tokens - first.write_tokens


def test_anthropic_finds_no_prefix_where_no_breakpoint_was() -> None:
    at_end = used("anthropic", anthropic(2, (4,)), anthropic(2, (4,), first="X"))
    at_head = used("anthropic", anthropic(2, (-1, 4)), anthropic(2, (-1, 4), first="X"))

    assert at_end[1].read_tokens == 0
    assert at_head[1].read_tokens == used("anthropic", anthropic(0, (-1,)))[0].write_tokens


@pytest.mark.parametrize(("steps", "found"), [(10, True), (11, False)])
def test_anthropic_looks_back_over_20_blocks_of_which_the_breakpoint_is_the_first(steps: int, found: bool) -> None:
    """The entry stands at the end of step 1; each step has two blocks, a call and a result."""
    near = anthropic(steps, (2 * steps,))
    _, second = used("anthropic", anthropic(1, (2,)), near)
    _, nearer = used("anthropic", anthropic(1, (2,)), anthropic(steps, (4, 2 * steps)))

    assert (second.read_tokens > 0) == found
    assert nearer.read_tokens > 0


def test_anthropic_has_a_least_size_of_a_prefix() -> None:
    body = {"model": "claude-sonnet-4-5", "max_tokens": 9}
    made = [
        {**body, "messages": [{"role": "user", "content": [{"type": "text", "text": text, "cache_control": MARK}]}]}
        for text in ("word " * 700, "word " * 900)
    ]
    short, long = (used("anthropic", each, each)[1] for each in made)

    assert short.input_tokens < profile_for("claude-sonnet-4-5").cache.min_tokens <= long.input_tokens
    assert (short.read_tokens, long.read_tokens) == (0, long.input_tokens)


@pytest.mark.parametrize(("ttl", "seconds"), [(None, 300), ("5m", 300), ("1h", 3600)])
def test_a_breakpoint_of_anthropics_lives_as_long_as_it_says(ttl: str | None, seconds: int) -> None:
    clock = Clock()
    body = anthropic(1)
    mark = MARK if ttl is None else {**MARK, "ttl": ttl}
    body["messages"][2]["content"][0]["cache_control"] = mark
    with ModelServer(clock=clock) as server:
        for wait in (0, seconds - 1, seconds - 1, seconds):
            clock.now += wait
            asked(server, "anthropic", body)

    assert [each.read_tokens > 0 for each in server.usage] == [False, True, True, False]
    assert server.usage[0].writes == ((seconds, server.usage[0].input_tokens),)


def test_a_breakpoint_of_the_request_stands_on_its_last_block() -> None:
    one, two = used("anthropic", anthropic(1, cache_control=MARK), anthropic(2, cache_control=MARK))

    assert (one.write_tokens, two.read_tokens) == (one.input_tokens, one.input_tokens)


def test_the_way_of_thinking_and_of_choosing_tools_belongs_to_the_cache_of_messages_only() -> None:
    first, changed, chosen = used(
        "anthropic",
        anthropic(1, (-1, 2)),
        anthropic(1, (-1, 2), thinking={"type": "enabled", "budget_tokens": 1024}) | {"messages": [
            *anthropic(0)["messages"], {"role": "assistant", "content": "Yes."}, {"role": "user", "content": "On."}]},
        anthropic(1, (-1, 2), tool_choice={"type": "none"}),
    )  # fmt: skip
    head = used("anthropic", anthropic(0, (-1,)))[0].write_tokens

    assert (first.read_tokens, changed.read_tokens, chosen.read_tokens) == (0, head, head)


def test_breakpoints_and_their_places_change_no_key() -> None:
    _, moved = used("anthropic", anthropic(2, (2, 4)), anthropic(2, (-1, 2)))

    assert moved.read_tokens > 0


def test_qwen_takes_anthropics_breakpoints_on_chat_completions() -> None:
    bodies = [chat("qwen3-max", 1), chat("qwen3-max", 2)]
    for body in bodies:
        body["messages"][-1]["cache_control"] = MARK
    one, two = used("openai", *bodies)

    assert (one.write_tokens, two.read_tokens) == (one.input_tokens, one.input_tokens)


def test_a_failure_leaves_nothing_in_the_cache() -> None:
    with ModelServer([failure(500), "ok"]) as server:
        body = chat("gpt-4.1", 1)
        post(server, "openai", body)
        asked(server, "openai", body)

    assert [each.read_tokens for each in server.usage] == [0]


def test_thinking_that_is_left_out_is_not_billed() -> None:
    block = {"prefix_mismatch_behavior": "drop_block"}
    beta = {"anthropic_beta": "thinking-binding-controls-2026-08-01"}
    body: dict[str, Any] = {
        "model": "claude-opus-5-5",
        "max_tokens": 9,
        "messages": [{"role": "user", "content": "Go."}],
    }
    body["thinking"] = {"type": "adaptive", "display": "summarized", "block_binding": block}
    with ModelServer([reply(thinking(WORDS), "Yes."), "ok", "ok"]) as server:
        answer = asked(server, "anthropic", body, **beta)
        said = [{"role": "assistant", "content": answer["content"]}, {"role": "user", "content": "On."}]
        asked(server, "anthropic", {**body, "messages": [*body["messages"], *said]}, **beta)
        asked(server, "anthropic", {**body, "messages": [{"role": "user", "content": "Run."}, *said]}, **beta)
    _, kept, dropped = server.usage

    assert kept.input_tokens > 1600 > dropped.input_tokens
