"""``tag_tool_call_observations``: tags reach the observation through the call."""

from __future__ import annotations

from typing import Any

import elision

TEXT_MODE: list[dict[str, Any]] = [
    {"role": "user", "message_type": "observation", "agent": "main", "content": "TASK"},
    {
        "role": "assistant",
        "message_type": "action",
        "agent": "main",
        "content": "see",
        "thought": "see",
        "action": "open a.py",
        "tool_calls": None,
    },
    {"role": "user", "message_type": "observation", "agent": "main", "content": "the file"},
]


def chain(options: str) -> elision.Chain:
    return elision.loads(f"history_processors: [{{type: tag_tool_call_observations, {options}}}]")


def test_tags_are_written_on_the_observation_of_a_sweagent_history_in_sorted_order() -> None:
    view = chain("function_names: [open], tags: [b, a]").process(TEXT_MODE)

    assert view.messages == [*TEXT_MODE[:2], {**TEXT_MODE[2], "tags": ["a", "b"]}]


def test_tags_of_the_host_stay() -> None:
    history = [*TEXT_MODE[:2], {**TEXT_MODE[2], "tags": ["z"]}]

    assert chain("function_names: [open], tags: [a]").process(history).messages[2]["tags"] == ["a", "z"]


def test_other_tools_no_tools_and_no_tags_change_nothing() -> None:
    views = [chain(o).process(TEXT_MODE).messages for o in ("function_names: [edit]", "tags: [x]", "tags: []")]

    assert views == [TEXT_MODE] * 3


def test_only_the_results_of_the_named_tool_are_tagged_in_a_batch() -> None:
    calls = [{"id": n, "type": "function", "function": {"name": n, "arguments": "{}"}} for n in ("open", "edit")]
    results = [
        {"role": "tool", "message_type": "observation", "tool_call_ids": [n], "content": n} for n in ("open", "edit")
    ]
    action = {"role": "assistant", "message_type": "action", "content": "", "tool_calls": calls}
    view = chain("function_names: [edit]").process([TEXT_MODE[0], action, *results])

    assert [m.get("tags") for m in view.messages] == [None, None, None, ["keep_output"]]


def test_a_malformed_call_is_no_match() -> None:
    action = {"role": "assistant", "message_type": "action", "content": "", "tool_calls": [{"id": "p"}]}
    result = {"role": "tool", "message_type": "observation", "tool_call_ids": ["p"], "content": "x"}
    history = [TEXT_MODE[0], action, result]

    assert chain("function_names: [bash]").process(history).messages == history
