"""Requests that are long enough to be cached, and a clock that a test sets."""

from __future__ import annotations

from typing import Any

from elision.profiles import profile_for
from elision.testing import Conversation, call, conversation, result, thinking

WORDS = "alpha beta gamma delta " * 400
MARK = {"type": "ephemeral"}


class Clock:
    """A clock that a test sets."""

    def __init__(self) -> None:
        self.now = 1_000_000.0

    def __call__(self) -> float:
        return self.now


def history(steps: int, shape: str = "openai", first: str = "0") -> Conversation:
    """A head of 1,600 words, and as many in each step."""
    found = conversation(shape).system(WORDS).user("Go.")  # type: ignore[arg-type]
    for number in range(steps):
        mark = first if number == 0 else str(number)
        found = found.step(thinking("Hm."), call("ls", path=str(number)), result(mark + WORDS))
    return found


def chat(model: str, steps: int, first: str = "0", **more: Any) -> dict[str, Any]:
    messages = history(steps, first=first).request()["messages"]
    if profile_for(model).name == "openai":
        messages = [{key: value for key, value in each.items() if key != "reasoning_content"} for each in messages]
    return {"model": model, "messages": messages, **more}


def anthropic(steps: int, marks: tuple[int, ...] = (), first: str = "0", **more: Any) -> dict[str, Any]:
    """A request with breakpoints on some messages; -1 is the system prompt."""
    body = conversation("anthropic").system(WORDS).user("Go.")
    for number in range(steps):
        body = body.step(call("ls", path=str(number)), result((first if number == 0 else str(number)) + WORDS))
    made: dict[str, Any] = {"model": "claude-sonnet-4-5", "max_tokens": 9, **body.request(), **more}
    if -1 in marks:
        made["system"] = [{"type": "text", "text": made["system"], "cache_control": MARK}]
    for place in marks:
        if place >= 0:
            blocks = made["messages"][place]["content"]
            blocks = [{"type": "text", "text": blocks}] if isinstance(blocks, str) else blocks
            made["messages"][place]["content"] = [*blocks[:-1], {**blocks[-1], "cache_control": MARK}]
    return made
