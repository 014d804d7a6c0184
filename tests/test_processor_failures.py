"""Processors that fail: they are named, lose what they newly proposed, and the request goes out."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar, Literal

import pytest
from guarded import HISTORY, assistant, call, planned, process, reasons, tool

from elision import (
    Address,
    CacheBreakpoint,
    Chain,
    Drop,
    Edit,
    ElisionWarning,
    Insert,
    Moment,
    Opaque,
    Operation,
    Processor,
    ProcessorError,
    Replace,
    Stage,
    Tag,
    Text,
    View,
)


@pytest.mark.parametrize(
    "given",
    [["not an edit"], [None], [Replace((3, 0), (Text("x"),))], [Replace(Address(3, 0), "text")], 7, [object()]],  # type: ignore[arg-type]
)
def test_what_is_no_edit_is_named_in_a_warning_and_the_request_goes_out(given: Any) -> None:
    with pytest.warns(ElisionWarning, match="planned raised TypeError"):
        view = process(lambda view: given)

    assert view.messages == HISTORY
    assert [failure.processor for failure in view.failures] == ["planned"]


def test_a_processor_that_raises_loses_all_its_new_edits_and_earlier_decisions_stand() -> None:
    def plan(view: View) -> Iterable[Edit]:
        yield from (o.elide("sweagent") for o in view.older_observations(keep_last=1))
        if view.moment.steps == 3:
            raise RuntimeError("broken")

    session = Chain([planned(plan, stage="history")]).session()
    earlier = session.process(HISTORY[:7])
    with pytest.warns(ElisionWarning, match="planned raised RuntimeError: broken"):
        view = session.process(HISTORY)

    assert [e.call_id for e in earlier.edits] == ["a"]
    assert view.messages == [*earlier.messages, *HISTORY[7:]]


def test_a_failed_processor_is_offered_the_same_observations_again() -> None:
    def plan(view: View) -> Iterable[Edit]:
        edits = [o.elide("sweagent") for o in view.older_observations(keep_last=1)]
        if view.moment.steps == 2:
            raise RuntimeError("only this once")
        return edits

    with pytest.warns(ElisionWarning, match="only this once"):
        view = process(plan, stage="history")

    assert [e.call_id for e in view.edits] == ["a", "b", "c"]


def test_on_error_raise_names_the_processor_and_its_place() -> None:
    def plan(view: View) -> Iterable[Edit]:
        raise KeyError("gone")

    with pytest.raises(ProcessorError, match=r"^history_processors\[0\] \(planned\): it raised KeyError: 'gone'; mend"):
        Chain([planned(plan)], on_error="raise").process(HISTORY)


@pytest.mark.parametrize(
    "edit",
    [
        Replace(Address(3, 0), (Text(None),)),  # type: ignore[arg-type]
        CacheBreakpoint(3, on=None),  # type: ignore[arg-type]
        CacheBreakpoint(3, on=5),  # type: ignore[arg-type]
        Tag(Address(3, 0), frozenset({1, "a"})),  # type: ignore[arg-type]
        Insert(4, "user", "x", kind="system"),
        Replace(Address(3, 0), (Text("x"),), reason=7),  # type: ignore[arg-type]
        type("Odd", (Drop,), {})(1),
    ],
)
def test_an_edit_with_a_field_of_the_wrong_type_is_a_failure_of_the_processor(edit: Edit) -> None:
    with pytest.warns(ElisionWarning, match="planned raised TypeError: plan gave"):
        view = process(lambda view: [edit])

    assert view.messages == HISTORY


@pytest.mark.parametrize(
    "content",
    [
        (Text("x", {"type": "text", "text": "x", "cache_control": {"type": "ephemeral"}}),),
        (Opaque("text", {"type": "text", "text": ""}),),
        (Opaque("text", {"type": "text", "text": "y" * 5000}),),
        (Opaque("text"),),
    ],
)
def test_host_objects_that_did_not_stand_there_are_not_let_in(content: Any) -> None:
    view = process(lambda view: [Replace(Address(3, 0), content)])

    assert view.messages == HISTORY
    assert [rule for rule, _ in reasons(view)] == ["content_is_known"]


def test_a_processor_whose_schedule_raises_is_named_and_the_request_goes_out() -> None:
    class Broken(Processor):
        type: Literal["broken"] = "broken"

        def fires(self, moment: Moment) -> bool:
            raise ZeroDivisionError("no schedule")

        def plan(self, view: View) -> Iterable[Edit]:
            return ()

    with pytest.warns(ElisionWarning, match="broken raised ZeroDivisionError: no schedule"):
        view = Chain([Broken()]).process(HISTORY)

    assert view.messages == HISTORY


def test_only_the_processors_that_ship_have_sweagents_exemptions() -> None:
    class Pretender(Processor):
        stage: ClassVar[Stage] = "request"
        operation: ClassVar[Operation] = "clear"
        type: Literal["default"] = "default"

        def plan(self, view: View) -> Iterable[Edit]:
            yield view.observations[0].replace("x" * 5000)

    view = Chain([Pretender()], compat="sweagent").process(HISTORY)

    assert view.messages == HISTORY
    assert [refusal.rule for refusal in view.refusals] == ["never_grows"]


def test_a_tool_parameter_that_is_called_cache_control_is_no_breakpoint() -> None:
    tool_with_it = {"name": "t", "input_schema": {"properties": {"cache_control": {"type": "string"}}}}
    marks = planned(lambda view: [view.cache_breakpoint(m) for m in view.messages if m.role == "tool"])
    view = Chain([marks]).process(HISTORY, tools=[tool_with_it] * 4)

    assert [i for i, m in enumerate(view.messages) if "cache_control" in m] == [3, 5, 6, 8]


def test_steps_with_open_calls_cost_no_more_than_others() -> None:
    asked = 0

    def plan(view: View) -> Iterable[Edit]:
        nonlocal asked
        offered = list(view.older_observations(keep_last=0))
        asked += len(offered)
        return [o.elide() for o in offered]

    history = [HISTORY[1]]
    for number in range(50):
        history += [assistant(call(f"{number}a"), call(f"{number}b")), tool(f"{number}a", "a result " * 20)]
    process(plan, history, stage="history")

    assert asked <= 50
