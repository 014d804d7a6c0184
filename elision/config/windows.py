"""Which processors go by the window of the model, and whether it is known."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from elision.processor import Processor

_SHARES = ("trigger_share", "history_share", "window_left_share")
_LIMITS = (*_SHARES, "trigger_tokens", "trigger_messages", "trigger_steps", "any_of", "all_of")


def goes_by_window(processor: Processor) -> bool:
    """Whether something that it does depends on how large the window is."""
    options = processor.model_dump()
    if any(_shares_in(options)):
        return True
    if "history_share" in options:
        return not any(options.get(name) for name in _LIMITS)
    return "reserve_tokens" in options and options.get("max_tokens") is None


def _shares_in(value: Any) -> Iterator[bool]:
    if isinstance(value, Mapping):
        yield any(value.get(name) is not None for name in _SHARES)
        for inner in value.values():
            yield from _shares_in(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _shares_in(inner)


def assumed_window(model: str) -> int | None:
    """Return the tokens that are assumed where nobody knows the window of a model; ``None`` where it is known."""
    from elision.profiles import profile_for

    profile = profile_for(model)
    return profile.window.input_tokens if profile.sources["window.input_tokens"].startswith("default") else None
