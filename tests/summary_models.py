"""Functions that answer as models do, good ones and bad ones; ``CALLS`` lists the prompts that they were given."""

from __future__ import annotations

import threading

CALLS: list[str] = []
HELD = threading.Event()


def good(prompt: str, *, model: str, timeout_seconds: float, max_tokens: int) -> str:
    CALLS.append(prompt)
    return "Goal: mend the loader\nDone: some files were read\nNext step: go on"


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
