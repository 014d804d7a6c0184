"""Calls that a strict wire would refuse go out with ids of their own, and the host's messages stay as they are."""

from __future__ import annotations

import copy
import json
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import elision
from elision.testing import call, conversation, result

CLAUDE = "claude-sonnet-4-6"
IDS = ["read:0", "read:0", "", "", "read_0", "read:0_2", "a b", "a_b", "a_b"]


def chat(ids: list[str]) -> list[Any]:
    messages: list[Any] = [{"role": "user", "content": "Read them."}]
    for number, name in enumerate(ids):
        function = {"name": "read_file", "arguments": json.dumps({"path": f"{number}.py"})}
        messages.append(
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [{"id": name, "type": "function", "function": function}],
            }
        )
        messages.append({"role": "tool", "tool_call_id": name, "content": f"content {number}"})
    return messages


def blocks(batches: list[list[str]], arguments: Any = None) -> list[Any]:
    messages: list[Any] = [{"role": "user", "content": "Read them."}]
    for batch in batches:
        calls = [
            {"type": "tool_use", "id": name, "name": "read_file", "input": arguments or {"path": f"{name}.py"}}
            for name in batch
        ]
        results = [{"type": "tool_result", "tool_use_id": name, "content": f"content {name}"} for name in batch]
        messages += [{"role": "assistant", "content": calls}, {"role": "user", "content": results}]
    return messages


def ids_of(messages: list[Any]) -> tuple[list[str], list[str]]:
    """The ids of the calls, and those that the results answer, in order."""
    listed = [message["content"] for message in messages if isinstance(message["content"], list)]
    found = [block for content in listed for block in content]
    calls = [block["id"] for block in found if block["type"] == "tool_use"]
    results = [block["tool_use_id"] for block in found if block["type"] == "tool_result"]
    calls += [call["id"] for message in messages for call in message.get("tool_calls") or ()]
    return calls, results + [message["tool_call_id"] for message in messages if message["role"] == "tool"]


def chain(processors: str = "[]") -> elision.Chain:
    return elision.loads(
        f"{{history_processors: {processors}, schedule: every_step, classification: none}}", archive="memory:"
    )


@given(st.lists(st.lists(st.sampled_from(IDS), min_size=1, max_size=3), min_size=1, max_size=6))
def test_on_anthropics_wire_each_call_has_an_id_of_its_own_and_its_result_has_it_too(batches: list[list[str]]) -> None:
    given_messages = blocks(batches)
    before = copy.deepcopy(given_messages)
    view = chain().process(given_messages, dialect="anthropic")
    calls, results = ids_of(view.messages)

    assert len(set(calls)) == len(calls)
    assert calls == results
    assert all(name and name.replace("_", "").replace("-", "").isalnum() for name in calls)
    assert given_messages == before
    assert chain().process(view.messages, dialect="anthropic").messages == view.messages


@given(st.lists(st.sampled_from(IDS), min_size=1, max_size=8))
def test_what_has_been_sent_keeps_its_ids_while_the_run_grows(ids: list[str]) -> None:
    messages, session = chat(ids), chain().session()
    views = [session.process(messages[:stop], model=CLAUDE).messages for stop in range(1, len(messages) + 1, 2)]

    assert all(later[: len(sooner)] == sooner for sooner, later in pairwise(views))
    assert views[-1] == chain().process(messages, model=CLAUDE).messages


def test_the_first_call_with_an_id_keeps_it() -> None:
    view = chain().process(blocks([["a"], ["a"], ["b", "b"]]), dialect="anthropic")

    assert ids_of(view.messages)[0] == ["a", "a_2", "b", "b_2"]
    assert [(repair.fault, repair.position) for repair in view.repairs] == [
        ("call", position) for position in (3, 4, 5, 6)
    ]


@pytest.mark.parametrize(("model", "expected"), [(CLAUDE, ["a", "a_2"]), ("gpt-5.6", ["a", "a"])])
def test_chat_completions_get_other_ids_only_for_a_model_that_wants_them(model: str, expected: list[str]) -> None:
    messages = chat(["a", "a"])
    view = chain().process(messages, model=model)

    assert ids_of(view.messages) == (expected, expected)
    assert (view.messages[3] is messages[3]) is (model != CLAUDE)


def test_a_result_that_was_cleared_answers_the_call_with_its_new_id() -> None:
    messages = chat(["a", "a", "b"])
    messages[4]["content"] = "line\n" * 200
    messages[2]["content"] = "other line\n" * 200
    clear = chain("[{type: clear_tool_results, keep: 1}]")
    view = clear.process(messages, model=CLAUDE)

    assert len(view.edits) == 2
    assert ids_of(view.messages) == (["a", "a_2", "b"], ["a", "a_2", "b"])


def test_a_step_that_is_dropped_leaves_the_ids_of_the_others_as_they_were() -> None:
    messages = chat(["a", "a", "a", "a"])
    view = chain("[{type: recent_steps, keep_last_steps: 2}]").process(messages, model=CLAUDE)

    assert ids_of(view.messages)[0] == ["a", "a_3", "a_4"]


def test_arguments_that_are_no_object_become_one_on_anthropics_wire() -> None:
    view = chain().process(blocks([["a"]], arguments='{"path": "a.p'), dialect="anthropic")

    assert view.messages[1]["content"][0]["input"] == {"arguments": '{"path": "a.p'}


@pytest.mark.parametrize("model", ["gpt-5.6", CLAUDE])
@pytest.mark.parametrize(
    ("calls", "results"),
    [(["a"], [""]), (["a"], [None]), ([""], ["a"]), (["a", "b"], ["", "b"]), (["a", "b"], ["b", ""])],
)
def test_a_result_goes_out_under_the_id_of_its_call(model: str, calls: list[str], results: list[str | None]) -> None:
    made = [{"id": name, "type": "function", "function": {"name": "read_file", "arguments": "{}"}} for name in calls]
    messages: list[Any] = [{"role": "user", "content": "Read."}, {"role": "assistant", "tool_calls": made}]
    messages += [{"role": "tool", "tool_call_id": name, "content": "text"} for name in results]
    for message in messages:
        message.setdefault("content", None)
    view = chain().process(messages, model=model)
    called, answered = ids_of(view.messages)

    assert sorted(called) == sorted(answered)
    assert all(called)
    assert [repair.fault for repair in view.repairs] == ["call"]


def test_an_output_of_the_responses_api_goes_out_under_the_id_of_its_call() -> None:
    items = [
        {"role": "user", "content": "Read."},
        {"type": "function_call", "call_id": "a", "name": "read_file", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "", "output": "text"},
    ]
    view = chain().process(items, dialect="responses")

    assert view.messages[2]["call_id"] == "a"


@pytest.mark.parametrize("dialect", ["openai", "anthropic"])
@pytest.mark.parametrize(("half", "sent"), [("\ud83d", "\ufffd"), ("\ud83d\ude00", "\U0001f600")])
def test_a_lone_surrogate_in_the_arguments_of_a_call_leaves_as_something_that_has_bytes(
    dialect: str, half: str, sent: str
) -> None:
    arguments = {"path": f"{half} a.py", "edits": [{"text": half}]}
    messages = blocks([["a"], ["b"]], arguments) if dialect == "anthropic" else chat(["a", "b"])
    if dialect == "openai":
        messages[1]["tool_calls"][0]["function"]["arguments"] = json.dumps(arguments, ensure_ascii=False)
    before = copy.deepcopy(messages)
    view = elision.loads("history_processors: []").process(messages, dialect=dialect)
    call = view.messages[1]
    given = call["content"][0]["input"] if dialect == "anthropic" else call["tool_calls"][0]["function"]["arguments"]

    assert (given if dialect == "anthropic" else json.loads(given)) == {
        "path": f"{sent} a.py",
        "edits": [{"text": sent}],
    }
    assert json.dumps(view.messages, ensure_ascii=False).encode()
    assert messages == before
    assert view.repairs[0].detail == "its arguments are no object, or no Unicode"


def test_an_escaped_surrogate_in_arguments_that_are_text_can_be_sent_and_stays() -> None:
    messages = chat(["a"])
    messages[1]["tool_calls"][0]["function"]["arguments"] = '{"path": "\\ud83d"}'

    assert elision.loads("history_processors: []").process(messages, dialect="openai").messages[1] is messages[1]


def in_parallel(ids: list[str], results: int | None = None) -> list[Any]:
    """One step of calls with these ids, and the results of the first of them, in order."""
    step = conversation("openai").user("Read them.")
    calls = [call("read_file", call_id=name, path=f"{number}.py") for number, name in enumerate(ids)]
    given_results = [result(f"content {number}", call_id=name) for number, name in enumerate(ids)]
    return step.step(*calls, *given_results[:results]).step(call("ls", call_id="z"), result("a.py")).messages()


@pytest.mark.parametrize("model", ["gpt-4.1", "deepseek-chat", CLAUDE])
@pytest.mark.parametrize("results", [None, 1])
@pytest.mark.parametrize("ids", [["c", "c"], ["c", "c", "c_2"], ["", "", ""], ["c_2", "c", "c"]])
def test_no_id_stands_twice_in_one_step_whatever_the_model(ids: list[str], results: int | None, model: str) -> None:
    messages = in_parallel(ids, results)
    before = copy.deepcopy(messages)
    view = chain().process(messages, model=model)
    calls, answered = ids_of(view.messages)

    assert calls == answered
    assert len(set(calls)) == len(calls)
    assert [message["content"] for message in view.messages[2:3]] == ["content 0"]
    assert messages == before
    assert chain().process(view.messages, model=model).messages == view.messages


def test_calls_of_the_old_form_have_no_id_to_be_mended() -> None:
    messages = [
        {"role": "user", "content": "Read."},
        {"role": "assistant", "content": None, "function_call": {"name": "read_file", "arguments": "{}"}},
        {"role": "function", "name": "read_file", "content": "text"},
    ]
    view = chain().process(messages, model=CLAUDE)

    assert view.messages == messages


def test_a_call_without_an_id_is_called_as_its_result_is_whenever_that_comes() -> None:
    messages = in_parallel(["", ""])
    for number, place in enumerate((2, 3)):
        messages[place] = {**messages[place], "tool_call_id": f"r{number}"}

    with chain().session() as session:
        for stop in range(1, len(messages) + 1):
            assert session.process(messages[:stop], model=CLAUDE).messages == (
                chain().process(messages[:stop], model=CLAUDE).messages
            )
