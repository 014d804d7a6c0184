"""What ``budget`` says where a request cannot fit, and what it cuts in histories whose calls are read from text."""

from __future__ import annotations

import re
from collections.abc import Iterable
from contextlib import suppress

import pytest

from elision import Chain, OverBudgetError, registry
from elision.testing import call, conversation, result


def budget(tokens: int) -> Chain:
    return Chain([registry.plugins().processors()["budget"](max_tokens=tokens)], archive="memory:")


@pytest.mark.parametrize("steps", [1, 9])
def test_where_the_table_knows_no_tool_the_error_says_how_to_tell_it(steps: int) -> None:
    run = conversation().user("Go.")
    for number in range(steps):
        run = run.step(call("frobnicate", part=number), result("word " * 900))
    with pytest.raises(OverBudgetError) as told:
        budget(500).process(run.messages())

    assert "the table keeps" in str(told.value)
    assert "of class unknown" in str(told.value)
    assert "`elision classify --suggest`" in str(told.value)


def test_where_what_is_in_the_way_is_no_way_back_the_error_says_that_and_not_what_little_the_table_keeps() -> None:
    writes = [call("write_file", path=f"f{number}.py", content="x = 1\n" * 2000) for number in range(12)]
    run = conversation().user("Go.")
    for number in range(0, 12, 2):
        run = run.step(writes[number], writes[number + 1], result("ok"), result("ok"))
    tools = [{"type": "function", "function": {"name": name}} for name in ("read_file", "write_file")]
    with pytest.raises(OverBudgetError) as told:
        budget(9000).process({"messages": run.messages(), "tools": tools})

    assert "offer elision.recall_tool_schema()" in str(told.value)
    assert "the table keeps" not in str(told.value)


@pytest.mark.parametrize("before", [[], range(3, 19, 2)], ids=["alone", "after others"])
def test_what_the_table_keeps_is_no_more_than_what_stays(before: Iterable[int]) -> None:
    run = conversation().user("Go.")
    for number in range(9):
        run = run.step(call("git_commit", message=f"step {number}"), result("word " * 900))
    messages = run.messages()
    session = budget(5000).session()
    for stop in before:
        with suppress(OverBudgetError):
            session.process(messages[:stop])
    with pytest.raises(OverBudgetError) as told:
        session.process(messages)
    found = re.findall(r"([\d,]+) (?:stay|of class receipt)", str(told.value))
    stays, kept = (int(each.replace(",", "")) for each in found)

    assert 8_000 < kept <= stays


def test_a_long_answer_without_an_action_is_cut_in_a_swe_agent_history_too() -> None:
    messages = conversation("sweagent").user("Go.").step("word " * 9000).user("Well?").messages()
    view = budget(2000).process(messages, dialect="sweagent")

    assert [edit.position for edit in view.edits] == [1]
    assert len(view.messages[1]["content"]) < 10_000
