"""``clear_tool_inputs``: long values in old calls become pointers, and the arguments come back as they were."""

from __future__ import annotations

import json
from typing import Any

import pytest
from scheduled_runs import breaks, sent

import elision
from elision import Chain, Refusal, SentView
from elision.testing import SHAPES, Conversation, Shape, call, check_processor, conversation, result

LONG = "A line of code.\n" * 60
RECALL = [elision.recall_tool_schema()]


def chain(options: str = "keep: 1, schedule: every_step", more: str = "") -> Chain:
    return elision.loads(f"history_processors: [{{type: clear_tool_inputs, {options}}}]\n{more}", archive="memory:")


def writes(count: int, tool: str = "write_file", shape: Shape = "openai") -> Conversation:
    run = conversation(shape).user("Write them.")
    for number in range(count):
        run = run.step(call(tool, path=f"{number}.py", text=f"{number}: {LONG}"), result("done"))
    return run


def inputs(view: SentView) -> list[Any]:
    """Return the arguments of every call, in order."""
    calls = (each for message in view.messages for each in message.get("tool_calls") or ())
    return [json.loads(each["function"]["arguments"]) for each in calls]


def cleared(view: SentView) -> list[str]:
    return [edit.call_id for edit in view.edits]


def test_a_long_value_becomes_a_pointer_and_all_else_of_the_call_stays() -> None:
    messages = writes(3).messages()
    view = chain().process(messages, tools=RECALL)
    first, second, newest = inputs(view)

    assert first == {"path": "0.py", "text": f"[963 chars removed; recall {view.edits[0].ref}]"}
    assert second["text"].startswith("[963 chars removed; ")
    assert newest["text"] == f"2: {LONG}"
    assert [before is after for before, after in zip(messages, view.messages, strict=True)] == [
        True,
        *[False, True] * 2,
        True,
        True,
    ]


def test_recall_gives_the_arguments_back_as_json() -> None:
    made = chain()
    view = made.process(writes(2).messages())

    text = elision.recall(view.edits[0].ref, page_chars=None, archive=made.opened_archive).text

    assert json.loads(text) == {"path": "0.py", "text": f"0: {LONG}"}


def test_arguments_that_the_wire_has_as_text_come_back_to_the_byte() -> None:
    written = '{"path":"a.py",  "text":"caf\\u00e9 ' + "x" * 900 + '"}'
    run = conversation().user("Go.").step(call("write_file", raw_arguments=written), result("ok")).step("Done.")
    made = chain("keep: 0, schedule: every_step")
    view = made.process(run.messages())

    assert elision.recall(view.edits[0].ref, page_chars=None, archive=made.opened_archive).text == written
    assert inputs(view)[0] == {"path": "a.py", "text": f"[905 chars removed; ref {view.edits[0].ref}]"}


def test_the_report_names_the_call_and_counts_its_arguments() -> None:
    (edit,) = chain().process(writes(2).messages()).edits

    assert (edit.action, edit.operation, edit.tool, edit.call_id) == ("elide", "clear_inputs", "write_file", "call_1")
    assert edit.classes == ("receipt",)
    assert edit.chars_before - edit.chars_after > 900


def test_nested_values_are_cleared_and_the_form_of_the_arguments_stays() -> None:
    given = {"edits": [{"old": LONG, "new": "x", "line": 3, "last": None}, [True, LONG]], "note": "short"}
    run = conversation().user("Edit.").step(call("edit", **given), result("ok")).step("Done.")

    (found,) = inputs(chain("keep: 0, schedule: every_step").process(run.messages()))
    pointer = found["edits"][0]["old"]

    assert pointer.startswith("[960 chars removed; ")
    assert found == {"edits": [{**given["edits"][0], "old": pointer}, [True, pointer]], "note": "short"}  # type: ignore[dict-item]


def test_short_values_stay_however_many_there_are() -> None:
    many = {f"key_{number}": "x" * 90 for number in range(20)}
    run = conversation().user("Go.").step(call("write_file", **many), result("ok")).step("Done.")

    view = chain("keep: 0, threshold_chars: 90, schedule: every_step").process(run.messages())

    assert view.edits == ()
    assert view.messages[1]["tool_calls"][0]["function"]["arguments"] == json.dumps(many)


def test_a_value_that_is_shorter_than_its_pointer_stays() -> None:
    run = conversation().user("Go.").step(call("write_file", text="x" * 20), result("ok")).step("Done.")

    assert chain("keep: 0, threshold_chars: 5, schedule: every_step").process(run.messages()).edits == ()


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ("keep: 0", ["call_1", "call_2", "call_3"]),
        ("keep: 2", ["call_1", "call_2"]),
        ("keep: 0, keep_steps: 3", ["call_1"]),
        ("keep: 0, exclude_tools: [write_file]", []),
        ("keep: 0, include_tools: [write_file]", ["call_1", "call_2", "call_3"]),
        ("keep: 0, threshold_chars: 2000", []),
    ],
)
def test_options_say_which_calls_go(options: str, expected: list[str]) -> None:
    view = chain(f"{options}, schedule: every_step").process(writes(4).messages())

    assert cleared(view) == expected


@pytest.mark.filterwarnings("ignore::elision.ElisionWarning")
@pytest.mark.parametrize(
    ("tool", "rule"), [("ask_user", "class_allows"), ("nobody_knows_it", "class_allows"), ("write_file", "")]
)
def test_the_table_is_asked_in_the_column_clear_inputs(tool: str, rule: str) -> None:
    view = chain("keep: 0, schedule: every_step").process(writes(2, tool).messages())
    refusals: list[Refusal] = list(view.refusals)

    assert [refusal.rule for refusal in refusals] == ([rule] if rule else [])
    assert all("clear_inputs" in refusal.reason for refusal in refusals)


def test_inputs_of_a_failed_call_go_when_the_same_call_has_succeeded() -> None:
    failed = conversation("anthropic").user("Go.").step(call("write_file", text=LONG), result("no", error=True))
    later = failed.step(call("read_file", path="a"), result("a"))
    again = later.step(call("write_file", text=LONG), result("ok")).step(call("read_file", path="a"), result("a"))
    made = chain("keep: 0, schedule: every_step")

    assert cleared(made.process(later.messages())) == []
    assert "call_1" in cleared(made.process(again.messages()))


def test_a_table_of_the_users_that_does_not_know_the_column_keeps_inputs() -> None:
    table = "classification: {classes: {mine: {cells: {clear: allow}}}, rules: [{tool: write_file, class: mine}]}"

    view = chain("keep: 0, schedule: every_step", table).process(writes(2).messages())

    assert [refusal.reason for refusal in view.refusals] == ["class mine: clear_inputs never"]


def test_without_a_tool_that_reads_them_back_inputs_stay() -> None:
    offered = [{"type": "function", "function": {"name": "write_file", "parameters": {}}}]

    view = chain().process(writes(2).messages(), tools=offered)

    assert [refusal.rule for refusal in view.refusals] == ["way_back"]
    assert inputs(view)[0]["text"] == f"0: {LONG}"


def test_pointers_are_made_anew_when_the_tool_that_reads_them_back_comes() -> None:
    made, run = chain(), writes(3).messages()
    with made.session() as session:
        before = session.process(run)
        after = session.process(run, tools=RECALL)
    alone = chain().process(run, tools=RECALL)

    assert inputs(before)[0]["text"] == f"[963 chars removed; ref {before.edits[0].ref}]"
    assert inputs(after)[0]["text"] == f"[963 chars removed; recall {before.edits[0].ref}]"
    assert after.messages == alone.messages


def test_a_pointer_stays_and_is_reported_when_nothing_can_read_it_back() -> None:
    made, run = chain(), writes(3).messages()
    with made.session() as session:
        session.process(run, tools=RECALL)
        view = session.process(run, tools=[])

    assert {call.call_id for call in view.unreachable} == {"call_1", "call_2"}
    assert inputs(view)[0]["text"].startswith("[963 chars removed; recall ")


def test_open_and_newest_calls_stay() -> None:
    run = conversation().user("Go.").step(call("write_file", text=LONG), result("ok"), call("write_file", text=LONG))

    view = chain("keep: 0, schedule: every_step").process(run.messages())

    assert view.edits == ()


def test_calls_that_are_written_as_text_stay() -> None:
    view = chain("keep: 0, schedule: every_step").process(writes(3, "bash", "sweagent_text").messages())

    assert (view.edits, view.refusals) == ((), ())


def test_a_call_that_is_not_json_stays_the_text_that_it_is() -> None:
    broken = '{"text": "' + LONG
    run = conversation().user("Go.").step(call("write_file", raw_arguments=broken), result("ok")).step("Done.")

    view = chain("keep: 0, schedule: every_step").process(run.messages())

    assert view.messages[1]["tool_calls"][0]["function"]["arguments"].startswith("[970 chars removed; ref ")


def test_calls_wait_and_go_together() -> None:
    views = sent(chain("keep: 1, schedule: {polling: 3}"), writes(8).messages())

    assert len(breaks(views)) == 2


def test_what_was_written_is_found_in_the_archive_by_a_trace() -> None:
    needle = "SECRET-IN-AN-ARGUMENT"
    run = conversation().user("Go.").step(call("write_file", text=f"{needle} {LONG}"), result("ok"))
    for number in range(3):
        run = run.step(call("read_file", path=f"{number}"), result("text"))

    found = elision.trace(chain(), run.messages(), needle)
    (place,) = found.places

    assert (found.visible, found.recallable) == (False, True)
    assert (place.found_in, place.call_id) == ("call", "call_1")
    assert place.gone_by is not None
    assert place.gone_by.processor == "clear_tool_inputs"


@pytest.mark.parametrize("shape", [shape for shape in SHAPES if not shape.endswith("_text")])
def test_every_dialect_has_its_calls_cleared(shape: Shape) -> None:
    run = writes(3, shape=shape)
    made = chain()
    view = made.process(run.messages(), dialect=run.dialect)

    again = made.process(view.messages, dialect=run.dialect)

    assert cleared(view) == ["call_1", "call_2"]
    assert again.messages == view.messages


def test_it_keeps_the_contract() -> None:
    check_processor(elision.processor_types()["clear_tool_inputs"], max_examples=5, keep=1, threshold_chars=40)
