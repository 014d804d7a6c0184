"""Functions that answer as models do, good ones and bad ones; ``CALLS`` lists the prompts that they were given."""

from __future__ import annotations

import threading

CALLS: list[str] = []
HELD = threading.Event()
GATE = threading.Semaphore(0)
"""Lets one held answer through for each time that it is released."""
BEGUN = threading.Semaphore(0)
"""Counts the held answers that have been begun."""


def good(prompt: str, *, model: str, timeout_seconds: float, max_tokens: int) -> str:
    CALLS.append(prompt)
    return "Goal: mend the loader\nDone: some files were read\nNext step: go on"


def thinking(prompt: str, *, model: str, timeout_seconds: float, max_tokens: int) -> str:
    return "<think>\nLet me see.\n</think>\n\n" + good(prompt, model="", timeout_seconds=0, max_tokens=0)


def begun_in_the_prompt(prompt: str, *, model: str, timeout_seconds: float, max_tokens: int) -> str:
    return "Let me see.\n</think>\n" + good(prompt, model="", timeout_seconds=0, max_tokens=0)


def only_thinking(prompt: str, *, model: str, timeout_seconds: float, max_tokens: int) -> str:
    CALLS.append(prompt)
    return "<think>Let me see. First I"


def raising(prompt: str, *, model: str, timeout_seconds: float, max_tokens: int) -> str:
    CALLS.append(prompt)
    raise RuntimeError("the model is away")


def empty(prompt: str, *, model: str, timeout_seconds: float, max_tokens: int) -> str:
    CALLS.append(prompt)
    return ""


def blank(prompt: str, *, model: str, timeout_seconds: float, max_tokens: int) -> str:
    CALLS.append(prompt)
    return "  \n "


def wordy(prompt: str, *, model: str, timeout_seconds: float, max_tokens: int) -> str:
    CALLS.append(prompt)
    return "word " * 40_000


def endless(prompt: str, *, model: str, timeout_seconds: float, max_tokens: int) -> str:
    CALLS.append(prompt)
    return "word " * 200_000


def late(prompt: str, *, model: str, timeout_seconds: float, max_tokens: int) -> str:
    CALLS.append(prompt)
    HELD.wait(60)
    return "too late"


def too_long(prompt: str, *, model: str, timeout_seconds: float, max_tokens: int) -> str:
    CALLS.append(prompt)
    raise ValueError("This model's maximum context length is 10 tokens")


def long_once(prompt: str, *, model: str, timeout_seconds: float, max_tokens: int) -> str:
    CALLS.append(prompt)
    if len(CALLS) == 1:
        raise ValueError("This model's maximum context length is 10 tokens")
    return "Done: some files were read"


def forgetful(prompt: str, *, model: str, timeout_seconds: float, max_tokens: int) -> str:
    """Write a summary, and say of the first fact in a probe that it lacks it."""
    CALLS.append(prompt)
    return "1" if prompt.startswith("Below are a summary") else "Done: some files were read"


def held(prompt: str, *, model: str, timeout_seconds: float, max_tokens: int) -> str:
    """Answer as soon as the gate lets it."""
    _hold(prompt)
    return f"Done: some files were read; answer {len(CALLS)}"


def held_and_failing(prompt: str, *, model: str, timeout_seconds: float, max_tokens: int) -> str:
    _hold(prompt)
    raise RuntimeError("the model is away")


def held_and_too_long(prompt: str, *, model: str, timeout_seconds: float, max_tokens: int) -> str:
    _hold(prompt)
    raise ValueError("This model's maximum context length is 10 tokens")


def held_and_forgetful(prompt: str, *, model: str, timeout_seconds: float, max_tokens: int) -> str:
    """Write a summary, and say of the first fact in a probe that it lacks it."""
    _hold(prompt)
    return "1" if prompt.startswith("Below are a summary") else "Done: some files were read"


def _hold(prompt: str) -> None:
    CALLS.append(prompt)
    BEGUN.release()
    GATE.acquire(timeout=60)


def asked() -> None:
    """Wait until a held answer has been begun."""
    BEGUN.acquire(timeout=60)


def answers() -> None:
    """Let held answers through until nobody is asking any more."""
    for thread in threading.enumerate():
        while thread.name == "elision-summary" and thread.is_alive():
            GATE.release()
            thread.join(0.01)
    while GATE.acquire(blocking=False):
        pass


def forget() -> None:
    """Begin anew: no prompts, nothing let through, nobody asking."""
    answers()
    while BEGUN.acquire(blocking=False):
        pass
    CALLS.clear()
