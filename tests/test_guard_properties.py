"""Any generated history through any chain of built-in processors, in every shape: the rules of the guard hold.

The suite tries a few examples; ``pytest tests/test_guard_properties.py --hypothesis-profile=large`` tries 2000 each.
"""

from __future__ import annotations

import copy
import warnings
from typing import Any

import pytest
from anthropic_rules import with_named_calls
from hypothesis import given
from hypothesis import strategies as st
from wire_rules import (
    bytes_of,
    calls_and_thinking,
    newest_action,
    outline,
    role_of,
    step_bounds,
    wire_faults,
    without_marks,
    without_results,
    words_of,
)

from elision import Chain, ElisionWarning, SentView, processor_types
from elision.testing import (
    DIALECT_OF,
    SHAPES,
    Shape,
    call,
    chains,
    conversation,
    histories,
    poisoned,
    result,
)

WIRES: tuple[Shape, ...] = ("openai", "anthropic", "responses", "gemini")
CALLED: tuple[Shape, ...] = (*WIRES, "sweagent", "miniswe")
MARK = {"cache_control": {"type": "ephemeral"}}
SYSTEM = [{"type": "text", "text": "You fix bugs.", **MARK}]
TOOLS = [{"name": "bash", "input_schema": {}, **MARK}]
TABLES = [None, "default"]
REQUESTS = st.fixed_dictionaries({"system": st.sampled_from([None, SYSTEM]), "tools": st.sampled_from([None, TOOLS])})


def process(chain: Chain, messages: list[Any], shape: Shape, **request: Any) -> SentView:
    with warnings.catch_warnings():
        warnings.simplefilter(
            "ignore", ElisionWarning
        )  # functions under `call` may raise; their edits are then left out
        return chain.process(messages, dialect=DIALECT_OF[shape], **request)


def without_dropped(shape: Shape, messages: list[Any], view: SentView) -> list[Any]:
    """Return the messages without the steps that were dropped; what the user said beside their results stays."""
    starts = [edit.position for edit in view.edits if edit.action == "drop"]
    gone = {position for start in starts for position in step_bounds(shape, messages, start)}
    left = [without_results(message) if position in gone else message for position, message in enumerate(messages)]
    return [message for message in left if message is not None]


def check_newest_step(shape: Shape, messages: list[Any], view: SentView) -> None:
    before, after = newest_action(shape, messages), newest_action(shape, view.messages)
    if any(repair.fault == "call" for repair in view.repairs):
        before, after = with_named_calls(before), with_named_calls(after)
    sent = [calls_and_thinking(shape, message) for message in after]
    assert sent[-len(before) or None :] == [calls_and_thinking(shape, message) for message in before]


def check_nothing_else_is_missing(shape: Shape, messages: list[Any], view: SentView) -> None:
    kept = without_dropped(shape, messages, view)
    new = sum(edit.action == "insert" for edit in view.edits)
    found = iter(outline(shape, view.messages))

    # Of messages that were added, a later one may stand in the place of others.
    assert bool(new) <= len(view.messages) - len(kept) <= new
    assert all(wanted in found for wanted in outline(shape, kept))


def check_untouched_are_the_very_objects(messages: list[Any], view: SentView) -> None:
    touched = {edit.position for edit in view.edits}
    if all(edit.action not in {"drop", "insert"} for edit in view.edits):
        assert all(view.messages[p] is messages[p] for p in range(len(messages)) if p not in touched)


def check_what_the_user_said_is_sent_unless_it_was_edited(messages: list[Any], view: SentView) -> None:
    edited = {edit.position for edit in view.edits if edit.action in {"replace", "elide"}}
    said = [
        words
        for position, message in enumerate(messages)
        if role_of(message) == "user" and position not in edited
        for words in words_of(message)
    ]
    sent = [words for message in view.messages if role_of(message) == "user" for words in words_of(message)]

    assert [words for words in said if words not in sent] == []


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("shape", SHAPES)
def test_any_history_through_any_chain_is_valid_and_nothing_but_what_was_taken_out_is_missing(
    shape: Shape, table: str | None
) -> None:
    """The input stays as it was, the newest step too, and ids and order are kept."""

    @given(any_history(shape), chains(classification=table), REQUESTS)
    def holds(history: tuple[list[Any], bool], chain: Chain, request: dict[str, Any]) -> None:
        messages, sound = history
        before = copy.deepcopy(messages)
        view = process(chain, messages, shape, **(request if shape in WIRES else {}))

        assert messages == before
        if shape in WIRES:
            assert wire_faults(shape, view.messages, beside=[request["system"], request["tools"]]) == []
        if sound or shape in WIRES:
            check_newest_step(shape, messages, view)
        if not view.repairs:
            check_untouched_are_the_very_objects(messages, view)
        if sound and not view.repairs:
            check_nothing_else_is_missing(shape, messages, view)
        if sound and shape in CALLED:
            check_what_the_user_said_is_sent_unless_it_was_edited(messages, view)

    holds()


def any_history(shape: Shape) -> st.SearchStrategy[tuple[list[Any], bool]]:
    """Return histories, and whether each is sound."""
    return st.one_of(st.tuples(histories(shape), st.just(True)), st.tuples(poisoned(shape), st.just(False)))


@pytest.mark.parametrize("shape", ["sweagent", "sweagent_text"])
def test_a_sweagent_style_chain_keeps_ids_order_and_input(shape: Shape) -> None:
    @given(st.one_of(histories(shape), poisoned(shape)), chains(compat="sweagent"))
    def holds(messages: list[Any], chain: Chain) -> None:
        before = copy.deepcopy(messages)
        view = process(chain, messages, shape)

        assert messages == before
        check_newest_step(shape, messages, view)
        check_nothing_else_is_missing(shape, messages, view)

    holds()


@pytest.mark.parametrize("shape", SHAPES)
def test_history_processors_leave_the_results_of_the_newest_step(shape: Shape) -> None:
    @given(histories(shape), chains(types=("last_n_observations", "closed_window", "cache_control")))
    def holds(messages: list[Any], chain: Chain) -> None:
        view = process(chain, messages, shape)
        newest = newest_action(shape, messages)
        if not newest or view.repairs:
            return
        start = next(position for position, message in enumerate(messages) if message is newest[0])
        positions = step_bounds(shape, messages, start)
        shift = len(view.messages) - len(messages)
        sent = [view.messages[position + shift] for position in positions]

        assert bytes_of(without_marks(_texts(sent))) == bytes_of(
            without_marks(_texts([messages[p] for p in positions]))
        )

    holds()


def _texts(messages: list[Any]) -> list[Any]:
    """Return messages with string content as the list that a breakpoint makes of it."""
    return [
        {**message, "content": [{"type": "text", "text": message["content"]}]}
        if isinstance(message.get("content"), str)
        else message
        for message in messages
    ]


def test_dropping_a_step_keeps_what_the_user_said_with_its_results() -> None:
    built = conversation("anthropic").user("task").step(call("a"), result("gone"), then="stays").step(call("b"))
    trimmed = processor_types()["call"](target="elision.testing.functions:trimmed")
    view = Chain([trimmed], classification=None).process(built.messages(), dialect="anthropic")

    assert [edit.action for edit in view.edits] == ["drop"]
    assert view.messages[1] == {"role": "user", "content": [{"type": "text", "text": "stays"}]}
