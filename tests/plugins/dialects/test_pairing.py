"""Which result answers which call, in every dialect that has ids."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest

import elision

Read = Callable[[str, Sequence[Any]], elision.History]
USER = {"role": "user", "content": "Read both."}


def call(ident: str, path: str) -> dict[str, Any]:
    return {"id": ident, "type": "function", "function": {"name": "read", "arguments": f'{{"path": "{path}"}}'}}


def calls(*given: dict[str, Any]) -> dict[str, Any]:
    return {"role": "assistant", "content": None, "tool_calls": list(given)}


def result(ident: str, text: str) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": ident, "content": text}


def paths(history: elision.History) -> list[tuple[Any, str]]:
    """Each result's text with the path that its call asked for."""
    found = []
    for paired in history.observations:
        part = history.messages[paired.address.position].parts[paired.address.part]
        assert isinstance(part, elision.ToolResult)
        text = "".join(piece.text for piece in part.content if isinstance(piece, elision.Text))
        asked = None if paired.call is None or isinstance(paired.call.arguments, str) else paired.call.arguments["path"]
        found.append((asked, text))
    return found


@pytest.mark.parametrize(
    ("ids", "answers"),
    [
        (("c1", "c2"), ("c1", "c2")),
        (("c1", "c2"), ("c2", "c1")),
        (("", ""), ("", "")),
        (("c1", "c2"), ("", "")),
        (("same", "same"), ("same", "same")),
        (("x" * 1500, "y" * 1500), ("x" * 1500, "y" * 1500)),
    ],
    ids=["in order", "out of order", "no ids", "ids on calls only", "one id twice", "long ids"],
)
def test_results_of_a_batch_find_their_calls(ids: tuple[str, str], answers: tuple[str, str], read: Read) -> None:
    swapped = ids != answers and answers[0] == ids[1]
    texts = ("B", "A") if swapped else ("A", "B")

    history = read("openai", [USER, calls(call(ids[0], "a"), call(ids[1], "b")), *map(result, answers, texts)])

    assert sorted(paths(history)) == [("a", "A"), ("b", "B")]
    assert not history.poisoned


def test_an_id_that_comes_again_in_a_later_turn_is_paired_within_its_own_step(read: Read) -> None:
    history = read(
        "openai",
        [
            USER,
            calls(call("read:0", "a")),
            result("read:0", "A"),
            {"role": "assistant", "content": "a is A."},
            {"role": "user", "content": "And b?"},
            calls(call("read:0", "b")),
            result("read:0", "B"),
        ],
    )

    assert paths(history) == [("a", "A"), ("b", "B")]
    assert [paired.step for paired in history.observations] == [0, 2]
    assert not history.poisoned


def test_parallel_results_in_one_anthropic_message_are_distinct_observations(read: Read) -> None:
    use = [{"type": "tool_use", "id": f"t{n}", "name": "read", "input": {"path": p}} for n, p in enumerate("abc")]
    answers = [{"type": "tool_result", "tool_use_id": f"t{n}", "content": p.upper()} for n, p in enumerate("abc")]

    history = read("anthropic", [USER, {"role": "assistant", "content": use}, {"role": "user", "content": answers}])

    assert paths(history) == [("a", "A"), ("b", "B"), ("c", "C")]
    assert len({paired.address for paired in history.observations}) == 3
    assert {paired.address.position for paired in history.observations} == {2}
    assert not history.poisoned


def test_a_legacy_function_call_is_answered_by_the_function_message_that_follows(read: Read) -> None:
    asked = {"role": "assistant", "content": None, "function_call": {"name": "read", "arguments": '{"path": "a"}'}}

    history = read("openai", [USER, asked, {"role": "function", "name": "read", "content": "A"}])

    assert paths(history) == [("a", "A")]
    assert not history.poisoned


def test_arguments_that_are_no_json_object_are_kept_as_text(read: Read) -> None:
    broken = {"id": "c1", "type": "function", "function": {"name": "read", "arguments": '{"path": '}}

    history = read("openai", [USER, calls(broken)])

    assert [asked.arguments for _, asked in history.steps[0].calls] == ['{"path": ']
