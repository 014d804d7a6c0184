"""What is expected of clearing, as checks; docs/acceptance.md lists them."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from scheduled_runs import breaks, chain, cleared, reads, sent, words

import elision
from elision.testing import call, conversation, result, thinking

REASONING = "The second one says the opposite, so the first is the one to trust. " * 60


def test_three_40k_token_documents_keep_1_about_128_7k_to_43_1k_tokens_reasoning_untouched() -> None:
    run = conversation("anthropic").system(words(700)).user(words(300))
    for name in ("laws", "minutes", "letters"):
        run = run.step(
            thinking(REASONING, signature="c2lnbmVk"),
            REASONING,
            call("fetch", url=f"https://example.org/{name}"),
            result(words(40_000)),
        )
    request = run.step(thinking(REASONING, signature="c2lnbmVk"), REASONING).request()
    view = chain("keep: 1, schedule: every_step").process(request)
    said = [message for message in request["messages"] if message["role"] == "assistant"]

    assert view.tokens.before == pytest.approx(128_700, rel=0.02)
    assert view.tokens.after == pytest.approx(43_100, rel=0.15)
    assert 1 - view.tokens.after / view.tokens.before == pytest.approx(0.67, abs=0.05)
    assert [message for message in view.messages if message["role"] == "assistant"] == said


def test_the_message_stays_its_content_is_replaced_call_and_result_are_always_paired() -> None:
    messages = reads(*[100] * 9).messages()
    for view in sent(chain("keep: 2, schedule: {polling: 3}"), messages):
        there = messages[: len(view.messages)]
        answered = [message.get("tool_call_id") for message in view.messages]

        assert [message["role"] for message in view.messages] == [message["role"] for message in there]
        assert answered == [message.get("tool_call_id") for message in there]
        assert all(message["content"] for message in view.messages if message["role"] == "tool")


def test_by_age_in_steps_the_last_2_steps_keep_their_text_older_results_become_placeholders() -> None:
    """With tool, arguments, original size, a flattened 200-character head, and leave to call again."""
    text = "a line\nof the file\n" * 40
    run = conversation().user("Go.")
    for number in range(5):
        run = run.step(
            *[call("read_file", path=f"{number}{side}.py") for side in "ab"], *[result(f"{number}\n{text}")] * 2
        )
    tools = [{"type": "function", "function": {"name": "read_file", "parameters": {}}}]
    loaded = elision.load("turn_end", archive="memory:")
    view = loaded.process(run.messages(), tools=tools)
    results = [message["content"] for message in view.messages if message["role"] == "tool"]
    head = " ".join(f"0\n{text}".split())[:199].rstrip()

    assert cleared(view) == [0, 1, 2, 3, 4, 5]
    assert results[0] == (
        f'[read_file(path="0a.py"): 762 chars, 81 lines removed; call it again to fetch it; ref {view.edits[0].ref}; '
        f'it began: "{head}…"]'
    )
    assert results[6:] == [f"{number}\n{text}" for number in (3, 3, 4, 4)]


def test_already_cleared_ones_are_skipped() -> None:
    loaded = elision.load("turn_end", archive="memory:")
    view = loaded.process(reads(*[400] * 6).messages())
    again = loaded.process(view.messages)

    assert len(view.edits) == 4
    assert (again.edits, again.messages) == ((), view.messages)


def test_trigger_keep_clear_at_least_a_gate_exclude_tools_with_the_providers_meanings_and_defaults() -> None:
    """100k, 3, none, none, false: the inputs of calls stay, as by the provider's default."""
    (clears, _) = elision.load("anthropic_like", archive="memory:").processors
    run = reads(*[12_000] * 10)
    views = sent(elision.load("anthropic_like", archive="memory:"), run.messages())
    first = next(number for number, view in enumerate(views) if cleared(view))
    gated, spared = (
        chain(f"trigger: 100000, {options}").process(run.messages())
        for options in ("clear_at_least: 99000", "exclude_tools: [read_file]")
    )

    options = clears.model_dump()
    assert (options["trigger_tokens"], options["keep"]) == (100_000, 3)
    assert (options["clear_at_least_tokens"], options["exclude_tools"]) == (0, frozenset())
    assert options["clear_tool_inputs"] is False
    assert views[first - 1].tokens.before < 100_000 <= views[first].tokens.before
    assert cleared(views[first]) == list(range(first - 3))
    assert (cleared(gated), cleared(spared)) == ([], [])
    calls = [message["tool_calls"] for message in views[-1].messages if message["role"] == "assistant"]
    assert calls == [message["tool_calls"] for message in run.messages() if message["role"] == "assistant"]


@pytest.mark.parametrize(("option", "expected"), [("true", 2), ("[write_file]", 2), ("[other]", 0), ("false", 0)])
def test_clear_tool_inputs_with_the_providers_meaning(option: str, expected: int) -> None:
    run = conversation().user("Go on.")
    for number in range(5):
        run = run.step(call("write_file", path=f"{number}.py", text=words(300)), result(words(300)))
    view = chain(f"keep: 3, schedule: every_step, clear_tool_inputs: {option}").process(run.messages())
    calls = [message["tool_calls"][0]["function"] for message in view.messages if message["role"] == "assistant"]

    assert cleared(view) == [0, 1]
    assert [words(300) in made["arguments"] for made in calls] == [False] * expected + [True] * (5 - expected)
    assert ["path" in made["arguments"] for made in calls] == [True] * 5


def test_from_the_newest_as_an_emergency_over_75_percent_so_that_the_prefix_stands() -> None:
    messages = reads(*[9_000] * 13).messages()
    views = sent(elision.load("newest_first_emergency", archive="memory:"), messages, model="gpt-4o")
    first = next(number for number, view in enumerate(views) if cleared(view))
    gone = cleared(views[first])

    assert views[first - 1].tokens.before < 0.75 * 128_000 <= views[first].tokens.before
    assert gone == [first - 6, first - 5, first - 4]
    stop = 2 * gone[0] + 1
    assert bare(views[first].messages[:stop]) == bare(views[first - 1].messages[:stop])


def bare(messages: list[Any]) -> list[Any]:
    """Return the texts of messages, without their cache breakpoints."""
    texts = [message["content"] for message in messages]
    return [text if isinstance(text, str) or text is None else "".join(part["text"] for part in text) for text in texts]


FACTS = ["task relevance", "last use", "tool kind", "size", "error"]


@pytest.mark.parametrize("fact", FACTS)
def test_in_order_of_score_too_task_relevance_last_use_tool_kind_size_error(fact: str) -> None:
    """Two results are alike but for one fact; the second goes first."""
    run = conversation("anthropic").user("Look at first.txt." if fact == "task relevance" else "Go.")
    kind = "run_tests" if fact == "tool kind" else "read_file"
    run = run.step(call(kind, path="first.txt"), result(words(250)))
    run = run.step(
        call("read_file", path="second.txt"), result(words(500 if fact == "size" else 250), error=fact == "error")
    )
    if fact == "error":
        run = run.step(call("read_file", path="second.txt"), result("short"))
    run = run.step(call("list_dir", path="first.txt" if fact == "last use" else "elsewhere"), result("x")).step("On.")
    options = "keep: 0, order: score, clear_at_most_tokens: 100, schedule: {polling: 3}"
    loaded = elision.loads(f"history_processors: [{{type: clear_tool_results, {options}}}]", archive="memory:")
    request = run.step(call("list_dir", path="x"), result("y")).messages()
    (edit,) = loaded.process(request, dialect="anthropic").edits

    assert edit.position == 4


def test_open_calls_forbid_clearing_the_report_says_pending() -> None:
    run = reads(90, 90, 90).step(*[call("read_file", path=side) for side in "abc"], result(words(90)))
    view = chain("keep: 0, schedule: every_step").process(run.messages())
    pending = [each.call_id for each in view.pending]

    assert pending == ["call_5", "call_6"]
    assert [edit.call_id for edit in view.edits] == ["call_1", "call_2"]
    assert view.as_dict()["pending"]


def test_20_steps_in_a_row_converge_to_the_expected_size() -> None:
    views = sent(chain("keep: 3, schedule: every_step"), reads(*[500] * 20).messages())
    whole = [sum(words(500) == message["content"] for message in view.messages) for view in views]
    grown = [after.tokens.after - before.tokens.after for before, after in pairwise(views[5:])]

    assert whole[3:] == [3] * 18
    assert max(grown) < 60
    assert breaks(views) == list(range(4, 21))


@pytest.mark.parametrize(
    ("model", "dialect", "who"),
    [
        ("claude-opus-5-5", "openai", "provider"),
        ("claude-sonnet-4-5", "anthropic", "provider"),
        ("bedrock/us.anthropic.claude-opus-5-5-v1:0", "anthropic", "provider"),
        ("bedrock/us.anthropic.claude-sonnet-4-5-20250929-v1:0", "openai", "elision"),
        ("deepseek/deepseek-chat", "openai", "elision"),
        ("gpt-5.2", "openai", "elision"),
        ("gemini-3-pro", "gemini", "elision"),
    ],
)
def test_provider_native_context_editing_where_there_is_one_the_same_semantics_elsewhere_never_both(
    model: str, dialect: Any, who: str
) -> None:
    run = conversation(dialect).user("Go.")
    for number in range(12):
        run = run.step(call("grep", pattern=f"{number}"), result(words(400)))
    options = "trigger_tokens: 3000, keep: 2, clear_at_least_tokens: 500"
    beside = "{type: dedupe, schedule: every_step}, {type: recent_steps, keep_last_steps: 3, schedule: every_step}"
    native, alone, both = (
        elision.loads(f"history_processors: [{processors}]", archive="memory:")
        for processors in (
            f"{{type: native, {options}}}",
            f"{{type: clear_tool_results, {options}}}",
            f"{{type: native, {options}}}, {beside}",
        )
    )
    given = run.request()
    handed, here, others = (each.process(given, model=model) for each in (native, alone, both))
    asks = bool(handed.params.get("context_management"))

    assert here.edits
    assert (handed.owner, asks) == (who, who == "provider")
    assert bool(others.removed) == (who == "elision")
    if who == "provider":
        assert [*map(id, handed.messages)] == [*map(id, handed.history)]
        assert {each.rule for each in others.refusals} == {"one_owner"}
    else:
        assert handed.messages == here.messages
