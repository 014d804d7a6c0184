"""Which processors go by the window of the model, and whether it is known."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from elision.processor import Processor

_LONGEST = 60
"""Characters of a model's name that are shown."""

_SHARES = ("trigger_share", "history_share", "window_left_share")
_LIMITS = (*_SHARES, "trigger_tokens", "trigger_messages", "trigger_steps", "any_of", "all_of")


def names_by_window(processors: Iterable[Processor]) -> tuple[str, ...]:
    """Return the types of those of which something depends on how large the window is, each once."""
    return tuple(dict.fromkeys(each.type_name for each in processors if goes_by_window(each)))


def window_problem(names: Sequence[str], model: str | None) -> str:
    """Say what processors that go by the window do for a model of which nobody knows it; nothing where it is known."""
    tokens = assumed_window(model) if names and model is not None else None
    if tokens is None:
        return ""
    does = [f"{name} goes by {tokens} tokens, which are assumed" for name in names if name != "budget"]
    does += ["budget does nothing"] if "budget" in names else []
    shown = model if len(model or "") <= _LONGEST else f"{(model or '')[:_LONGEST]}…"
    return (
        f"how large the window of {shown!r} is, is not known: {'; '.join(does)}; add 'profile: {{window: "
        "{input_tokens: N}}' to the chain"
    )


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
