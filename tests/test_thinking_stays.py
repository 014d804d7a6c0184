"""Guard rule 3: which thinking may be left out, and what a request needs beside its messages."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterable, Iterator, Mapping
from types import FrameType
from typing import Any, ClassVar, Literal

import pytest
from guarded import planned
from scheduled_runs import requests
from thinking_runs import BOUND, DROP_BLOCK, NEWEST, NONE, TURNS, answer, step, thoughts, turns
from wire_rules import calls_and_thinking

import elision
from elision import Address, Chain, Edit, Processor, Replace, Schedule, SentView, Stage, Thinking, Trigger, View
from elision.testing import Shape, call, conversation, result, thinking

CLEARS = """
history_processors:
  - {type: clear_tool_results, keep: 0}
  - {type: dedupe, min_chars: 1}
  - {type: supersede}
  - {type: image_limit, keep_images: 0}
  - {type: last_n_observations, n: 1}
classification: none
schedule: every_step
"""
UNKNOWN = "a-model-that-nobody-knows"


def without_thinking(positions: Iterable[int]) -> Processor:
    """Return a processor that leaves out the thinking of some messages, when they are no longer the newest."""

    def leave_out(view: View) -> Iterator[Edit]:
        for message in view.messages:
            for index, part in enumerate(message.message.parts):
                if message.position in positions and isinstance(part, Thinking):
                    yield Replace(Address(message.position, index), (), "asked to")

    return planned(leave_out, stage="history", operation="clear", touches=frozenset({"assistant"}))


def left_out(model: str, messages: list[Any], positions: Iterable[int], **said: Any) -> tuple[list[int], set[str]]:
    chain = Chain([without_thinking(positions)], classification=None, archive="memory:", model=model, **said)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", elision.ElisionWarning)
        view = chain.process(messages)
    return [edit.position for edit in view.edits], {refusal.reason for refusal in view.refusals}


@pytest.mark.parametrize("model", [NONE, NEWEST])
def test_thinking_of_older_steps_may_go_and_that_of_the_newest_may_not(model: str) -> None:
    messages = turns("anthropic", 3).messages()
    gone, refused = left_out(model, messages, [1, 3, 5])

    assert gone == [1, 3]
    assert refused == {"calls and thinking of the newest step go back as they came"}


@pytest.mark.parametrize("model", [TURNS, UNKNOWN])
def test_thinking_of_turns_with_calls_and_of_the_open_turn_stays(model: str) -> None:
    run = conversation("anthropic").user("One.")
    run = answer(run, "1").user("Two.")
    run = answer(step(run, 2), "2").user("Three.")
    gone, refused = left_out(model, step(step(run, 3), 4).messages(), range(99))

    assert gone == [1]
    assert refused == {
        "the model wants the thinking of turns with calls back",
        "the model wants the thinking of the turn that is open back",
        "calls and thinking of the newest step go back as they came",
    }


def test_bound_thinking_goes_from_the_beginning_on() -> None:
    messages = turns("anthropic", 4).messages()
    from_the_middle, refused = left_out(BOUND, messages, [3])
    from_the_start, _ = left_out(BOUND, messages, [1, 3])

    assert (from_the_middle, from_the_start) == ([], [1, 3])
    assert refused == {
        "thinking goes from the beginning on: some stands before this, and what follows is bound to both"
    }


def chain_for(model: str) -> Chain:
    loaded = elision.loads(CLEARS, archive="memory:")
    given: dict[str, Any] = {"classification": None, "archive": loaded.archive, "schedule": loaded.schedule}
    return Chain(loaded.processors, model=model, **given)


def views_of(chain: Chain, messages: list[Any]) -> list[SentView]:
    with chain.session() as session, warnings.catch_warnings():
        warnings.simplefilter("ignore", elision.ElisionWarning)
        if not all("role" in message for message in messages):
            return [session.process(messages[:stop]) for stop in range(1, len(messages) + 1)]
        return [session.process(each) for each in requests(messages)]


def test_deepseeks_reasoning_content_stays_on_every_message_with_calls() -> None:
    run = conversation("openai").user("Go.")
    for number in range(5):
        run = run.step(thinking(f"Thought {number}."), call("read_file", path="a.py"), result("the same " * 90))
    messages = answer(run).user("And now?").messages()
    last = views_of(chain_for(TURNS), messages)[-1]

    assert [edit.position for edit in last.edits]
    assert [thoughts(message) for message in last.messages] == [thoughts(message) for message in messages]


@pytest.mark.parametrize(("shape", "model"), [("gemini", "gemini-3-pro"), ("responses", "gpt-5.2")])
def test_thought_signatures_and_encrypted_reasoning_items_stay_byte_equal(shape: Shape, model: str) -> None:
    run = conversation(shape).user("Go.")
    for number in range(5):
        signed = thinking(f"Thought {number}.", signature=f"c2ln{number}")
        run = run.step(signed, call("read_file", path="a.py"), result("the same " * 90))
    messages = run.user("And now?").messages()
    last = views_of(chain_for(model), messages)[-1]

    def said(message: Any) -> tuple[str, str] | None:
        results = shape == "gemini" and message["role"] != "model"
        return None if results else calls_and_thinking(shape, message)

    assert [edit.elides for edit in last.edits] == [True] * 4
    assert list(map(said, last.messages)) == list(map(said, messages))


class Asks(Processor):
    """Ask for a parameter of the request."""

    stage: ClassVar[Stage] = "request"
    type: Literal["asks"] = "asks"
    wants: dict[str, Any]

    def plan(self, view: View) -> Iterable[Edit]:
        return ()

    def params(self, view: View) -> Mapping[str, Any]:
        if "model" in self.wants:
            return {"seen": view.model}
        return self.wants


class AlsoAsks(Asks):
    """Ask for another."""

    type: Literal["also_asks"] = "also_asks"  # type: ignore[assignment]


def asked(*processors: Processor, **said: Any) -> SentView:
    given = {"classification": None, "archive": "memory:", "model": BOUND, **said}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", elision.ElisionWarning)
        return Chain(processors, **given).process(turns("anthropic", 3).messages())


def test_a_view_asks_for_nothing_unless_a_processor_does() -> None:
    assert asked().params == {}
    assert asked(Asks(wants={"model": 1})).params == {"seen": BOUND}


def test_what_processors_ask_for_is_joined_in_the_order_of_the_chain() -> None:
    view = asked(
        Asks(wants={"a": {"b": 1}, "list": [1, 2], "extra_headers": {"anthropic-beta": "x,y"}}),
        AlsoAsks(wants={"a": {"c": 2}, "list": [2, 3], "extra_headers": {"anthropic-beta": "y,z"}}),
    )

    assert view.params == {"a": {"b": 1, "c": 2}, "list": [1, 2, 3], "extra_headers": {"anthropic-beta": "x,y,z"}}
    assert view.as_dict()["params"] == view.params


def test_two_that_ask_for_different_values_are_both_named_and_the_first_ones_are_sent() -> None:
    view = asked(Asks(wants={"a": {"b": 1}}), AlsoAsks(wants={"a": {"b": 2}, "z": 1}))

    assert view.params == {"a": {"b": 1}}
    assert [failure.told for failure in view.failures] == [
        "asks and also_asks ask for different values of a.b; what the first one asks for is sent"
    ]


def test_a_processor_cannot_undo_what_bound_thinking_needs() -> None:
    undoes = Asks(wants={"thinking": {"block_binding": {"prefix_mismatch_behavior": "error"}}})
    loaded = elision.loads("{history_processors: [{type: clear_tool_results, keep: 1, schedule: every_step}]}")
    view = asked(*loaded.processors, undoes, on_bound_thinking="request_drop_block")

    assert view.params == DROP_BLOCK
    assert [failure.processor for failure in view.failures] == ["params"]


def test_one_that_raises_is_named_and_the_others_are_sent() -> None:
    class Raises(Asks):
        type: Literal["raises"] = "raises"  # type: ignore[assignment]

        def params(self, view: View) -> Mapping[str, Any]:
            raise RuntimeError("no")

    view = asked(Raises(wants={}), Asks(wants={"a": 1}))

    assert view.params == {"a": 1}
    assert [failure.told for failure in view.failures] == [
        "raises raised RuntimeError: no; its new edits are left out of the request (on_error: raise shows where)"
    ]


def calls_made(chain: Chain, messages: list[Any]) -> int:
    """Count the functions of Elision that run while a run is sent, request by request."""
    count = 0

    def note(frame: FrameType, event: str, _: Any) -> None:
        nonlocal count
        count += event == "call" and str(frame.f_globals.get("__name__", "")).startswith("elision.")

    views_of(chain, messages[:9])
    sys.setprofile(note)
    try:
        views_of(chain, messages)
    finally:
        sys.setprofile(None)
    return count


def steps_with_thinking(count: int, *, closed_every: int) -> list[Any]:
    run = conversation("anthropic").user("Go.")
    for number in range(1, count + 1):
        run = answer(run, str(number)).user("Next.") if number % closed_every == 0 else step(run, number)
    return run.messages()


CLEARED, COUNTED = "{type: clear_tool_results, keep: 1}", "{type: last_n_observations, n: 1}"
NEVER = Trigger(trigger_tokens=10**9)


@pytest.mark.parametrize(
    ("policy", "closed_every", "listed", "schedule"),
    [
        ("request_drop_block", 10**6, CLEARED, "every_step"),
        ("defer", 10**6, CLEARED, "every_step"),
        ("defer", 4, COUNTED, "every_step"),
        ("drop_thinking", 10**6, CLEARED, "every_step"),
        ("drop_thinking", 4, CLEARED, "every_step"),
        ("drop_thinking", 4, CLEARED, NEVER),
        ("drop_thinking", 10**6, COUNTED, "every_step"),
        ("drop_thinking", 4, COUNTED, "every_step"),
    ],
)
def test_bound_thinking_costs_no_more_in_a_longer_run(
    policy: Any, closed_every: int, listed: str, schedule: Schedule
) -> None:
    loaded = elision.loads(f"{{history_processors: [{listed}], classification: none}}", archive="memory:")
    given: dict[str, Any] = {"classification": None, "model": BOUND, "on_bound_thinking": policy, "schedule": schedule}
    counts = [
        calls_made(
            Chain(loaded.processors, archive="memory:", **given), steps_with_thinking(steps, closed_every=closed_every)
        )
        for steps in (30, 60)
    ]

    assert counts[1] < 2.3 * counts[0]
