"""Thinking in chat completions, wherever hosts keep it: what is bound to it stands, and it goes back as it came."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable
from typing import Any

import pytest

from elision import Chain, ElisionWarning, SentView, Thinking, loads

DETAILS = {"type": "reasoning.text", "text": "Hm.", "signature": "c2ln", "format": "anthropic-claude-v1"}
BLOCK = {"type": "thinking", "thinking": "Hm.", "signature": "c2ln"}
PLACES: dict[str, dict[str, Any]] = {
    "reasoning_details": {"reasoning": "Hm.", "reasoning_details": [DETAILS]},
    "encrypted reasoning_details": {"reasoning_details": [{"type": "reasoning.encrypted", "data": "ZGF0YQ=="}]},
    "provider_specific_fields": {"provider_specific_fields": {"thinking_blocks": [BLOCK]}},
    "reasoning_items": {"reasoning_items": [{"type": "reasoning", "summary": [], "encrypted_content": "ZGF0YQ=="}]},
    "content": {"content": [BLOCK, {"type": "text", "text": "First the file."}]},
    "redacted in content": {"content": [{"type": "redacted_thinking", "data": "ZGF0YQ=="}]},
    "Mistral's content": {"content": [{"type": "thinking", "thinking": [{"type": "text", "text": "Hm."}]}]},
}
CHAIN = """
history_processors:
  - {type: clear_tool_results, keep: 0, schedule: every_step}
  - {type: clear_thinking, schedule: every_step}
archive: "memory:"
"""


def run_with(place: dict[str, Any]) -> list[dict[str, Any]]:
    """Return a task of three steps, whose answers keep their thinking in one place, and the next task."""
    messages: list[dict[str, Any]] = [{"role": "user", "content": "Mend it."}]
    for number in range(3):
        function = {"name": "read_file", "arguments": json.dumps({"path": f"{number}.py"})}
        call = {"id": f"call_{number}", "type": "function", "function": function}
        messages.append({"role": "assistant", "content": "First the file.", "tool_calls": [call], **place})
        messages.append({"role": "tool", "tool_call_id": f"call_{number}", "content": f"line {number}\n" * 200})
    return [*messages, {"role": "assistant", "content": "Done."}, {"role": "user", "content": "And the next."}]


def sent(chain: Chain, messages: list[Any], model: str) -> SentView:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ElisionWarning)
        return chain.process(messages, model=model, dialect="openai")


@pytest.mark.parametrize("place", PLACES.values(), ids=PLACES)
def test_wherever_a_host_keeps_bound_thinking_nothing_before_it_is_edited(place: dict[str, Any]) -> None:
    messages = run_with(place)

    view = sent(loads(CHAIN), messages, "openrouter/anthropic/claude-opus-5-5")

    assert [new is old for new, old in zip(view.messages, messages, strict=True)][:-4] == [True] * 5
    assert {refusal.rule for refusal in view.refusals} >= {"bound_thinking"}


@pytest.mark.parametrize("place", PLACES.values(), ids=PLACES)
def test_the_most_exact_form_of_a_thought_is_read_once(place: dict[str, Any], read: Callable[..., Any]) -> None:
    message = read("openai", [run_with(place)[1]]).messages[0]

    found = [part for part in message.parts if isinstance(part, Thinking)]

    assert [part.raw is not None for part in found] == [True]


@pytest.mark.parametrize("place", PLACES.values(), ids=PLACES)
def test_clearing_the_results_leaves_thinking_that_is_not_bound_as_it_came(place: dict[str, Any]) -> None:
    messages = run_with(place)
    chain = loads(CHAIN.replace("  - {type: clear_thinking, schedule: every_step}\n", ""))

    view = sent(chain, messages, "claude-sonnet-4-5")

    assert [view.messages[at] is messages[at] for at in (1, 3, 5)] == [True] * 3
    assert len([edit for edit in view.edits if edit.action == "elide"]) == 3


def test_details_of_reasoning_that_is_old_go_with_its_text() -> None:
    messages = run_with({"reasoning": "Hm.", "reasoning_details": [DETAILS], "x_vendor": 1})
    chain = loads('history_processors: [{type: clear_thinking, schedule: every_step}]\narchive: "memory:"')
    answers = [{"role": "assistant", "content": "Done.", "reasoning_details": [DETAILS]}, messages[-1]]

    view = sent(chain, [*messages, *answers], "claude-sonnet-4-5")

    assert [sorted(view.messages[at]) for at in (1, 3, 5)] == [["content", "role", "tool_calls", "x_vendor"]] * 3


def test_text_beside_thinking_in_content_is_edited_and_the_thinking_stays_in_its_place() -> None:
    messages = run_with({"content": [BLOCK, {"type": "text", "text": "First the secret file."}]})
    chain = loads('history_processors: [{type: remove_regex, remove: ["secret "]}]\narchive: "memory:"')

    view = sent(chain, messages, "gpt-4o")

    assert view.messages[1]["content"] == [BLOCK, {"type": "text", "text": "First the file."}]
    assert view.messages[1]["content"][0] is BLOCK


def test_thinking_that_is_sealed_is_counted_by_the_length_of_its_seal() -> None:
    sealed = {"type": "reasoning.encrypted", "data": "ZGF0" * 1000}
    chain = loads('history_processors: []\narchive: "memory:"')
    without, with_it = (
        chain.process(run_with({"reasoning_details": details}), model="gpt-5.2", dialect="openai").tokens.before
        for details in ([], [sealed])
    )

    assert with_it - without == 3 * 400
