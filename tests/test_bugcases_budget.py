"""Cases that users met elsewhere, of requests that are too long."""

from __future__ import annotations

import json
from typing import Any

import pytest
from shared_data import shared
from wire_rules import wire_faults

from elision import Chain, OverBudgetError, registry


def budget(tokens: int, **options: Any) -> Chain:
    return Chain([registry.plugins().processors()["budget"](max_tokens=tokens, **options)], archive="memory:")


def case(name: str) -> tuple[list[Any], int]:
    found = json.loads(shared("bugcases", name).read_text(encoding="utf-8"))
    return found["messages"], int(found["config"].get("max_tokens", 0))


def test_case_10_shorten_newer_big_result_before_dropping_messages() -> None:
    messages, most = case("10-shorten-newer-big-result-before-dropping-messages.json")
    chain = Chain(budget(most).processors, archive="memory:", classification=None)
    view = chain.process(messages)

    assert len(view.messages) == len(messages)
    assert {edit.call_id for edit in view.edits} == {"o2"}
    assert wire_faults("openai", view.messages) == []


def test_case_41_last_batch_is_too_big_as_a_whole() -> None:
    messages, most = case("41-last-batch-is-too-big-as-a-whole.json")
    view = budget(most).process(messages)

    assert view.tokens.after <= most < view.tokens.before
    assert len(view.messages) == len(messages)
    assert wire_faults("openai", view.messages) == []


def test_case_09_tool_only_history_still_shrinks() -> None:
    messages, _ = case("09-tool-only-history-still-shrinks.json")
    chain = Chain(budget(50, margin_share=0).processors, archive="memory:", classification=None)
    view = chain.process(messages)

    assert len(view.messages) < len(messages)
    assert view.messages[0] is messages[0]
    assert wire_faults("openai", view.messages) == []


def test_case_37_threshold_below_fixed_overhead() -> None:
    messages, _ = case("37-threshold-below-fixed-overhead.json")
    with pytest.raises(OverBudgetError, match=r"message 0 \(system\)"):
        budget(2_000).process(messages)
