"""Arguments and results that are nested as deeply as JSON can be: no request fails of them, and nothing breaks."""

from __future__ import annotations

import sys
from typing import Any

import pytest

from elision import loads

DEPTH = sys.getrecursionlimit() - 100
CHAIN = """
history_processors:
  - {type: clear_tool_results, keep: 0, schedule: every_step}
  - {type: clear_tool_inputs, keep: 0, threshold_chars: 20, schedule: every_step}
  - {type: supersede, schedule: every_step}
  - {type: cache_control, plan: auto}
archive: "memory:"
"""


def nested() -> dict[str, Any]:
    made: dict[str, Any] = {}
    inner = made
    for _ in range(DEPTH):
        inner["inner"] = {"note": "a text of some length that goes"}
        inner = inner["inner"]
    return made


def run_with(place: str) -> list[Any]:
    """Return a run of three steps in which something is nested deeply; made anew each time."""
    messages: list[Any] = [{"role": "user", "content": "Go on."}]
    for number in range(3):
        given = nested() if place == "arguments" else {"path": "a.py"}
        use = {"type": "tool_use", "id": f"call_{number}", "name": "read_file", "input": given}
        texts = [{"type": "text", "text": "line\n" * 300}]
        content = [*texts, {"type": "json", "json": nested()}] if place == "result" else texts
        beside = {"vendor": nested()} if place == "a key that nobody knows" else {}
        messages.append({"role": "assistant", "content": [use], **beside})
        messages.append(
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": f"call_{number}", "content": content}]}
        )
    return messages


@pytest.mark.parametrize("place", ["arguments", "result", "a key that nobody knows"])
@pytest.mark.parametrize("copied", [False, True])
def test_what_is_nested_deeply_is_processed_step_by_step_and_reported(place: str, copied: bool) -> None:
    messages = run_with(place)
    with loads(CHAIN).session() as session:
        for stop in range(1, len(messages) + 1):
            given = run_with(place) if copied else messages
            view = session.process(given[:stop], model="claude-sonnet-4-5", dialect="anthropic")

    assert view.failures == ()
    assert len(view.cache.keys.live_window) == 16
    assert [each.index for each in view.cache.breaks] == [4]
