from __future__ import annotations

from collections.abc import Callable, Iterable
from copy import deepcopy
from typing import Any

import pytest
from guarded import planned
from pydantic import BaseModel
from wire_rules import wire_faults

import elision
from elision import Chain, Edit, SentView, View
from elision.convert import convert
from elision.dialect import by_name
from elision.registry import plugins

Read = Callable[..., elision.History]
Send = Callable[..., SentView]
UNKNOWN = "The outcome of this call is unknown: its result is missing from the history."
LONG = "a line of the log\n" * 40
USER = {"role": "user", "content": "Fix it."}
REASONING = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "gAAAA"}
LOOK = {"type": "output_text", "text": "I look.", "annotations": []}
SAID = {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": [LOOK]}
COMPACTION = {"type": "compaction", "id": "cmp_1", "encrypted_content": "gBBBB"}


def call(ident: str, name: str = "bash", **more: Any) -> dict[str, Any]:
    return {"type": "function_call", "call_id": ident, "name": name, "arguments": '{"command": "ls"}', **more}


def output(ident: str, text: Any = LONG, **more: Any) -> dict[str, Any]:
    return {"type": "function_call_output", "call_id": ident, "output": text, **more}


HISTORY: list[dict[str, Any]] = [
    USER,
    REASONING,
    SAID,
    call("c1", id="fc_1"),
    call("c2"),
    output("c2", id="fco_2", status="completed"),
    output("c1"),
    {**REASONING, "id": "rs_2"},
    call("c3"),
    output("c3"),
]


def process(plan: Callable[[View], Iterable[Edit]], items: list[Any] = HISTORY, **traits: Any) -> SentView:
    before = deepcopy(items)
    view = Chain([planned(plan, **traits)], classification=None).process(items, dialect="responses")

    assert items == before
    assert wire_faults("responses", view.messages) == []
    return view


def faults(view: SentView) -> list[str]:
    return [repair.fault for repair in view.repairs]


def test_reasoning_text_and_parallel_calls_that_follow_one_another_are_one_step(read: Read) -> None:
    history = read("responses", HISTORY)

    assert [(step.start, step.acted, step.stop) for step in history.steps] == [(1, 5, 7), (7, 9, 10)]
    assert [[address.position for address in step.results if address] for step in history.steps] == [[6, 5], [9]]
    assert (history.ready(), history.poisoned) == (3, False)


def test_an_answer_that_may_still_grow_is_not_complete(read: Read) -> None:
    assert [read("responses", HISTORY[:stop]).ready() for stop in range(1, 8)] == [1, 1, 1, 1, 1, 1, 2]


def test_calls_that_follow_a_result_are_a_step_of_their_own(read: Read) -> None:
    items = [USER, REASONING, call("c1"), output("c1"), call("c2"), output("c2")]

    assert [step.start for step in read("responses", items).steps] == [1, 4]


def test_a_dropped_step_goes_with_its_reasoning_its_text_and_all_its_results() -> None:
    view = process(lambda view: [view.steps[0].drop()], operation="drop")

    assert view.messages == [USER, *HISTORY[7:]]
    assert all(sent is held for sent, held in zip(view.messages, [HISTORY[0], *HISTORY[7:]], strict=True))


def test_of_an_elided_result_only_the_output_is_new() -> None:
    view = process(lambda view: [view.observations[0].replace("[cut]")])

    assert view.messages[5] == {**HISTORY[5], "output": "[cut]"}
    assert [at for at, sent in enumerate(view.messages) if sent is not HISTORY[at]] == [5]


def test_a_session_that_is_fed_item_by_item_gives_the_same_view() -> None:
    chain = elision.loads("history_processors: [{type: last_n_observations, n: 1}]\nclassification: none")
    with chain.session() as session:
        for stop in range(1, len(HISTORY) + 1):
            view = session.process(HISTORY[:stop], dialect="responses")

    assert view.messages == chain.process(HISTORY, dialect="responses").messages
    assert [edit.call_id for edit in view.edits] == ["c2", "c1"]


def test_an_output_that_its_host_edits_in_place_is_noticed() -> None:
    items = deepcopy(HISTORY)
    with Chain([]).session() as session:
        session.process(items)
        items[5]["output"] = "other"
        view = session.process(items)

    assert view.messages[5]["output"] == "other"
    assert elision.loads("history_processors: []").process(items).messages == view.messages


def test_no_cache_breakpoint_is_set_where_the_wire_has_none() -> None:
    view = process(lambda view: [view.cache_breakpoint(view.message(0))], operation="none")

    assert [(refusal.rule, refusal.reason) for refusal in view.refusals] == [
        ("fits_stage", "this dialect has no cache breakpoints")
    ]
    assert elision.load("cache_control").process(HISTORY).refusals == ()


@pytest.mark.parametrize(
    ("asked", "answer"),
    [
        (call("c1"), output("c1", UNKNOWN)),
        (
            {"type": "custom_tool_call", "call_id": "c1", "name": "patch", "input": "*** Begin"},
            {"type": "custom_tool_call_output", "call_id": "c1", "output": UNKNOWN},
        ),
        (
            {"type": "local_shell_call", "call_id": "c1", "action": {"type": "exec", "command": ["ls"]}},
            {"type": "local_shell_call_output", "call_id": "c1", "output": UNKNOWN},
        ),
        (
            {"type": "shell_call", "call_id": "c1", "action": {"commands": ["ls"]}},
            {
                "type": "shell_call_output",
                "call_id": "c1",
                "output": [{"stdout": UNKNOWN, "stderr": "", "outcome": {"type": "exit", "exit_code": 1}}],
            },
        ),
        (
            {"type": "apply_patch_call", "call_id": "c1", "operation": {"type": "delete_file", "path": "a"}},
            {"type": "apply_patch_call_output", "call_id": "c1", "status": "failed", "output": UNKNOWN},
        ),
        (
            {"type": "tool_search_call", "call_id": "c1", "arguments": {"query": "x"}},
            {"type": "tool_search_output", "call_id": "c1", "tools": []},
        ),
    ],
)
def test_a_dangling_call_gets_an_output_of_its_own_kind(asked: Any, answer: Any, send: Send) -> None:
    view = send([USER, REASONING, asked, USER], "responses")

    assert view.messages == [USER, REASONING, asked, answer, USER]
    assert view.messages[1] is REASONING
    assert faults(view) == ["dangling_call"]


def test_a_dangling_screenshot_is_a_picture(send: Send) -> None:
    view = send([USER, {"type": "computer_call", "call_id": "c1", "action": {"type": "screenshot"}}])

    assert view.messages[2]["output"]["type"] == "computer_screenshot"
    assert view.messages[2]["output"]["image_url"].startswith("data:image/png;base64,")


def test_an_orphan_output_is_left_out_and_a_late_one_goes_to_its_call(send: Send) -> None:
    view = send([USER, REASONING, call("c1"), USER, output("c1"), output("gone")])

    assert view.messages == [USER, REASONING, call("c1"), output("c1"), USER]
    assert sorted(faults(view)) == ["late_result", "orphan_result"]


@pytest.mark.parametrize(
    ("items", "sent"),
    [
        ([USER, REASONING, USER], [USER, USER]),
        ([USER, REASONING], [USER]),
        ([USER, REASONING, SAID, REASONING, USER], [USER, REASONING, SAID, USER]),
        ([USER, call("c1"), REASONING, output("c1")], [USER, call("c1"), output("c1")]),
    ],
)
def test_reasoning_that_leads_to_nothing_is_left_out(items: list[Any], sent: list[Any], send: Send) -> None:
    view = send(items, "responses")

    assert view.messages == sent
    assert faults(view) == ["thinking_alone"]
    assert wire_faults("responses", view.messages) == []


def test_reasoning_is_left_out_only_as_long_as_nothing_follows() -> None:
    session = Chain([]).session()
    early = session.process([USER, REASONING], dialect="responses")
    later = session.process([USER, REASONING, REASONING, SAID], dialect="responses")

    assert early.messages == [USER]
    assert later.messages == [USER, REASONING, REASONING, SAID]


def test_what_was_decided_of_later_steps_holds_where_reasoning_before_them_is_left_out() -> None:
    items = [USER, REASONING, USER, call("c1"), output("c1"), call("c2"), output("c2")]
    view = process(lambda view: [view.observations[0].elide()], items)

    assert [item.get("call_id") for item in view.messages] == [None, None, "c1", "c1", "c2", "c2"]
    assert view.messages[3]["output"] != LONG
    assert view.messages[5]["output"] == LONG


def test_steps_stay_apart_where_only_an_orphan_stood_between_them() -> None:
    items = [USER, SAID, output("gone"), call("c1"), output("c1"), call("c2"), output("c2"), SAID]
    view = process(lambda view: [view.steps[1].observations[0].elide()] if len(view.steps) == 4 else [], items)

    assert faults(view) == ["orphan_result"]
    assert [edit.call_id for edit in view.edits] == ["c1"]


def test_a_compaction_stands_outside_of_every_step_and_is_replayed_as_it_is(read: Read) -> None:
    items = [COMPACTION, *HISTORY]
    history = read("responses", items)
    view = process(lambda view: [step.drop() for step in view.steps], items, operation="drop")

    assert (history.messages[0].kind, history.step_of[0], history.task) == ("summary", None, 1)
    assert view.messages[0] is COMPACTION
    assert len(view.messages) == 5


def test_what_the_provider_runs_itself_stays_in_the_step_as_it_is(read: Read) -> None:
    search = {"type": "web_search_call", "id": "ws_1", "status": "completed", "action": {"type": "search"}}
    asked, found = {"type": "tool_search_call", "id": "t"}, {"type": "tool_search_output", "id": "u", "tools": []}
    (step,) = read("responses", [USER, REASONING, search, asked, found, call("c1"), output("c1")]).steps

    assert (step.start, step.stop, [made.id for _, made in step.calls]) == (1, 7, ["c1"])


def test_a_reference_to_a_call_that_the_provider_keeps_is_answered_by_place(read: Read) -> None:
    references = [{"type": "item_reference", "id": "rs_1"}, {"type": "item_reference", "id": "fc_1"}]
    history = read("responses", [USER, *references, output("c1")])

    assert (history.poisoned, history.unanswered()) == (False, [])


def test_an_approval_and_its_request_belong_to_one_step(read: Read) -> None:
    asked = {"type": "mcp_approval_request", "id": "mcpr_1", "name": "rm", "arguments": "{}", "server_label": "fs"}
    given = {"type": "mcp_approval_response", "approval_request_id": "mcpr_1", "approve": True}
    (step,) = read("responses", [USER, asked, given]).steps

    assert (step.stop, step.open) == (3, False)


@pytest.mark.parametrize(
    ("held", "sent"),
    [
        ([{"type": "input_text", "text": "a"}, {"type": "input_image", "image_url": "u"}], "[cut]"),
        ({"type": "input_text", "text": "a\n", "detail": None}, "[cut]"),
        ([], "[cut]"),
    ],
)
def test_outputs_of_every_form_can_give_way_to_text(held: Any, sent: Any) -> None:
    items = [USER, call("c1"), output("c1", held), call("c2"), output("c2")]
    view = process(lambda view: [view.observations[0].replace("[cut]")], items, operation="redact")

    assert view.messages[2] == output("c1", sent)


def test_what_a_shell_printed_keeps_its_form_and_its_outcome() -> None:
    outcome = {"type": "exit", "exit_code": 2}
    shell = {"type": "shell_call", "call_id": "c1", "action": {"commands": ["ls", "pwd"]}}
    printed = [{"stdout": "a\n", "stderr": "b", "outcome": outcome}, {"stdout": "c", "stderr": "", "outcome": outcome}]
    items = [USER, shell, {"type": "shell_call_output", "call_id": "c1", "output": printed, "max_output_length": 9}]
    view = process(lambda view: [view.observations[0].replace("[cut]")], items, operation="redact")

    assert view.history[2]["output"] == printed
    assert view.messages[2] == {**items[2], "output": [{"stdout": "[cut]", "stderr": "", "outcome": outcome}]}


def test_text_of_a_message_keeps_its_part_and_loses_what_told_places_in_it() -> None:
    cited = {"type": "output_text", "text": "See a.", "annotations": [{"start_index": 4}], "x": 1}
    items = [USER, {**SAID, "content": [cited]}, USER]

    def plan(view: View) -> Iterable[Edit]:
        return [view.message(1).parts[0].replace("See."), view.message(0).parts[0].replace("Fix.")]

    view = process(plan, items, touches=frozenset({"assistant", "user"}), operation="redact")

    assert view.messages[0] == {"role": "user", "content": "Fix."}
    assert view.messages[1] == {**SAID, "content": [{**cited, "text": "See.", "annotations": []}]}
    assert view.messages[2] is USER


def test_the_sdks_own_objects_are_read_and_copied() -> None:
    class Item(BaseModel):
        type: str
        call_id: str
        name: str | None = None
        arguments: str | None = None
        output: Any = None

    asked = Item(type="function_call", call_id="c1", name="bash", arguments="{}")
    answer = Item(type="function_call_output", call_id="c1", output=LONG)
    cut = planned(lambda view: [view.observations[0].replace("[cut]")])
    view = Chain([cut], classification=None).process([USER, asked, answer, USER, SAID])

    assert view.dialect == "responses"
    assert view.messages[1] is asked
    assert (view.messages[2], answer.output) == (answer.model_copy(update={"output": "[cut]"}), LONG)


def converted(items: list[Any], source: str, target: str) -> Any:
    known = plugins().dialects()
    return convert(items, by_name(known, source), by_name(known, target))


def test_the_items_of_one_step_become_one_message_and_the_other_way_round() -> None:
    there = converted(HISTORY[:7], "responses", "openai")
    back = converted(there.messages, "openai", "responses")

    assert [message["role"] for message in there.messages] == ["user", "assistant", "tool", "tool"]
    assert (there.messages[1]["content"], len(there.messages[1]["tool_calls"])) == ("I look.", 2)
    assert back.messages[:2] == [USER, {"role": "assistant", "content": "I look."}]
    assert back.messages[2:] == [call("c1"), call("c2"), output("c2"), output("c1")]


def test_thinking_that_is_no_item_is_named_as_left_out() -> None:
    messages = [USER, {"role": "assistant", "content": "Done.", "reasoning_content": "Hm."}]

    assert converted(messages, "openai", "responses").lost == (
        "thinking: 1 left out; there is no place for it in responses",
    )
