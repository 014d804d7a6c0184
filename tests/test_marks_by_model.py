"""``cache_control``: marks where the model takes them, and a view with a summary that comes back."""

from __future__ import annotations

from typing import Any

import pytest
from scheduled_runs import reads
from wire_rules import bytes_of

import elision

MARK = {"type": "ephemeral"}
CALL = {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}
HISTORY: list[dict[str, Any]] = [
    {"role": "user", "content": "Fix it."},
    {"role": "assistant", "content": "ok", "tool_calls": [CALL]},
    {"role": "tool", "tool_call_id": "c", "content": "first"},
]


@pytest.mark.parametrize(
    ("model", "compat", "expected"),
    [
        ("gpt-4.1", None, False),
        ("gpt-5.6", None, False),
        ("deepseek/deepseek-chat", None, False),
        ("claude-sonnet-4-6", None, True),
        ("a-gateway/some-model", None, True),
        (None, None, True),
        ("gpt-4.1", "sweagent", True),
    ],
)
def test_a_model_that_is_known_to_take_no_marks_gets_none_and_loses_those_of_the_host(
    model: str | None, compat: str | None, expected: bool
) -> None:
    history = [*HISTORY, {"role": "user", "content": [{"type": "text", "text": "And?", "cache_control": MARK}]}]
    said = f", compat: {compat}" if compat else ""
    chain = elision.loads(f"{{history_processors: [{{type: cache_control}}]{said}}}")
    view = chain.process(history, model=model)

    assert ("cache_control" in str(view.messages)) is expected


def test_a_view_with_a_summary_that_comes_back_keeps_its_marks() -> None:
    run = reads(*[300] * 9)
    chain = elision.load("adk_like", archive="memory:")
    view = chain.process(run.messages(), model="claude-sonnet-4-6")

    assert any(edit.action == "insert" for edit in view.edits)
    assert bytes_of(chain.process(view.messages, model="claude-sonnet-4-6").messages) == bytes_of(view.messages)
