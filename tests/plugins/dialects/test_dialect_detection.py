from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import elision
from elision.dialect import detect
from elision.documents import parse_document, read_runs, runs_in
from elision.registry import plugins

USER = {"role": "user", "content": "Fix it."}
ANSWER = {"role": "assistant", "content": "Done."}
USE = {"role": "assistant", "content": [{"type": "tool_use", "id": "t1", "name": "ls", "input": {}}]}
RESULT = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": "a.py"}]}
CALLS = {
    "role": "assistant",
    "content": None,
    "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "ls", "arguments": "{}"}}],
}


def found(messages: list[Any], document: Any = None) -> str:
    return detect(plugins().dialects(), messages, document).name


@pytest.mark.parametrize(
    ("messages", "name"),
    [
        ([USER, ANSWER], "openai"),
        ([USER, CALLS, {"role": "tool", "tool_call_id": "c1", "content": "a.py"}], "openai"),
        ([{"role": "developer", "content": "Be brief."}, USER], "openai"),
        ([{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "u"}}]}], "openai"),
        ([USER, USE, RESULT], "anthropic"),
        ([USER, {"role": "assistant", "content": [{"type": "redacted_thinking", "data": "x"}]}], "anthropic"),
        ([{"role": "user", "content": [{"type": "image", "source": {"type": "url", "url": "u"}}]}], "anthropic"),
        ([{"role": "user", "content": "Fix it.", "agent": "main"}], "sweagent"),
        ([{"role": "user", "content": "Fix it.", "message_type": "observation"}], "sweagent"),
        ([USER, {"role": "assistant", "content": "ls\n```mswea_bash_command\nls\n```"}], "miniswe"),
        ([USER, {**ANSWER, "extra": {"response": {}}}], "miniswe"),
        ([USER, {"type": "message", "role": "assistant", "content": "Done."}], "responses"),
        ([{"role": "user", "content": [{"type": "input_text", "text": "Fix it."}]}], "responses"),
        ([USER, {"type": "function_call", "call_id": "c1", "name": "ls", "arguments": "{}"}], "responses"),
        ([{"type": "compaction", "encrypted_content": "x"}, USER], "responses"),
        ([USER, {"type": "reasoning", "summary": []}, {"type": "web_search_call", "id": "ws_1"}], "responses"),
        ([{"role": "user", "parts": [{"text": "Fix it."}]}], "gemini"),
        ([{"parts": [{"text": "Fix it."}]}, {"role": "model", "parts": []}], "gemini"),
        ([{"role": "user", "parts": [{"function_response": {"name": "ls", "response": {}}}]}], "gemini"),
    ],
)
def test_the_dialect_is_known_from_the_messages(messages: list[Any], name: str) -> None:
    assert found(messages) == name


def test_what_the_request_says_decides_where_the_messages_fit_several_dialects() -> None:
    assert found([USER], {"messages": [USER], "system": "Be brief."}) == "anthropic"
    assert found([USER], {"messages": [USER], "tools": [{"name": "ls", "input_schema": {}}]}) == "anthropic"
    assert found([USER], {"messages": [USER], "tools": [{"type": "function", "function": {}}]}) == "openai"
    assert found([USER, ANSWER], {"trajectory_format": "mini-swe-agent-1"}) == "miniswe"
    assert found([USER, ANSWER], {"input": [USER, ANSWER], "instructions": "Be brief."}) == "responses"
    assert found([USER], {"tools": [{"type": "function", "name": "ls", "parameters": {}}]}) == "responses"


def test_an_unknown_shape_is_an_error_that_says_what_was_seen_and_which_dialects_there_are() -> None:
    with pytest.raises(elision.InputError) as error:
        found([{"type": "tool_output", "for": "c1", "output": "a.py"}])

    assert str(error.value) == (
        "messages: no dialect fits yet (the first has the keys type, for, output); "
        "there are openai, anthropic, responses, gemini, sweagent, miniswe; "
        "name one with --from (in Python dialect=) if it is one of these"
    )


@pytest.mark.parametrize(
    "message",
    [
        {"role": "user", "content": [{"type": "input_text", "text": "Fix it."}, {"type": "tool_use", "id": "t1"}]},
        {"role": "user", "parts": [{"type": "text", "text": "Fix it."}]},
        {"role": "assistant", "parts": [{"text": "Done."}]},
        {"kind": "request", "parts": [{"part_kind": "user-prompt", "content": "Fix it."}]},
        {"role": "model", "content": "Done."},
        "Fix it.",
        None,
    ],
)
def test_messages_of_a_wire_without_a_dialect_are_not_taken_for_another(message: Any) -> None:
    with pytest.raises(elision.InputError, match="no dialect fits yet"):
        found([message])


@pytest.mark.parametrize(
    "beside",
    [
        [{"role": "developer", "content": "Be brief."}],
        [
            {
                "role": "user",
                "content": [{"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}}],
            }
        ],
        [{"role": "assistant", "content": "Hm.", "reasoning_content": "I think."}, USER],
        [{"role": "assistant", "content": "Hm.", "tool_calls": []}, USER],
        [{"role": "assistant", "content": [{"type": "refusal", "refusal": "No."}]}, USER],
    ],
)
def test_calls_in_blocks_are_read_whatever_else_of_another_wire_stands_beside_them(beside: list[Any]) -> None:
    assert found([USER, USE, RESULT, *beside]) == "anthropic"


def test_results_in_blocks_beside_results_in_messages_are_an_error() -> None:
    calls = [{"id": "c2", "type": "function", "function": {"name": "ls", "arguments": "{}"}}]
    answered = [{"role": "assistant", "content": None, "tool_calls": calls}, {"role": "tool", "tool_call_id": "c2"}]

    with pytest.raises(elision.InputError, match="no dialect fits all of them, though each fits one"):
        found([USER, USE, RESULT, *({"content": "a.py", **each} for each in answered)])


def test_a_developers_message_in_a_history_of_swe_agents_leaves_its_results_where_they_are() -> None:
    calls = [{"id": "c1", "type": "function", "function": {"name": "ls", "arguments": "{}"}}]
    items = [
        {**USER, "agent": "main", "message_type": "observation"},
        {"role": "assistant", "content": "", "agent": "main", "message_type": "action", "tool_calls": calls},
        {"role": "tool", "content": "a.py", "agent": "main", "message_type": "observation", "tool_call_ids": ["c1"]},
        {"role": "developer", "content": "Be brief."},
    ]

    view = elision.Chain([]).process(items)

    assert (view.dialect, view.messages, view.repairs) == ("sweagent", items, ())


def test_a_session_that_began_with_text_alone_learns_its_dialect_from_what_follows() -> None:
    with elision.Chain([]).session() as session:
        first = session.process([USER])
        later = session.process([USER, USE, RESULT])

    assert (first.dialect, later.dialect) == ("openai", "anthropic")
    assert len(later.messages) == 3
    assert not later.repairs


def test_a_request_mapping_tells_its_session_the_dialect() -> None:
    view = elision.Chain([]).process({"messages": [USER], "system": "Be brief.", "model": "claude-sonnet-4-5"})

    assert view.dialect == "anthropic"


def test_a_session_of_items_that_began_with_text_alone_learns_its_dialect_too() -> None:
    with elision.Chain([]).session() as session:
        first = session.process([USER])
        later = session.process([USER, {"type": "function_call", "call_id": "c1", "name": "ls", "arguments": "{}"}])

    assert (first.dialect, later.dialect) == ("openai", "responses")


@pytest.mark.parametrize(
    ("request_", "system"),
    [
        (
            {"contents": [{"role": "user", "parts": [{"text": "Go."}]}], "systemInstruction": {"parts": []}},
            {"parts": []},
        ),
        ({"input": [USER, {"type": "reasoning", "summary": []}], "instructions": "Be brief."}, "Be brief."),
    ],
)
def test_requests_of_other_wires_have_their_messages_under_other_keys(request_: dict[str, Any], system: Any) -> None:
    (run,) = runs_in({"request": request_})

    assert (run.messages, run.system) == (next(iter(request_.values())), system)


def test_items_are_found_in_a_rollout_and_begin_anew_where_it_was_compacted() -> None:
    call_item = {"type": "function_call", "call_id": "c1", "name": "ls", "arguments": "{}"}
    compaction = {"type": "compaction", "encrypted_content": "x"}
    lines = [
        {"type": "session_meta", "payload": {"id": "s"}},
        {"type": "response_item", "payload": USER},
        {"type": "response_item", "payload": call_item},
        {"type": "compacted", "payload": {"replacement_history": [compaction]}},
        {"type": "response_item", "payload": ANSWER},
    ]

    assert [run.messages for run in runs_in(lines)] == [[USER, call_item], [compaction, ANSWER]]


def test_items_and_contents_are_found_in_what_agent_kits_store() -> None:
    item = {"type": "message", "role": "assistant", "content": "Done."}
    content = {"role": "model", "parts": [{"text": "Done."}]}

    assert [run.messages for run in runs_in({"original_input": "Go.", "generated_items": [{"raw_item": item}]})] == [
        [{"role": "user", "content": "Go."}, item]
    ]
    assert [run.messages for run in runs_in({"events": [{"content": content}, {"content": None}]})] == [[content]]


def test_json_lines_of_messages_are_one_run(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    path.write_text('{"role": "user", "content": "one\u2028line"}\n\n{"role": "assistant", "content": "Done."}\n')

    assert [run.messages for run in read_runs(path)] == [
        [{"role": "user", "content": "one\u2028line"}, {"role": "assistant", "content": "Done."}]
    ]


def test_one_message_alone_is_a_run() -> None:
    assert [run.messages for run in runs_in(USER)] == [[USER]]


def test_requests_that_extend_one_another_are_one_run_and_others_are_runs_of_their_own() -> None:
    grown = [{"messages": [USER]}, {"messages": [USER, ANSWER, USER]}, {"messages": [ANSWER], "model": "m"}]

    found_runs = runs_in(grown)

    assert [run.messages for run in found_runs] == [[USER, ANSWER, USER], [ANSWER]]
    assert found_runs[1].model == "m"


@pytest.mark.parametrize("several", [True, False])
def test_an_exchange_is_read_from_its_request(several: bool) -> None:
    exchange = {"request": {"messages": [USER], "system": "Be brief."}, "response": {"messages": [ANSWER]}}

    (run,) = runs_in([exchange] if several else exchange)

    assert (run.messages, run.system) == ([USER], "Be brief.")


def test_a_broken_line_is_named_by_its_number() -> None:
    with pytest.raises(elision.InputError) as error:
        parse_document(b'{"role": "user", "content": "a"}\n{"role": "user", "conte\nnot JSON\n', "run.jsonl")

    assert str(error.value) == (
        "run.jsonl: not JSON (line 2: Unterminated string starting at); give a history as JSON or JSON Lines"
    )
