"""Strategies: what they can make, so that property tests have something to find."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import Phase, assume, find, given, settings
from hypothesis import strategies as st
from wire_rules import wire_faults

from elision import Chain, SentView, processor_types
from elision.testing import DIALECT_OF, SHAPES, Shape, chains, histories, poisoned

WIRES: tuple[Shape, ...] = ("openai", "anthropic", "responses", "gemini")
CALLED: tuple[Shape, ...] = (*WIRES, "sweagent", "miniswe")
MARKED = [shape for shape in SHAPES if shape not in {"responses", "gemini"}]
SEARCH = settings(max_examples=3000, derandomize=True, database=None, deadline=None, phases=[Phase.generate])


def sent(shape: Shape, messages: list[Any]) -> SentView:
    return Chain().process(messages, dialect=DIALECT_OF[shape])


@pytest.mark.parametrize("shape", WIRES)
def test_histories_are_valid_on_the_wire_once_the_newest_step_is_answered(shape: Shape) -> None:
    @given(histories(shape))
    def holds(messages: list[Any]) -> None:
        assume(not sent(shape, messages).pending)

        faults = wire_faults(shape, messages)
        assert [fault for fault in faults if "cache breakpoints" not in fault and "call with the id" not in fault] == []

    holds()


@pytest.mark.parametrize("shape", SHAPES)
def test_histories_are_json(shape: Shape) -> None:
    @given(histories(shape))
    def holds(messages: list[Any]) -> None:
        assert json.loads(json.dumps(messages, ensure_ascii=False)) == messages

    holds()


WANTED: dict[str, Callable[[str], bool]] = {
    "an image": lambda text: '"image' in text or '"input_image"' in text or '"inlineData"' in text,
    "an unknown key": lambda text: "x_vendor" in text,
    "emoji": lambda text: "\U0001f468" in text,
    "cjk": lambda text: "漢字" in text,
    "combining marks": lambda text: "a\u0301" in text,
    "a file window": lambda text: "lines total)]" in text,
}
WANTED_WITH_CALLS: dict[str, Callable[[str], bool]] = {
    "thinking": lambda text: any(key in text for key in ("hinking", "reasoning", '"thought": true')),
    "a huge id": lambda text: "x" * 1500 in text,
}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("what", WANTED)
def test_histories_hold(shape: Shape, what: str) -> None:
    found = find(
        histories(shape), lambda messages: WANTED[what](json.dumps(messages, ensure_ascii=False)), settings=SEARCH
    )

    assert found


@pytest.mark.parametrize("shape", MARKED)
def test_histories_hold_cache_breakpoints_where_the_shape_has_them(shape: Shape) -> None:
    assert find(histories(shape), lambda messages: "cache_control" in json.dumps(messages), settings=SEARCH)


@pytest.mark.parametrize("shape", CALLED)
@pytest.mark.parametrize("what", WANTED_WITH_CALLS)
def test_histories_with_calls_hold(shape: Shape, what: str) -> None:
    wanted = WANTED_WITH_CALLS[what]

    assert find(histories(shape), lambda messages: wanted(json.dumps(messages, ensure_ascii=False)), settings=SEARCH)


@pytest.mark.parametrize("shape", [shape for shape in CALLED if shape != "responses"])
def test_histories_hold_calls_without_an_id_where_the_shape_allows_that(shape: Shape) -> None:
    signs = ('"tool_use_id": ""', 'tool_call_id": ""', '_ids": [""]', '"functionResponse": {"name"')

    assert find(histories(shape), lambda messages: any(sign in json.dumps(messages) for sign in signs), settings=SEARCH)


@pytest.mark.parametrize("shape", CALLED)
def test_histories_can_end_in_a_pending_call(shape: Shape) -> None:
    assert find(histories(shape), lambda messages: bool(sent(shape, messages).pending), settings=SEARCH)


@pytest.mark.parametrize("fault", ["dangling_call", "orphan_result", "late_result", "surrogate"])
@pytest.mark.parametrize("shape", WIRES)
def test_poisoned_histories_hold_every_fault(shape: Shape, fault: str) -> None:
    def mended(messages: list[Any]) -> bool:
        return fault in {repair.fault for repair in sent(shape, messages).repairs}

    assert find(poisoned(shape), mended, settings=SEARCH)


def test_poisoned_gemini_histories_hold_split_batches() -> None:
    assert find(
        poisoned("gemini"),
        lambda messages: "split_batch" in {repair.fault for repair in sent("gemini", messages).repairs},
        settings=SEARCH,
    )


@pytest.mark.parametrize("fault", ["split_batch", "blank_text"])
def test_poisoned_anthropic_histories_hold_its_own_faults(fault: str) -> None:
    def mended(messages: list[Any]) -> bool:
        return fault in {repair.fault for repair in sent("anthropic", messages).repairs}

    assert find(poisoned("anthropic"), mended, settings=SEARCH)


def test_chains_hold_every_built_in_processor() -> None:
    for name in processor_types():
        assert find(chains(), lambda chain: name in {p.type_name for p in chain.processors}, settings=SEARCH)  # noqa: B023


def test_chains_can_be_held_to_types_and_to_compat() -> None:
    @given(chains(compat="sweagent", types=("default",)), st.none())
    def holds(chain: Chain, _: None) -> None:
        assert chain.compat == "sweagent"
        assert {processor.type_name for processor in chain.processors} <= {"default"}

    holds()
