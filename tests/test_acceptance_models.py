"""Each family of models: what must go back unchanged does, whatever is cleared around it, and the wire stays valid."""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterable, Mapping
from typing import Any

import pytest
from scheduled_runs import words
from shared_data import shared
from wire_rules import bytes_of, role_of, wire_faults, without_marks

import elision
from elision import Chain, SentView
from elision.documents import read_runs
from elision.testing import Conversation, Shape, call, conversation, redacted_thinking, result, thinking

STEPS = 30


def results_only(view: SentView) -> bool:
    """Whether nothing but results and cache breakpoints is other than the host gave it."""
    return bytes_of([*map(_without_results, view.history)]) == bytes_of([*map(_without_results, view.messages)])


def _without_results(message: Mapping[str, Any]) -> Any:
    kept = without_marks(message)
    if role_of(message) == "tool":
        return {key: value for key, value in kept.items() if key not in {"content", "output"}}
    if isinstance(kept.get("content"), str):
        # A breakpoint needs a block to stand on.
        kept["content"] = [{"type": "text", "text": kept["content"]}]
    for key in ("content", "parts"):
        if isinstance(kept.get(key), list):
            kept[key] = [_without_response(block) for block in kept[key]]
    return kept


def _without_response(block: Any) -> Any:
    if isinstance(block, Mapping) and block.get("type") == "tool_result":
        return {key: value for key, value in block.items() if key != "content"}
    if isinstance(block, Mapping) and "functionResponse" in block:
        return {**block, "functionResponse": {**block["functionResponse"], "response": None}}
    return block


def default_chain(**said: Any) -> Chain:
    """Return the default chain; ``said`` are other options of it."""
    return Chain(elision.load("default").processors, archive="memory:", **said)


def sent(chain: Chain, run: Any, shape: str, model: str, *, dialect: str | None = None) -> SentView:
    """Send a run step by step, each request checked against the wire; return the last view."""
    messages = run.messages() if isinstance(run, Conversation) else run
    stops = [index for index, each in enumerate(messages) if index and _begins(messages, index)]
    with chain.session() as session, warnings.catch_warnings():
        warnings.simplefilter("ignore", elision.ElisionWarning)
        for stop in [*stops, len(messages)]:
            view = session.process(messages[:stop], model=model, dialect=dialect or shape)

            assert wire_faults(shape, view.messages) == []
            assert results_only(view)
        fresh = chain.process(messages, model=model, dialect=dialect or shape)

    assert bytes_of(fresh.messages) == bytes_of(view.messages)
    return view


def _begins(messages: list[Any], index: int) -> bool:
    """Whether the model begins to speak here."""
    return role_of(messages[index]) == "assistant" and role_of(messages[index - 1]) != "assistant"


def cleared(view: SentView) -> int:
    return sum(edit.elides for edit in view.edits)


def run_of(shape: Shape, *, thoughts: bool = True, ids: bool = False) -> Conversation:
    """Return a long run with thinking in each step, two user turns, and now and then two calls at once."""
    run = conversation(shape).system("You are careful.").user("Find out why the build fails.")
    for number in range(STEPS):
        thought = [thinking(f"Thought {number}: it must be the cache.", signature=f"c2ln{number:04}")]
        calls = [
            call("grep", call_id=f"functions.grep:{place}" if ids else None, pattern=f"{number}") for place in (0, 1)
        ]
        count = 2 if number % 5 == 0 else 1
        run = run.step(*(thought if thoughts else []), *calls[:count], *[result(words(900))] * count)
        if number == STEPS // 2:
            run = run.step("It is the cache.").user("Then mend it.")
    return run


# Claude.


def claude_run() -> Conversation:
    run = run_of("anthropic")
    secret = redacted_thinking("ZW5jcnlwdGVk" * 9)
    return run.step(secret, call("grep", pattern="last"), result(words(900))).step(secret, call("ls"), result("a.py"))


def test_claude_with_thinking_and_redacted_thinking_of_the_newest_step_rule() -> None:
    view = sent(default_chain(), claude_run(), "anthropic", "claude-sonnet-4-5")

    assert cleared(view) > STEPS / 2
    assert bytes_of(view.messages).count("redacted_thinking") == 2


def test_claude_bound_to_prefix_is_not_edited_where_nobody_can_tell_the_provider() -> None:
    with pytest.warns(elision.ElisionWarning) as caught:
        view = default_chain().process(claude_run().messages(), model="claude-opus-5-5", dialect="anthropic")

    assert cleared(view) == 0
    assert results_only(view)
    assert any("thinking" in str(each.message) for each in caught)


def test_claude_bound_to_prefix_is_edited_where_the_request_says_that_thinking_may_be_left_out() -> None:
    chain = default_chain(on_bound_thinking="request_drop_block")
    view = sent(chain, claude_run(), "anthropic", "claude-opus-5-5")

    assert cleared(view) > 0
    assert "drop_block" in bytes_of(view.params)


def test_claude_in_chat_completions_keeps_its_thinking_blocks() -> None:
    view = sent(default_chain(), run_of("openai"), "openai", "anthropic/claude-sonnet-4-5")

    assert cleared(view) > STEPS / 2
    assert bytes_of(view.messages).count('"signature"') == STEPS


# OpenAI.


def test_openai_with_encrypted_reasoning_and_a_compaction_item_replayed_whole() -> None:
    compaction = {"type": "compaction", "id": "cmp_1", "encrypted_content": "gAAAA" * 99, "unknown": {"kept": [1]}}
    items = run_of("responses").messages()
    for number, item in enumerate(items):
        if item.get("type") == "reasoning":
            items[number] = {**item, "encrypted_content": f"gAAA{number}", "summary": [], "status": None}
    at = next(index for index in range(40, len(items)) if _begins(items, index))
    items.insert(at, compaction)
    view = sent(default_chain(), items, "responses", "gpt-5.2")

    assert cleared(view) > STEPS / 2
    assert view.messages[at] is compaction
    assert [each for each in view.messages if each.get("type") == "reasoning"] == [
        each for each in items if each.get("type") == "reasoning"
    ]


# DeepSeek, Qwen, Kimi: chat completions with their own fields.


def with_reasoning(messages: list[Any]) -> list[Any]:
    """Return messages with their reasoning as these models have it: as text, also where it is empty."""
    return [
        {**{key: value for key, value in each.items() if key != "thinking_blocks"}, "reasoning_content": text}
        if each["role"] == "assistant"
        else each
        for each, text in zip(messages, (f"Thought {number}" * (number % 3) for number in range(999)), strict=False)
    ]


@pytest.mark.parametrize("model", ["deepseek/deepseek-reasoner", "dashscope/qwen3-max", "moonshot/kimi-k2-thinking"])
def test_reasoning_content_is_replayed_in_every_turn(model: str) -> None:
    messages = with_reasoning(run_of("openai").messages())
    view = sent(default_chain(), messages, "openai", model)
    before, after = (
        [each.get("reasoning_content") for each in some if each["role"] == "assistant"]
        for some in (messages, view.messages)
    )

    assert cleared(view) > STEPS / 2
    assert before == after
    assert "" in after


def test_kimis_ids_repeat_from_step_to_step_and_each_result_stays_with_its_call() -> None:
    messages = with_reasoning(run_of("openai", ids=True).messages())
    for number, each in enumerate(messages):
        if each["role"] == "tool":
            each["content"] = f"result {number} {each['content']}"
    view = sent(default_chain(), messages, "openai", "moonshot/kimi-k2-thinking")
    ids = [each["tool_call_id"] for each in messages if each["role"] == "tool"]

    assert len(set(ids)) == 2
    assert [each["tool_call_id"] for each in view.messages if each["role"] == "tool"] == ids
    assert cleared(view) > STEPS / 2
    for edit in view.edits:
        if edit.elides:
            call_of = next(each for each in reversed(messages[: edit.position]) if each["role"] == "assistant")
            pattern = json.loads(call_of["tool_calls"][0]["function"]["arguments"])["pattern"]

            assert f'pattern="{pattern}"' in view.messages[edit.position]["content"]
            assert edit.call_id == messages[edit.position]["tool_call_id"]


# Gemini.


def test_geminis_thought_signatures_stay_with_their_parts() -> None:
    contents = run_of("gemini").messages()
    for number, content in enumerate(contents):
        for part in content["parts"]:
            if "functionCall" in part:
                part["thoughtSignature"] = f"c2lnbmF0dXJl{number}"
    view = sent(default_chain(), contents, "gemini", "gemini-3-pro-preview")

    assert cleared(view) > STEPS / 2
    assert _signatures(view.messages) == _signatures(contents)
    assert len(_signatures(contents)) >= STEPS


def _signatures(contents: Iterable[Any]) -> list[str]:
    return [part["thoughtSignature"] for each in contents for part in each["parts"] if "thoughtSignature" in part]


# What providers really sent and took.

RECORDED = {
    "anthropic/pydanticai_test_anthropic_model_thinking_part_redacted.exchange.json": "claude-sonnet-4-5",
    "anthropic/pydanticai_test_anthropic_tool_with_thinking.exchange.json": "claude-sonnet-4-5",
    "anthropic/pydanticai_test_anthropic_compaction_end_to_end.exchange.json": "claude-opus-4-6",
    "anthropic/pydanticai_test_multiple_parallel_tool_calls.exchange.json": "claude-sonnet-4-5",
    "openai/pydanticai_test_openai_responses_compact_messages.exchange.json": "gpt-5.2",
    "openai/pydanticai_test_deepseek_responses_replay_own_reasoning_history.exchange.json": "deepseek-reasoner",
    "openai/pydanticai_test_openai_responses_history_with_combined_tool_call_id.exchange.json": "gpt-5.2",
    "gemini/pydanticai_test_thinking_with_tool_calls_from_other_model.exchange.json": "gemini-3-pro-preview",
}


@pytest.mark.parametrize("name", RECORDED)
def test_of_what_was_recorded_nothing_but_results_is_touched(name: str) -> None:
    clears = "history_processors: [{type: clear_tool_results, keep: 0}]\nschedule: every_step\nclassification: none"
    for run in read_runs(shared("data", *name.split("/"))):
        for chain in (default_chain(), elision.loads(clears, archive="memory:")):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", elision.ElisionWarning)
                view = chain.process([*run.messages], system=run.system, tools=run.tools, model=RECORDED[name])

            assert view.repairs or results_only(view)
