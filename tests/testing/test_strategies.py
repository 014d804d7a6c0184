"""Strategies: what they can make, so that property tests have something to find."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import Phase, assume, find, given, settings
from hypothesis import strategies as st
from hypothesis.errors import NoSuchExample
from wire_rules import wire_faults

from elision import Chain, SentView, processor_types
from elision.testing import DIALECT_OF, SHAPES, Shape, chains, histories, poisoned

WIRES: tuple[Shape, ...] = ("openai", "anthropic", "responses", "gemini")
CALLED: tuple[Shape, ...] = (*WIRES, "sweagent", "miniswe")
MARKED = [shape for shape in SHAPES if shape not in {"responses", "gemini"}]
SEARCH = settings(max_examples=3000, derandomize=True, database=None, deadline=None, phases=[Phase.generate])


def sent(shape: Shape, messages: list[Any]) -> SentView:
    return Chain().process(messages, dialect=DIALECT_OF[shape])


@pytest.mark.parametrize("shape", SHAPES)
def test_histories_are_json_and_valid_on_the_wire_once_the_newest_step_is_answered(shape: Shape) -> None:
    @given(histories(shape))
    def holds(messages: list[Any]) -> None:
        assert json.loads(json.dumps(messages, ensure_ascii=False)) == messages
        if shape not in WIRES:
            return
        assume(not sent(shape, messages).pending)

        faults = wire_faults(shape, messages)
        assert [fault for fault in faults if "cache breakpoints" not in fault and "call with the id" not in fault] == []

    holds()


def never_seen(strategy: st.SearchStrategy[Any], wanted: Mapping[str, Callable[[Any], bool]]) -> list[str]:
    """Draw values until each of what is wanted was seen; return what was never seen."""
    left = dict(wanted)

    def all_seen(value: Any) -> bool:
        for name in [name for name, is_in in left.items() if is_in(value)]:
            del left[name]
        return not left

    with suppress(NoSuchExample):
        find(strategy, all_seen, settings=SEARCH)
    return list(left)


def holding(*texts: str) -> Callable[[list[Any]], bool]:
    return lambda messages: any(text in json.dumps(messages, ensure_ascii=False) for text in texts)


WANTED: dict[str, Callable[[list[Any]], bool]] = {
    "an image": holding('"image', '"input_image"', '"inlineData"'),
    "an unknown key": holding("x_vendor"),
    "emoji": holding("\U0001f468"),
    "cjk": holding("漢字"),
    "combining marks": holding("a\u0301"),
    "a file window": holding("lines total)]"),
}
WANTED_WITH_CALLS: dict[str, Callable[[list[Any]], bool]] = {
    "thinking": holding("hinking", "reasoning", '"thought": true'),
    "a huge id": holding("x" * 1500),
}
MARKS = {"a cache breakpoint": holding("cache_control")}
NO_ID = {
    "a call without an id": holding(
        '"tool_use_id": ""', 'tool_call_id": ""', '_ids": [""]', '"functionResponse": {"name"'
    )
}


@pytest.mark.parametrize("shape", SHAPES)
def test_histories_hold_all_that_the_shape_has(shape: Shape) -> None:
    pending: dict[str, Callable[[list[Any]], bool]] = {
        "a pending call": lambda messages: bool(sent(shape, messages).pending)
    }
    wanted = {**WANTED, **(MARKS if shape in MARKED else {})}
    wanted |= {**WANTED_WITH_CALLS, **pending} if shape in CALLED else {}
    wanted |= NO_ID if shape in CALLED and shape != "responses" else {}

    assert never_seen(histories(shape), wanted) == []


@pytest.mark.parametrize("shape", WIRES)
def test_poisoned_histories_hold_every_fault(shape: Shape) -> None:
    faults = ["dangling_call", "orphan_result", "late_result", "surrogate"]
    faults += {"gemini": ["split_batch"], "anthropic": ["split_batch", "blank_text"]}.get(shape, [])

    assert never_seen(poisoned(shape), {fault: mended(shape, fault) for fault in faults}) == []


def mended(shape: Shape, fault: str) -> Callable[[list[Any]], bool]:
    return lambda messages: fault in {repair.fault for repair in sent(shape, messages).repairs}


def test_chains_hold_every_built_in_processor() -> None:
    assert never_seen(chains(), {name: of_type(name) for name in processor_types()}) == []


def of_type(name: str) -> Callable[[Chain], bool]:
    return lambda chain: name in {processor.type_name for processor in chain.processors}


def test_chains_can_be_held_to_types_and_to_compat() -> None:
    @given(chains(compat="sweagent", types=("default",)), st.none())
    def holds(chain: Chain, _: None) -> None:
        assert chain.compat == "sweagent"
        assert {processor.type_name for processor in chain.processors} <= {"default"}

    holds()
