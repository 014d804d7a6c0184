"""Edits of calls and thinking under the guard, in the report, and the faults that users met elsewhere."""

from __future__ import annotations

import copy
import json
import warnings
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from anthropic_rules import with_named_calls
from archive_runs import locked
from guarded import Plan, planned
from hypothesis import given
from hypothesis import strategies as st
from removed import lost
from scheduled_runs import breaks, reads, requests, sent
from shared_data import shared
from wire_rules import bytes_of, calls_and_thinking, newest_action, wire_faults

import elision
from elision import Address, Archive, Chain, Edit, Replace, Text, ToolCall, View
from elision.archive.sqlite import SqliteStore
from elision.testing import DIALECT_OF, Shape, call, chains, conversation, histories, poisoned, result, thinking

LONG = "A line of code.\n" * 60
SAID = ("clear_thinking", "clear_tool_inputs", "clear_tool_results")
ASSISTANT = frozenset({"assistant"})
MODEL = "claude-3-5-sonnet-20241022"
"""A model that wants no thinking back."""

BOTH = """
history_processors:
  - {type: clear_thinking}
  - {type: clear_tool_inputs, keep: 0, threshold_chars: 10}
  - {type: clear_tool_results, keep: 0, clear_tool_inputs: true}
schedule: every_step
classification: none
"""


def run() -> list[Any]:
    made = conversation("anthropic").user("Go.")
    made = made.step(thinking("One.", signature="c2ln"), call("write_file", text=LONG), result(LONG), then="And?")
    return made.step(thinking("Two.", signature="c2ln"), call("write_file", text=LONG), result(LONG)).messages()


def put(plan: Plan, **traits: Any) -> elision.SentView:
    chain = Chain([planned(plan, **{"touches": ASSISTANT, **traits})], classification=None, archive="memory:")
    return chain.process(run(), model=MODEL)


def changed(view: View, change: Callable[[ToolCall], Any]) -> Iterable[Edit]:
    part = view.history.messages[1].parts[1]
    assert isinstance(part, ToolCall)
    new = change(part)
    yield Replace(Address(1, 1), new if isinstance(new, tuple) else (new,))


@pytest.mark.parametrize(
    "change",
    [
        lambda part: replace(part, id="other"),
        lambda part: replace(part, name="other"),
        lambda part: replace(part, raw=dict(part.raw), arguments={}),
        lambda part: replace(part, arguments="text"),
        lambda part: Text("text"),
        lambda part: (),
        lambda part: (part, part),
    ],
)
def test_a_call_is_replaced_by_itself_with_other_arguments_and_by_nothing_else(
    change: Callable[[ToolCall], Any],
) -> None:
    view = put(lambda view: changed(view, change))

    assert [refusal.rule for refusal in view.refusals] == ["content_is_known"]
    assert view.messages[1]["content"][1]["input"] == {"text": LONG}


@pytest.mark.parametrize("address", [Address(1, 0), Address(2, 0)])
def test_a_call_stands_nowhere_else(address: Address) -> None:
    made = ToolCall("call_1", "write_file", {}, None)

    assert [each.rule for each in put(lambda _: [Replace(address, (made,))]).refusals] == ["content_is_known"]


def test_thinking_is_not_rewritten() -> None:
    view = put(lambda _: [Replace(Address(1, 0), (Text("Hm."),))])

    assert [refusal.rule for refusal in view.refusals] == ["content_is_known"]


@pytest.mark.parametrize("address", [Address(1, 0), Address(1, 1)])
def test_calls_and_thinking_are_the_assistants_so_a_processor_declares_that_it_touches_them(address: Address) -> None:
    def plan(view: View) -> list[Edit]:
        part = view.history.messages[1].parts[address.part]
        return [Replace(address, (replace(part, arguments={}),) if isinstance(part, ToolCall) else ())]

    refused = put(plan, touches=frozenset()).refusals

    assert [refusal.rule for refusal in refused] == ["touches_declared"]
    assert len(put(plan).edits) == 1


@pytest.mark.parametrize("stage", ["entry", "history", "request"])
@pytest.mark.parametrize("part", [0, 1])
def test_the_newest_step_keeps_its_calls_and_thinking_at_every_stage(stage: str, part: int) -> None:
    def plan(view: View) -> list[Edit]:
        if len(view.history) < 4:
            return []
        found = view.history.messages[3].parts[part]
        return [Replace(Address(3, part), (replace(found, arguments={}),) if isinstance(found, ToolCall) else ())]

    view = put(plan, stage=stage, operation="convert")

    assert view.edits == ()
    assert {refusal.rule for refusal in view.refusals} == {"newest_step_stays"}


def test_arguments_never_grow_and_hold_no_lone_surrogate() -> None:
    longer = put(lambda view: changed(view, lambda part: replace(part, arguments={"text": LONG + "x"})))
    torn = put(lambda view: changed(view, lambda part: replace(part, arguments={"text": "\ud83d"})))

    assert [each.rule for each in (*longer.refusals, *torn.refusals)] == ["never_grows", "clean_text"]


def test_without_an_archive_calls_and_thinking_stay() -> None:
    loaded = elision.loads(BOTH, archive="none")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", elision.ElisionWarning)
        view = loaded.process(run(), model=MODEL)

    assert view.edits == ()
    assert {refusal.rule for refusal in view.refusals} == {"archived_first"}


def test_the_inputs_of_cleared_results_are_cleared_with_them() -> None:
    text = "{{type: clear_tool_results, keep: 1, clear_tool_inputs: {}}}"
    messages = reads(*[90] * 3).user("Now write.").messages()
    for message in messages:
        for made in message.get("tool_calls") or ():
            made["function"]["arguments"] = json.dumps({"path": "a.py", "note": LONG})

    def inputs(option: str) -> list[bool]:
        loaded = elision.loads(
            f"history_processors: [{text.format(option)}]\nschedule: every_step\nclassification: none",
            archive="memory:",
        )
        view = loaded.process(messages)
        return [LONG[:9] in bytes_of(message["tool_calls"]) for message in view.messages if "tool_calls" in message]

    assert inputs("true") == [False, False, True]
    assert inputs("[read_file]") == [False, False, True]
    assert inputs("[other]") == inputs("false") == [True, True, True]


@pytest.mark.parametrize("option", ["", ", clear_at_most_tokens: 40, order: largest"])
def test_results_and_their_inputs_go_in_one_round(option: str) -> None:
    loaded = elision.loads(
        f"history_processors: [{{type: clear_tool_results, keep: 1, clear_tool_inputs: true{option}}}]\n"
        "schedule: {polling: 3}\nclassification: none",
        archive="memory:",
    )
    made = conversation().user("Go.")
    for number in range(9):
        made = made.step(call("read_file", path=f"{number} {LONG}"), result(f"{number} {LONG}"))
    views = sent(loaded, made.messages())

    for view in views:
        by_part = {
            which: {e.call_id for e in view.edits if e.operation == which} for which in ("clear", "clear_inputs")
        }
        assert by_part["clear"] == by_part["clear_inputs"]
    assert 0 < len(breaks(views)) <= 3


def test_the_inputs_of_what_the_table_keeps_stay_under_clear_tool_results() -> None:
    loaded = elision.loads(
        "history_processors: [{type: clear_tool_results, keep: 0, clear_tool_inputs: true}]\nschedule: every_step",
        archive="memory:",
    )
    made = conversation().user("Go.").step(call("write_file", text=LONG), result(LONG)).step("Done.")

    refusals = loaded.process(made.messages()).refusals

    assert [refusal.reason for refusal in refusals] == ["class receipt: clear never"] * 2


def case(number: str) -> dict[str, Any]:
    found = sorted(shared("bugcases").glob(f"{number}-*.json"))
    return dict(json.loads(found[0].read_text(encoding="utf-8")))


def put_through(found: dict[str, Any], model: str) -> list[elision.SentView]:
    """Send a case step by step through both processors; the stored history stays, and all that is gone can be had."""
    messages, chain = copy.deepcopy(found["messages"]), elision.loads(BOTH, archive="memory:")
    with chain.session() as session:
        views = [session.process(each, model=model) for each in requests(found["messages"])]

    assert found["messages"] == messages
    for view in views:
        assert wire_faults(found["style"], view.messages) == []
        assert lost(view, chain.opened_archive) == {}
    assert chain.process(found["messages"], model=model).messages == views[-1].messages
    return views


def test_case_19_thinking_of_latest_turn_is_byte_equal() -> None:
    found = case("19")

    for view in put_through(found, "claude-sonnet-4-20250514"):
        acts = [bytes_of(m["content"][0]) for m in view.messages if m["role"] == "assistant"]
        assert acts == [bytes_of(m["content"][0]) for m in found["messages"] if m["role"] == "assistant"][: len(acts)]


@pytest.mark.parametrize("model", ["deepseek-chat", "qwen3-max", None])
def test_case_21_reasoning_content_on_tool_call_messages(model: str) -> None:
    found = case("21")

    for view in put_through(found, model):
        for message in view.messages:
            assert ("reasoning_content" in message) >= ("tool_calls" in message)
        if model == "deepseek-chat":
            told = [message.get("reasoning_content") for message in view.messages]
            assert told == [message.get("reasoning_content") for message in found["messages"]][: len(told)]


def test_case_22_message_must_not_end_with_thinking() -> None:
    """The pair of ``toolu_x`` can only go as a step; what is left of it otherwise ends with its call."""
    found = case("22")
    drop = planned(lambda view: [step.drop() for step in view.steps[:-1]], operation="drop", touches=ASSISTANT)
    chain = Chain([drop, *elision.loads(BOTH).processors], classification=None, archive="memory:")
    again = [*found["messages"], {"role": "assistant", "content": [{"type": "text", "text": "It broke."}]}]

    (last,) = put_through(found, "claude-sonnet-4-20250514")[-1:]
    dropped = chain.process([*again, {"role": "user", "content": "Thanks."}], model="claude-sonnet-4-20250514")

    assert [block["type"] for block in last.messages[1]["content"]] == ["thinking", "tool_use"]
    assert wire_faults("anthropic", dropped.messages) == []
    assert "toolu_x" not in bytes_of(dropped.messages)


@pytest.mark.parametrize("model", ["claude-3-5-sonnet-20241022", "claude-sonnet-4-20250514", None])
@pytest.mark.parametrize("shape", ["openai", "anthropic", "responses", "gemini"])
def test_any_history_without_old_inputs_and_thinking_is_valid_on_the_wire(shape: Shape, model: str | None) -> None:
    @given(st.one_of(histories(shape), poisoned(shape)), chains(types=SAID))
    def holds(messages: list[Any], chain: Chain) -> None:
        before = copy.deepcopy(messages)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", elision.ElisionWarning)
            view = chain.process(messages, dialect=DIALECT_OF[shape], model=model)
        newest, kept = newest_action(shape, view.messages), newest_action(shape, messages)
        if any(repair.fault == "call" for repair in view.repairs):
            newest, kept = with_named_calls(newest), with_named_calls(kept)

        assert messages == before
        assert wire_faults(shape, view.messages) == []
        assert [calls_and_thinking(shape, each) for each in newest[-len(kept) or None :]] == [
            calls_and_thinking(shape, each) for each in kept
        ]

    holds()


@pytest.mark.filterwarnings("ignore::elision.ElisionWarning")
def test_once_the_archive_works_again_calls_and_thinking_go(tmp_path: Path) -> None:
    with Archive(SqliteStore(tmp_path, patience=0.05)) as archive:
        loaded = elision.loads(BOTH)
        chain = Chain(loaded.processors, schedule="every_step", classification=None, archive=archive)
        messages = [*run(), {"role": "assistant", "content": "Done."}, {"role": "user", "content": "Thanks."}]
        messages += conversation("anthropic").step(thinking("Three.", signature="c2ln"), "Bye.").messages()
        with chain.session() as session:
            with locked(tmp_path):
                before = session.process(messages, model=MODEL)
            after = session.process(messages, model=MODEL)

        assert (before.edits, before.messages) == ((), messages)
        assert {edit.operation for edit in after.edits} == {"clear", "clear_inputs"}
        assert lost(after, archive) == {}
        assert after.messages == chain.process(messages, model=MODEL).messages
