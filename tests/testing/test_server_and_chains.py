"""What chains send is what the model server takes, and what the cache report expects is what the server bills."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from model_client import asked, post

import elision
from elision import Chain
from elision.testing import Conversation, ModelServer, call, chains, conversation, poisoned, result, thinking

WORDS = "alpha beta gamma delta "
TOOL = {"name": "read_file", "parameters": {"type": "object"}}
TOOLS: dict[str, list[Any]] = {
    "openai": [{"type": "function", "function": TOOL}],
    "anthropic": [{"name": "read_file", "input_schema": {"type": "object"}}],
    "responses": [{"type": "function", **TOOL}],
}
MODELS = [
    ("openai", "gpt-4.1", 128),
    ("openai", "gpt-5.6", 0),
    ("openai", "deepseek-v4-pro", 0),
    ("openai", "qwen3-max", 0),
    ("anthropic", "claude-sonnet-4-5", 0),
    ("anthropic", "claude-opus-5-5", 0),
    ("responses", "gpt-5.6", 0),
]
"""Shapes and models, and by how many tokens the report may expect less: it does not look inside of messages."""


def history(shape: str, model: str) -> Conversation:
    found = conversation(shape).system(WORDS * 500).user("Go.")  # type: ignore[arg-type]
    for number in range(16):
        calls = [call("read_file", path=f"{number}{each}.py") for each in range(1 + number % 2)]
        texts = [f"{number} {place} " + WORDS * (40 + 60 * ((number * 13 + place) % 5)) for place in range(len(calls))]
        thought = [thinking("Hm.")] if "deepseek" in model else []
        found = found.step(*thought, f"Step {number}.", *calls, *map(result, texts))
    return found


def requests(shape: str, model: str, messages: list[Any]) -> Iterator[list[Any]]:
    """What a host has before each answer of the model."""
    for place in range(2, len(messages)):
        if messages[place].get("role") == "assistant":
            yield messages[:place]
    yield messages


@pytest.mark.parametrize("schedule", ["every_step", "{polling: 5}"])
@pytest.mark.parametrize(("shape", "model", "inside"), MODELS)
def test_the_cache_report_expects_what_the_server_bills(shape: str, model: str, inside: int, schedule: str) -> None:
    under, beside = ("input", "instructions") if shape == "responses" else ("messages", "system")
    given_ = history(shape, model).request()
    chain = elision.loads(
        f"{{history_processors: [{{type: clear_tool_results, keep: 2, schedule: {schedule}}}, "
        "{type: cache_control, plan: auto}], classification: none}",
        archive="memory:",
    )
    about: dict[str, Any] = {"model": model, "tools": TOOLS[shape]}
    extra = {"max_tokens": 9} if shape == "anthropic" else {}
    extra |= {beside: given_[beside]} if beside in given_ else {}
    expected = []
    with ModelServer() as server, chain.session("run") as session:
        for messages in requests(shape, model, given_[under]):
            view = session.process(messages, dialect=shape, system=given_.get(beside), **about)
            asked(server, shape, {**about, **extra, under: view.messages})
            expected.append((view.cache.input_tokens, view.cache.read_tokens))
        billed = [(each.input_tokens, each.read_tokens) for each in server.usage]

    assert [tokens for tokens, _ in billed] == [tokens for tokens, _ in expected]
    assert all(0 <= read - told <= inside for (_, read), (_, told) in zip(billed, expected, strict=True))
    assert sum(read for _, read in billed) > 10_000


@pytest.mark.parametrize("shape", TOOLS)
def test_a_poisoned_history_reaches_the_server_with_its_calls_and_results_paired(shape: str) -> None:
    under = "input" if shape == "responses" else "messages"
    limit = {"max_tokens": 9} if shape == "anthropic" else {}
    broken: list[str] = []
    checked = 0

    @given(poisoned(shape), chains(types=("clear_tool_results",), classification="none"))  # type: ignore[arg-type]
    def run(messages: list[Any], chain: Chain) -> None:
        nonlocal checked
        view = chain.process(messages, dialect=shape, model="some-model-of-ours")
        with ModelServer() as server:
            post(server, shape, {"model": "some-model-of-ours", **limit, under: view.messages})
            checked += all(each.rule not in ("keys", "form", "arguments") for each in server.invalid)
            broken.extend(each.message for each in server.invalid if each.rule in ("pairing", "surrogates"))

    run()

    assert broken == []
    assert checked >= 5
