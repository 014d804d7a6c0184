"""Faults that users met in other systems, against the chains that ship; read where the folder is there."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from anthropic_rules import blocks_of
from shared_data import shared
from wire_rules import marks_in, wire_faults

import elision
from elision import SentView
from elision.tokens import count_text

CLEARS_ALL = "{history_processors: [{type: last_n_observations, n: 1}, {type: cache_control, last_n_messages: 9}]}"
CLEARS_UNKNOWN = f"{{classification: none, {CLEARS_ALL[1:]}"
CHAINS = (
    "default",
    "cache_control",
    "last_n_observations",
    "last_n_polling",
    CLEARS_ALL,
    CLEARS_UNKNOWN,
    "history_processors: []",
)


def case(number: str) -> dict[str, Any]:
    found = sorted(shared("bugcases").glob(f"{number}-*.json"))
    return dict(json.loads(found[0].read_text(encoding="utf-8")))


def chain(text: str) -> elision.Chain:
    return elision.loads(text) if ":" in text else elision.load(text)


def process(found: dict[str, Any], text: str = "history_processors: []") -> SentView:
    return chain(text).process(found["messages"], dialect=found["style"])


@pytest.mark.filterwarnings("ignore:some results of .* has no rule that knows them:elision.ElisionWarning")
@pytest.mark.parametrize("text", CHAINS)
def test_every_case_is_valid_on_the_wire_and_its_history_is_unchanged(text: str) -> None:
    for path in sorted(shared("bugcases").glob("*.json")):
        found = json.loads(path.read_text(encoding="utf-8"))
        before = copy.deepcopy(found["messages"])
        loaded = chain(text)
        view = loaded.process(found["messages"], dialect=found["style"])

        assert wire_faults(found["style"], view.messages) == [], path.stem
        assert found["messages"] == before, path.stem
        assert view.failures == (), path.stem
        assert loaded.process(view.messages, dialect=found["style"]).messages == view.messages, path.stem


def test_case_05_dangling_call_then_user_prompt() -> None:
    view = process(case("05"))

    assert [m["role"] for m in view.messages] == ["user", "assistant", "tool", "user"]
    assert "outcome of this call is unknown" in view.messages[2]["content"]
    assert [(repair.fault, repair.position) for repair in view.repairs] == [("dangling_call", 1)]


def test_case_06_partly_answered_parallel_batch_at_the_end() -> None:
    view = process(case("06"))

    assert [m.get("tool_call_id") for m in view.messages] == [None, None, "q1", "q2"]
    assert view.messages[2] == {"role": "tool", "tool_call_id": "q1", "content": "wrote a"}
    assert [call.call_id for call in view.pending] == ["q2"]


def test_case_08_under_budget_is_identity() -> None:
    found = case("08")
    view = process(found, "default")

    assert [m["content"] for m in view.messages if m["role"] == "tool"] == ["4 C, rain"]
    assert all(sent is held for sent, held in zip(process(found).messages, found["messages"], strict=True))


def test_case_14_same_call_id_in_two_turns() -> None:
    found = case("14")
    view = process(found, "history_processors: [{type: last_n_observations, n: 1, placeholder: sweagent}]")
    results = [m["content"] for m in view.messages if m["role"] == "tool"]

    assert results[0] == "Old environment output: (1 lines omitted)"
    assert set(results[1]) == {"B"}


@pytest.mark.parametrize("reverse", [False, True])
def test_case_15_duplicate_id_after_abort_whichever_comes_first(reverse: bool) -> None:
    found = case("15")
    at = [i for i, m in enumerate(found["messages"]) if m["role"] == "tool"]
    if reverse:
        found["messages"][at[0]], found["messages"][at[1]] = found["messages"][at[1]], found["messages"][at[0]]
    view = process(found)

    assert [m["content"] for m in view.messages if m["role"] == "tool"] == ["1 item saved"]


def test_case_19_thinking_of_latest_turn_is_byte_equal() -> None:
    found = case("19")
    thoughts = [
        [[block for block in blocks_of(m) if "thinking" in str(block.get("type"))] for m in messages]
        for messages in (found["messages"], process(found, "default").messages)
    ]

    assert thoughts[0] == thoughts[1]


def test_case_21_reasoning_content_on_tool_call_messages() -> None:
    found = case("21")
    view = process(found, "history_processors: [{type: last_n_observations, n: 1}]")

    assert [m.get("reasoning_content") for m in view.messages] == [
        m.get("reasoning_content") for m in found["messages"]
    ]
    assert view.tokens.before > sum(count_text(m["content"] or "") for m in found["messages"])


def test_case_23_thought_signature_inside_the_call_id() -> None:
    found = case("23")
    ids = [(m.get("tool_call_id"), m.get("tool_calls")) for m in found["messages"]]
    view = process(found, "last_n_polling")

    assert [(m.get("tool_call_id"), m.get("tool_calls")) for m in view.messages] == ids


def test_case_27_cache_control_count_with_parallel_results() -> None:
    found = case("27")
    views = [process(found), process(found, "cache_control")]

    assert [marks_in(view.messages) for view in views] == [4, 2]
    assert [m["content"] for m in views[0].messages[1:]] == [m["content"] for m in found["messages"][1:]]


def test_case_43_special_token_text() -> None:
    found = case("43")
    text = found["messages"][2]["content"]

    assert count_text(text) > 10
    assert process(found, "default").messages[2]["content"] == text


def test_case_44_cjk_is_not_four_chars_per_token() -> None:
    text = case("44")["messages"]
    result = next(m["content"] for m in text if m["role"] == "tool")

    assert count_text(result) > len(result) / 4


def test_case_59_impossible_sizes_are_refused() -> None:
    found = case("59")
    with pytest.raises(elision.ConfigError) as error:
        elision.loads(found["config_yaml"], source="chain.yaml")
    lines = str(error.value).splitlines()

    assert lines[0].startswith("chain.yaml:3:8: history_processors[0].n: n is 0;")
    assert [line.split(": ")[1] for line in lines] == [
        "history_processors[0].n",
        "history_processors[1].type",
        "history_processors[2].type",
    ]
