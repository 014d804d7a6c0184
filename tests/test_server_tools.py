"""The provider's own tools: what they were asked and what they found stay together, whatever is dropped."""

from __future__ import annotations

from typing import Any

import pytest
from anthropic_rules import blocks_of

import elision

RECENT = """
classification: none
schedule: every_step
history_processors: [{type: recent_steps, keep_first_steps: 0, keep_last_steps: %d}]
"""
ASKED = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "x"}}
FOUND = {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": []}


def user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": [{"type": "text", "text": text}]}


def said(*blocks: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": [b if isinstance(b, dict) else {"type": "text", "text": b} for b in blocks]}


def kinds(messages: list[Any]) -> list[str]:
    return [block["type"] for message in messages for block in blocks_of(message) if "_tool_" in block["type"]]


@pytest.mark.parametrize("keep", range(1, 5))
def test_a_pause_between_call_and_result_keeps_both_steps(keep: int) -> None:
    """The provider pauses a long turn: the result begins what it says next."""
    messages = [user("Look."), said("One."), user("On."), said(ASKED), said(FOUND, "So."), user("And?"), said("Ok.")]
    chain = elision.loads(RECENT % keep, archive="memory:")
    view = chain.process([*messages, user("Next."), said("Done.")], dialect="anthropic")

    assert kinds(view.messages) == ["server_tool_use", "web_search_tool_result"]
    assert {refusal.rule for refusal in view.refusals} <= {"step_is_atomic"}


def test_a_step_with_both_goes_as_one() -> None:
    messages = [user("Look."), said(ASKED, FOUND, "So."), user("And?"), said("Ok."), user("Next."), said("Done.")]
    view = elision.loads(RECENT % 1, archive="memory:").process(messages, dialect="anthropic")

    assert kinds(view.messages) == []
    assert view.refusals == ()
