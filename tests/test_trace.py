"""A text is followed through parse, every processor, the guard, the archive and render, step by step."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest
from guarded import planned
from traced_runs import FILLER, ID, READ, WRITE, chain_of, cutting, last, long, run, told

import elision
from elision.testing import DIALECT_OF, SHAPES, Shape, call, conversation, result


def test_what_nothing_touches_is_visible_and_has_been_seen_once() -> None:
    trace = elision.trace(chain_of(), run([READ, result(long(ID))]).messages(), ID)
    (place,) = trace.places

    assert trace.visible
    assert not trace.lost
    assert (trace.gone_at, trace.steps, trace.sent) == (None, 6, 1)
    assert told(place) == [(1, "parse", "seen")]
    assert (place.position, place.part, place.step, place.role, place.kind) == (3, 0, 0, "tool", "observation")
    assert (place.found_in, place.tool, place.call_id) == ("result", "read_file", "call_1")


@pytest.mark.parametrize("where", ["head", "middle", "tail"])
def test_a_place_says_in_which_third_the_text_stands(where: str) -> None:
    trace = elision.trace(chain_of(), run([READ, result(long(ID, where))]).messages(), ID)

    assert trace.places[0].where == (where,)


def test_a_receipt_is_kept_and_the_refusal_names_class_and_rule() -> None:
    trace = elision.trace(last(), run([WRITE, result(long(ID))]).messages(), ID)
    (refused,) = trace.refusals

    assert trace.visible
    assert (refused.stage, refused.processor, refused.operation) == ("guard", "last_n_observations", "clear")
    assert (refused.rule, refused.classes, refused.reason) == (
        "class_allows",
        ("receipt",),
        "class receipt: clear never",
    )
    assert told(trace.places[0]) == [(1, "parse", "seen"), (3, "guard", "refused")]


def test_what_is_cleared_names_step_processor_and_a_ref_that_brings_it_back() -> None:
    chain = last()
    messages = run([READ, result(long(ID))]).messages()
    trace = elision.trace(chain, messages, ID)
    (place,) = trace.places
    event = trace.gone_by

    assert not trace.visible
    assert trace.recallable
    assert trace.gone_at == place.gone_at == 3
    assert told(place) == [(1, "parse", "seen"), (3, "last_n_observations", "gone"), (3, "archive", "seen")]
    assert event is not None
    assert (event.operation, event.classes, event.ref) == ("clear", ("static",), place.ref)
    assert elision.recall(place.ref, archive=chain.opened_archive, page_chars=None).text == messages[3]["content"]


def test_the_step_at_which_it_goes_is_the_first_that_the_model_makes_without_it() -> None:
    messages = run([READ, result(long(ID))]).messages()
    trace = elision.trace(last(3), messages, ID)
    requests = [position for position, message in enumerate(messages) if message["role"] == "assistant"]
    seen = [ID in str(last(3).process(messages[:stop]).messages) for stop in requests]

    assert trace.gone_at == 4
    assert seen == [False, True, True, True, False]


@pytest.mark.parametrize(
    ("where", "visible", "what"), [("head", True, "changed"), ("middle", False, "gone"), ("tail", True, "changed")]
)
def test_a_result_cut_in_the_middle_keeps_head_and_tail(where: str, visible: bool, what: str) -> None:
    chain = chain_of(planned(cutting, stage="entry", operation="truncate"))
    trace = elision.trace(chain, run([READ, result(long(ID, where))]).messages(), ID)

    assert (trace.visible, trace.recallable) == (visible, not visible)
    assert told(trace.places[0])[:2] == [(1, "parse", "seen"), (1, "planned", what)]
    assert trace.places[0].events[1].operation == "truncate"


def test_a_text_that_the_cut_goes_through_is_gone() -> None:
    text = "".join(f"{number:04d} " for number in range(200))
    chain = chain_of(planned(cutting, stage="entry", operation="truncate"))
    trace = elision.trace(chain, run([READ, result(text)]).messages(), text[90:120])

    assert (trace.visible, trace.recallable, trace.gone_at) == (False, True, 1)


def test_a_text_that_stands_twice_is_visible_until_the_last_of_it_is_gone() -> None:
    text = f"{ID}\n{long(ID)}"
    trace = elision.trace(
        chain_of(planned(cutting, stage="entry", operation="truncate")), run([READ, result(text)]).messages(), ID
    )

    assert [(event.what, event.count) for event in trace.places[0].events] == [("seen", 2), ("changed", 1)]


@pytest.mark.parametrize("shape", SHAPES)
def test_a_dropped_step_takes_call_and_result_along_in_every_dialect(shape: Shape) -> None:
    def first(view: elision.View) -> Iterable[elision.Edit]:
        return [step.drop(reason="old") for step in view.steps if step.age >= 2]

    steps = run([f"I read {ID}.", call("read_file", path=ID), result(long(ID))], shape=shape, then=3)
    chain = chain_of(planned(first, stage="history", operation="drop"), classification="none")
    trace = elision.trace(chain, steps.messages(), ID, dialect=steps.dialect)

    assert (trace.dialect, trace.visible, trace.recallable, trace.gone_at) == (DIALECT_OF[shape], False, True, 3)
    assert {place.found_in for place in trace.places} >= {"text", "result"}
    for place in trace.places:
        assert told(place) == [(1, "parse", "seen"), (3, "planned", "gone"), (3, "archive", "seen")]
        assert place.events[1].operation == "drop"


@pytest.mark.parametrize("shape", SHAPES)
def test_what_is_cleared_is_gone_and_recallable_in_every_dialect(shape: Shape) -> None:
    steps = run([READ, result(long(ID))], shape=shape)
    trace = elision.trace(last(classification="none"), steps.messages(), ID, dialect=steps.dialect)
    (place,) = trace.places

    assert (trace.dialect, trace.visible, trace.recallable, trace.gone_at) == (DIALECT_OF[shape], False, True, 3)
    assert (place.found_in, place.step) == ("result", 0)


def test_parallel_results_are_places_of_their_own() -> None:
    messages = run(
        [READ, WRITE, READ, result(long(ID)), result(long(ID)), result("none")], shape="anthropic"
    ).messages()
    trace = elision.trace(last(), messages, ID)

    assert [(each.part, each.tool, each.call_id) for each in trace.places] == [
        (0, "read_file", "call_1"),
        (1, "write_file", "call_2"),
    ]
    assert [(each.visible, each.recallable) for each in trace.places] == [(False, True), (True, False)]
    assert trace.visible
    assert trace.gone_at is None


def test_what_is_redacted_cannot_be_recalled() -> None:
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    chain = elision.loads("history_processors: [{type: redact}]")
    trace = elision.trace(chain, run([READ, result(f"token={secret}\nport=8080")]).messages(), secret)
    *_, archived = trace.places[0].events

    assert (trace.visible, trace.recallable, trace.lost, trace.gone_at) == (False, False, True, 1)
    assert trace.gone_by is not None
    assert (trace.gone_by.stage, trace.gone_by.operation) == ("redact", "redact")
    assert (archived.stage, archived.what) == ("archive", "gone")
    assert archived.reason == "what it brings back is redacted (secrets)"


def test_what_an_archive_does_not_keep_cannot_be_recalled() -> None:
    trace = elision.trace(last(stored_policy="full"), run([READ, result(long(ID))]).messages(), ID)

    assert trace.lost
    assert trace.places[0].events[-1].reason == "it is not in what is kept (stored_policy: full)"


def test_an_archive_that_keeps_nothing_refuses() -> None:
    nothing = elision.open_archive("none", environ={})
    processor = last().processors[0]
    trace = elision.trace(chain_of(processor, archive=nothing), run([READ, result(long(ID))]).messages(), ID)
    (refused,) = trace.refusals

    assert trace.visible
    assert (refused.stage, refused.processor, refused.rule) == ("archive", "last_n_observations", "archived_first")
    assert refused.reason.startswith("archive: none: nothing is kept")


def test_what_is_hidden_in_one_request_only_comes_back() -> None:
    def shortly(view: elision.View) -> Iterable[elision.Edit]:
        return [
            each.replace("later", reason="no room") for each in view.observations if each.step == 0 and each.age == 1
        ]

    chain = chain_of(planned(shortly, stage="request", operation="budget"))
    trace = elision.trace(chain, run([READ, result(long(ID))]).messages(), ID)

    assert trace.visible
    assert told(trace.places[0]) == [
        (1, "parse", "seen"),
        (2, "planned", "gone"),
        (2, "archive", "seen"),
        (3, "render", "back"),
    ]


def test_what_is_hidden_in_every_request_is_told_once() -> None:
    def always(view: elision.View) -> Iterable[elision.Edit]:
        return [each.replace("later") for each in view.observations if each.age > 0]

    chain = chain_of(planned(always, stage="request", operation="budget"))
    trace = elision.trace(chain, run([READ, result(long(ID))]).messages(), ID)

    assert told(trace.places[0]) == [(1, "parse", "seen"), (2, "planned", "gone"), (2, "archive", "seen")]


def test_a_text_that_an_added_message_carries_on_is_visible() -> None:
    def summarising(view: elision.View) -> Iterable[elision.Edit]:
        first, *_ = view.steps
        if (first.index, first.age) == (0, 2):
            yield view.insert(f"Summary: {ID} was placed.", before=view.message(2), kind="summary")
            yield first.drop()

    chain = chain_of(planned(summarising, stage="history", operation="drop"), classification="none")
    trace = elision.trace(chain, run([READ, result(long(ID))]).messages(), ID)
    given, added = trace.places

    assert (trace.visible, trace.sent, given.visible, given.recallable) == (True, 1, False, True)
    assert (added.found_in, added.kind, added.position, told(added)) == (
        "added",
        "summary",
        2,
        [(3, "planned", "seen")],
    )


def test_a_processor_that_raises_leaves_the_text_and_is_named() -> None:
    def raising(view: elision.View) -> Iterable[elision.Edit]:
        raise RuntimeError("no")

    trace = elision.trace(
        chain_of(planned(raising, stage="history", operation="clear")), run([READ, result(long(ID))]).messages(), ID
    )

    assert trace.visible
    assert [failure.told.partition(";")[0] for failure in trace.failures] == ["planned raised RuntimeError: no"]


def test_the_repair_that_leaves_out_an_orphan_is_named() -> None:
    messages = run(then=1).stray(result(long(ID), call_id="nobody")).messages()
    trace = elision.trace(chain_of(), messages, ID)
    event = trace.places[0].events[-1]

    assert (trace.visible, trace.recallable, event.stage, event.what) == (False, False, "render", "gone")
    assert event.reason.startswith("orphan_result: 'nobody' answers no call; left out; ref ")


@pytest.mark.parametrize("where", ["head", "middle", "tail"])
@pytest.mark.parametrize(
    ("made", "error", "classes"),
    [
        (READ, False, ("static",)),
        (call("run_tests"), False, ("dynamic",)),
        (WRITE, False, ("receipt",)),
        (call("read_file", path="skills/pdf/SKILL.md"), False, ("skill", "static")),
        (call("write_file", path="b.py", content="x"), True, ("error", "receipt")),
        (call("frobnicate"), False, ("unknown",)),
    ],
    ids=lambda value: "+".join(value) if isinstance(value, tuple) else "",
)
def test_a_canary_of_each_class_is_kept_or_named_with_the_stage_that_took_it(
    made: Any, error: bool, classes: tuple[str, ...], where: str
) -> None:
    cutter = planned(cutting, stage="entry", operation="truncate")
    messages = run([made, result(long(ID, where), error=error)], shape="anthropic").messages()
    trace = elision.trace(chain_of(cutter, *last().processors), messages, ID)
    spared = classes not in {("static",), ("dynamic",)}

    assert trace.visible == spared
    assert not trace.lost
    assert {event.stage for event in trace.refusals} == ({"guard"} if spared else set())
    assert {event.classes for event in trace.refusals} <= {classes}
    if not spared:
        assert trace.gone_by is not None
        assert (trace.gone_by.stage, trace.gone_by.classes) == (
            "planned" if where == "middle" else "last_n_observations",
            classes,
        )


def test_what_the_user_said_beside_the_results_of_a_dropped_step_stays() -> None:
    messages = (
        conversation("anthropic")
        .user("Go.")
        .step(READ, result(long("x")), then=f"Mind {ID}.")
        .step(READ, result(FILLER))
        .step(READ, result(FILLER))
        .messages()
    )
    chain = chain_of(
        planned(lambda view: [step.drop() for step in view.steps if step.age == 2], stage="history", operation="drop"),
        classification="none",
    )
    trace = elision.trace(chain, messages, ID)

    assert [edit.action for edit in chain.process(messages).edits] == ["drop"]
    assert (trace.visible, [told(place) for place in trace.places]) == (True, [[(1, "parse", "seen")]])
