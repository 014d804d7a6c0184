"""The guard: what is refused, whichever processor proposes it, and what is reported."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar, Literal

import pytest
from guarded import HISTORY, Plan, planned, process, reasons, tool

from elision import (
    Address,
    CacheBreakpoint,
    Chain,
    Drop,
    Edit,
    Image,
    Insert,
    Operation,
    Processor,
    Replace,
    Role,
    Stage,
    Tag,
    Text,
    View,
)


def test_a_replaced_result_keeps_its_call_and_everything_else_is_the_same_object() -> None:
    view = process(lambda view: [view.observations[0].replace("short")])

    assert view.messages[3] == {**HISTORY[3], "content": "short"}
    assert all(sent is held for i, (sent, held) in enumerate(zip(view.messages, HISTORY, strict=True)) if i != 3)


def test_a_dropped_step_goes_with_all_its_results() -> None:
    view = process(lambda view: [view.steps[1].drop()], operation="drop")

    assert view.messages == [*HISTORY[:4], *HISTORY[7:]]


def test_a_placeholder_may_stand_for_an_image_that_came_without_text() -> None:
    picture = [{"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}}]
    view = process(lambda view: [view.observations[0].elide()], [*HISTORY[:3], tool("a", picture), *HISTORY[4:]])

    assert "1 image removed" in str(view.messages[3]["content"])


def test_the_newest_step_is_not_dropped() -> None:
    view = process(lambda view: [view.steps[-1].drop()])

    assert view.messages == HISTORY
    assert reasons(view) == [
        ("newest_step_stays", "the newest step is not dropped: the model has not answered it"),
    ]


def test_a_history_processor_does_not_edit_the_newest_step_and_may_do_so_one_step_later() -> None:
    shorten: Plan = lambda view: [o.replace("short") for o in view.older_observations(keep_last=0)]  # noqa: E731
    newest = process(shorten, stage="history")
    later = process(shorten, [*HISTORY, {"role": "assistant", "content": "Done."}], stage="history")

    assert [m["content"] for m in newest.messages if m["role"] == "tool"] == ["short"] * 3 + [HISTORY[8]["content"]]
    assert [m["content"] for m in later.messages if m["role"] == "tool"] == ["short"] * 4


def test_open_calls_forbid_clearing_and_the_report_says_pending() -> None:
    history = [*HISTORY[:5], tool("b", HISTORY[5]["content"])]
    view = process(lambda view: [view.steps[1].drop(), view.observations[1].replace("x")], history)

    assert [(p.call_id, p.tool) for p in view.pending] == [("c", "read_file")]
    assert view.messages[:6] == history
    assert reasons(view) == [("newest_step_stays", "pending: a call of this step has no result yet")] * 2


@pytest.mark.parametrize("role", ["system", "user", "assistant"])
def test_text_of_others_is_edited_only_by_a_processor_that_declares_it(role: Role) -> None:
    plan: Plan = lambda view: [  # noqa: E731
        part.replace("x") for m in view.messages if m.role == role for part in m.parts
    ]
    refused = process(plan)
    allowed = process(plan, touches=frozenset({role}))

    assert refused.messages == HISTORY
    assert reasons(refused) == [("touches_declared", f"planned does not declare that it touches the {role}'s text")]
    assert any(m["content"] == "x" for m in allowed.messages if m["role"] == role)


def test_clearing_never_leaves_more_characters_than_it_found() -> None:
    grown = "a placeholder that is a good deal longer than the result that it stands for, sadly"
    view = process(lambda view: [view.observations[0].replace(grown)])
    converted = process(lambda view: [view.observations[0].replace(grown)], operation="convert")

    assert view.messages == HISTORY
    assert reasons(view) == [("never_grows", f"it would grow from 50 to {len(grown)} characters")]
    assert converted.messages[3]["content"] == grown


@pytest.mark.parametrize("content", ["", "  \n", ()])
def test_no_edit_leaves_a_blank_text(content: Any) -> None:
    view = process(lambda view: [view.observations[0].replace(content)])

    assert reasons(view) == [("clean_text", "it would leave a blank text")]


def test_no_edit_brings_a_lone_surrogate() -> None:
    view = process(lambda view: [view.observations[0].replace("half \ud83d")])

    assert reasons(view) == [("clean_text", "the new text holds a lone surrogate")]


@pytest.mark.parametrize(
    ("text", "cut", "fits"),
    [
        ("log: " + "\U0001f469‍\U0001f469‍\U0001f467 end of the log", 6, False),
        ("log: " + "\U0001f469‍\U0001f469‍\U0001f467 end of the log", 10, True),
        ("cafe\u0301 and more text", 4, False),
        ("cafe\u0301 and more text", 5, True),
        ("\U0001f1e9\U0001f1ea flags here", 1, False),
        ("plain text only", 7, True),
    ],
)
def test_a_cut_falls_only_between_characters_as_a_reader_sees_them(text: str, cut: int, fits: bool) -> None:
    history = [*HISTORY[:3], tool("a", text), *HISTORY[4:]]
    view = process(lambda view: [view.observations[0].replace(text[:cut])], history, operation="truncate")

    assert (reasons(view) == []) is fits


def test_a_placeholder_is_never_replaced_again() -> None:
    class Again(Processor):
        type: Literal["again"] = "again"
        operation: ClassVar[Operation] = "clear"
        stage: ClassVar[Stage] = "history"

        def plan(self, view: View) -> Iterable[Edit]:
            return [o.replace("x") for o in view.observations[:1]]

    elide = planned(lambda view: [o.elide("sweagent") for o in view.older_observations(keep_last=1)], stage="history")
    view = Chain([elide, Again()]).process(HISTORY)

    assert view.messages[3]["content"] == "Old environment output: (1 lines omitted)"


def test_what_is_inserted_never_parts_a_call_from_its_result() -> None:
    inside = process(lambda view: [view.insert("note", before=view.messages[5])])
    between = process(lambda view: [view.insert("note", before=view.messages[4])])

    assert reasons(inside) == [("step_is_atomic", "a message inside a step would part a call from its result")]
    assert between.messages == [*HISTORY[:4], {"role": "user", "content": "note"}, *HISTORY[4:]]


def test_an_entry_processor_edits_only_what_has_just_come_in() -> None:
    view = process(
        lambda view: [Replace(Address(3, 0), (Text("x"),))] if view.messages[0].position == 4 else [], stage="entry"
    )

    assert reasons(view) == [("within_reach", "an entry processor edits only the step that has just come in")]


@pytest.mark.parametrize(
    "edit",
    [
        Replace(Address(99, 0), (Text("x"),)),
        Replace(Address(3, 5), (Text("x"),)),
        Replace(Address(-1, 0), (Text("x"),)),
        Tag(Address(99, 0), frozenset({"t"})),
        Drop(99),
        Drop(-1),
        Insert(99, "user", "x"),
        CacheBreakpoint(99),
    ],
)
def test_an_edit_that_points_nowhere_is_refused(edit: Edit) -> None:
    view = process(lambda view: [edit])

    assert view.messages == HISTORY
    assert [rule for rule, _ in reasons(view)] == ["within_reach"]


def test_calls_cannot_be_edited_as_text() -> None:
    view = process(lambda view: [Replace(Address(4, 0), (Text("x"),))], touches=frozenset({"assistant"}))

    assert reasons(view) == [("content_is_known", "a call is replaced by itself with other arguments")]


def test_at_most_four_cache_breakpoints_are_sent_and_the_newest_win() -> None:
    view = process(lambda view: [view.cache_breakpoint(m) for m in view.messages if m.role in {"user", "tool"}])
    marked = [i for i, m in enumerate(view.messages) if "cache_control" in str(m)]

    assert marked == [3, 5, 6, 8]
    assert [edit.position for edit in view.edits] == marked
    assert reasons(view) == [("breakpoints", "over the limit")]


def test_breakpoints_in_system_and_tools_count() -> None:
    mark = {"cache_control": {"type": "ephemeral"}}
    marks = planned(lambda view: [view.cache_breakpoint(m) for m in view.messages if m.role == "tool"])
    view = Chain([marks]).process(
        HISTORY, system=[{"type": "text", "text": "s", **mark}], tools=[{"name": "t", **mark}, {"name": "u"}]
    )

    assert [i for i, m in enumerate(view.messages) if "cache_control" in m] == [6, 8]


def test_a_host_that_sets_too_many_breakpoints_is_mended_on_the_way_out() -> None:
    history = [{**m, "cache_control": {"type": "ephemeral"}} if m["role"] == "tool" else m for m in HISTORY]
    history[1] = {"role": "user", "content": [{"type": "text", "text": "x", "cache_control": {"type": "ephemeral"}}]}
    view = Chain([]).process(history)

    assert view.messages[1] == {"role": "user", "content": [{"type": "text", "text": "x"}]}
    assert [(r.fault, r.position) for r in view.repairs] == [("marks", 1)]


def test_images_replace_text_in_the_host_s_own_shape() -> None:
    content = (Text("see"), Image("data:image/png;base64,AA=="))
    view = process(lambda view: [view.observations[0].replace(content)], operation="convert")

    assert view.messages[3]["content"] == [
        {"type": "text", "text": "see"},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA=="}},
    ]


def test_the_same_refusal_is_reported_once_however_often_it_is_proposed() -> None:
    grown = "x" * 99
    view = process(lambda view: [o.replace(grown) for o in view.observations[:1] if o.age], stage="history")

    assert len(view.refusals) == 1


def test_a_processor_that_declares_no_operation_replaces_nothing() -> None:
    view = process(lambda view: [view.observations[0].replace("short")], operation="none")

    assert view.messages == HISTORY
    assert reasons(view) == [
        ("operation_declared", "planned declares the operation 'none', so it replaces nothing"),
    ]
