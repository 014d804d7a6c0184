from __future__ import annotations

import copy
import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from wire_rules import wire_faults

import elision
from elision import Chain, OverBudgetError, SentView, Session, registry
from elision.testing import Shape, call, check_processor, conversation, result, thinking
from elision.testing.strategies import histories

READ_FILE: dict[str, Any] = {"type": "function", "function": {"name": "read_file", "parameters": {"type": "object"}}}
READING = [READ_FILE]
BASH = [{"type": "function", "function": {"name": "bash", "parameters": {"type": "object"}}}]
FILE = "".join(f"line {number} of the file, with some text\n" for number in range(300))
Run = Callable[..., SentView]


def budget(tokens: int, **options: Any) -> Chain:
    return Chain([registry.plugins().processors()["budget"](max_tokens=tokens, **options)], archive="memory:")


def reading(steps: int, tool: str = "read_file", text: str = FILE, shape: Shape = "openai") -> list[Any]:
    built = conversation(shape).user("Go.")
    for number in range(steps):
        built = built.step(call(tool, path=f"f{number}"), result(f"{number}\n{text}"))
    return built.messages()


def texts(view: SentView) -> list[str]:
    return [str(message["content"]) for message in view.messages]


def test_a_request_that_fits_goes_out_as_it_is() -> None:
    messages = reading(3)
    view = budget(20_000).process(messages)

    assert all(sent is given for sent, given in zip(view.messages, messages, strict=True))


@pytest.mark.parametrize("shape", ["openai", "anthropic", "responses", "gemini"])
def test_10_parallel_results_of_3k_tokens_against_a_20k_budget_are_bounded_and_valid(shape: Shape) -> None:
    calls = [call("read_file", path=f"f{number}") for number in range(10)]
    results = [result(f"{number}\n{FILE}") for number in range(10)]
    view = budget(20_000).process(conversation(shape).user("Go.").step(*calls, *results).messages())

    assert view.tokens.after <= 19_000 < view.tokens.before
    assert wire_faults(shape, view.messages) == []
    assert len(view.edits) == 10


@pytest.mark.parametrize(("role", "size"), [("user", 868_000), ("assistant", 200_000)])
def test_a_huge_message_is_bounded_and_valid(role: str, size: int) -> None:
    messages = [{"role": "user", "content": "Go."}, {"role": "assistant", "content": "What?"}]
    messages += [{"role": role, "content": "word " * (size // 5)}, {"role": "user", "content": "And now?"}]
    view = budget(20_000).process(messages)

    assert view.tokens.after <= 19_000
    assert wire_faults("openai", view.messages) == []
    assert "chars left out here; ref " in texts(view)[2]
    assert [texts(view)[index] for index in (0, 3)] == ["Go.", "And now?"]


def test_what_can_be_had_again_goes_first_and_what_the_table_keeps_stays() -> None:
    messages = reading(2, "bash", FILE)
    more = conversation("openai").user("More.")
    for path in "ab":
        more = more.step(call("read_file", path=path), result(FILE))
    view = budget(12_000).process([*messages, *more.messages()], tools=[*READING, *BASH])

    assert [(edit.tool, edit.action) for edit in view.edits] == [("read_file", "elide")]


def test_where_no_tool_brings_a_result_back_it_is_cut_instead() -> None:
    view = budget(10_000).process(reading(4), tools=BASH)

    assert {edit.action for edit in view.edits} == {"replace"}
    assert view.tokens.after <= 9_500


def test_long_values_in_old_arguments_become_pointers_before_steps_go() -> None:
    writing = conversation("openai").user("Go.")
    for number in range(3):
        writing = writing.step(call("write_file", path=f"f{number}", content=FILE), result("ok"))
    view = budget(5_000).process(writing.messages())

    assert {edit.action for edit in view.edits} == {"elide"}
    assert [json.loads(view.messages[at]["tool_calls"][0]["function"]["arguments"])["path"] for at in (1, 3)] == [
        "f0",
        "f1",
    ]
    assert FILE in json.loads(view.messages[5]["tool_calls"][0]["function"]["arguments"])["content"]


def test_the_oldest_steps_go_with_one_note_that_says_how_many() -> None:
    view = budget(1_000, margin_share=0).process(reading(40))
    dropped = [edit for edit in view.edits if edit.action == "drop"]

    assert [edit.position for edit in dropped] == [1 + 2 * number for number in range(len(dropped))]
    assert texts(view)[1].startswith(f"[{len(dropped)} earlier steps are left out here")
    assert sum("earlier steps" in text for text in texts(view)) == 1
    assert view.messages[-2]["tool_calls"][0]["id"] == "call_40"


def test_receipts_the_head_and_the_newest_step_stay() -> None:
    built = conversation("openai").system("Rules.").user("Go.")
    built = built.step(call("bash", command="git commit -m done"), result("[main 4f2a] done " * 100))
    for number in range(6):
        built = built.step(call("read_file", path=f"f{number}"), result(FILE))
    view = budget(2_000).process(built.messages(), tools=[*READING, *BASH])

    assert texts(view)[:2] == ["Rules.", "Go."]
    assert "[main 4f2a] done " * 100 in texts(view)
    assert view.messages[-1]["tool_call_id"] == "call_7"


@pytest.mark.parametrize("place", [0, 4, 8])
@pytest.mark.parametrize(
    ("tool", "arguments", "error"),
    [
        ("bash", {"command": "git commit -m done"}, False),
        ("read_file", {"path": "skills/deploy/SKILL.md"}, False),
        ("read_file", {"path": "missing"}, True),
        ("mystery", {}, False),
    ],
    ids=["receipt", "skill", "error", "unknown"],
)
def test_what_the_table_keeps_stands_after_budget(
    tool: str, arguments: dict[str, Any], error: bool, place: int
) -> None:
    built = conversation("anthropic").user("Go.")
    canary = f"CANARY {'words of it ' * 60}"
    for number in range(9):
        here = number == place
        said = result(canary, error=error) if here else result(f"{number}\n{FILE}")
        built = built.step(call(tool, **arguments) if here else call("read_file", path=f"f{number}"), said)
    view = budget(2_500).process(built.messages())

    assert view.tokens.after <= 2_375
    assert any(canary in text for text in texts(view))


def test_what_cannot_fit_is_an_error_that_says_what_is_too_large_and_the_session_goes_on() -> None:
    session = budget(500).session()
    messages = [{"role": "system", "content": "rule " * 5000}, {"role": "user", "content": "Go."}]
    with pytest.raises(OverBudgetError) as told:
        session.process(messages)
    messages[0] = {"role": "system", "content": "One rule."}

    assert "message 0 (system) 5,000" in str(told.value) or "message 0 (system) 5,001" in str(told.value)
    assert "may have 475" in str(told.value)
    assert texts(session.process(messages)) == ["One rule.", "Go."]


def test_the_system_prompt_and_tools_beside_the_messages_count() -> None:
    with pytest.raises(OverBudgetError, match="system prompt and tools 3,"):
        budget(2_000).process([{"role": "user", "content": "Go."}], system="rule " * 3000)


def test_the_limit_is_the_window_of_the_model_less_the_reserve_and_the_margin() -> None:
    chain = elision.loads(
        "history_processors: [{type: budget, reserve_tokens: 1000, margin_share: 0.1}]\n"
        "profile: {window: {input_tokens: 5000}}"
    )
    view = chain.process(reading(4), model="gpt-4.1")

    assert view.tokens.after <= 3_600


def test_an_error_of_the_budget_is_no_failure_to_skip(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ELISION_ARCHIVE")
    chain = Chain([registry.plugins().processors()["budget"](max_tokens=3000)], archive="none", on_error="skip")
    with pytest.raises(OverBudgetError, match="archived_first"):
        chain.process(reading(2))


def test_bound_thinking_is_heeded() -> None:
    built = conversation("anthropic").user("Go.")
    for number in range(4):
        built = built.step(thinking("Hm.", signature="sig"), call("read_file", path=f"f{number}"), result(FILE))
    messages = built.messages()
    with pytest.raises(OverBudgetError, match="bound_thinking"):
        budget(6_000).process(messages, model="claude-opus-5-5")
    sending = Chain(budget(6_000).processors, archive="memory:", on_bound_thinking="request_drop_block")
    view = sending.process(messages, model="claude-opus-5-5")

    assert view.params["thinking"]["block_binding"] == {"prefix_mismatch_behavior": "drop_block"}
    assert wire_faults("anthropic", view.messages) == []


def test_nothing_is_removed_where_the_provider_manages_the_context() -> None:
    chain = Chain(budget(1_000).processors, archive="memory:", owner="provider")
    with pytest.raises(OverBudgetError, match="one_owner"):
        chain.process({"messages": reading(4), "context_management": {"edits": [{"type": "clear_tool_uses_20250919"}]}})


def test_pending_steps_and_mended_histories_count_right() -> None:
    pending = reading(2)
    pending += (
        conversation("openai").step(call("read_file", path="a"), call("read_file", path="b"), result(FILE)).messages()
    )
    poisoned = [*reading(3)[:-1], {"role": "user", "content": "Stop. " * 20}]
    for messages in (pending, poisoned):
        session = budget(5_000).session()
        views = [session.process(messages[:stop]) for stop in range(1, len(messages) + 1)]

        assert all(view.tokens.after <= 4_750 for view in views)
        assert wire_faults("openai", views[-1].messages) == [] or messages is pending


def test_a_session_counts_each_message_once_and_views_are_those_of_a_fresh_run() -> None:
    messages = reading(9)
    with budget(9_000).session() as session:
        for stop in range(1, len(messages) + 1):
            view = session.process(messages[:stop], tools=READING)
            fresh = budget(9_000).process(messages[:stop], tools=READING)

            assert json.dumps(view.messages) == json.dumps(fresh.messages)
            assert view.tokens.after <= 8_550


def test_another_model_counts_anew() -> None:
    messages = reading(9)
    with budget(9_000).session() as session:
        for model in ("gpt-4.1", "claude-sonnet-4-5", "gpt-4.1"):
            view = session.process(messages, model=model)

            assert view.tokens.after <= 8_550


@pytest.mark.parametrize("tokens", [30, 120])
def test_budget_keeps_the_contract(tokens: int) -> None:
    cls = registry.plugins().processors()["budget"]

    check_processor(cls, max_examples=8, max_tokens=tokens)


@pytest.mark.parametrize("shape", ["openai", "anthropic", "responses", "gemini"])
@given(data=st.data())
def test_what_is_sent_fits_and_is_valid_or_there_is_an_error(shape: Shape, data: st.DataObject) -> None:
    messages = data.draw(histories(shape))
    before = copy.deepcopy(messages)
    most = data.draw(st.integers(20, 400))
    chain = Chain(budget(most, margin_share=0).processors, archive="memory:", classification=None)
    try:
        view = chain.process(messages, dialect=shape)
    except OverBudgetError:
        return
    finally:
        assert messages == before

    assert view.tokens.after <= most
    assert wire_faults(shape, view.messages) == []


@pytest.mark.parametrize("shape", ["openai", "anthropic"])
@settings(max_examples=15)
@given(data=st.data())
def test_among_others_a_sessions_view_is_that_of_a_fresh_run(shape: Shape, data: st.DataObject) -> None:
    messages = data.draw(histories(shape))
    types = registry.plugins().processors()
    others = [
        types["truncate"].model_validate({"threshold_tokens": 60, "head_chars": 60, "tail_chars": 30}),
        types["clear_tool_results"].model_validate({"keep": 2, "schedule": "every_step"}),
    ]
    most = data.draw(st.integers(60, 400))
    chain = Chain([*others, *budget(most).processors, types["cache_control"]()], archive="memory:", classification=None)
    with chain.session() as session:
        for stop in range(1, len(messages) + 1):
            assert sent(session, messages[:stop], shape) == sent(chain, messages[:stop], shape)


def sent(run: Chain | Session, messages: list[Any], shape: str) -> str:
    """What is sent, or what is said where nothing is."""
    try:
        return json.dumps(run.process(messages, dialect=shape).messages)
    except OverBudgetError as error:
        return str(error)


@pytest.mark.parametrize("model", [None, "a-model-that-nobody-knows"])
def test_a_window_that_is_only_assumed_is_no_reason_to_remove_anything(model: str | None) -> None:
    messages = [{"role": "user", "content": "word " * 200_000}]
    view = elision.loads("history_processors: [{type: budget}]", archive="memory:").process(messages, model=model)

    assert view.messages == messages
    assert view.edits == ()
