"""Old-style ``history -> history`` functions for chains with ``call``: some do no harm, the guard stops the others."""

from __future__ import annotations

from typing import Any


def shortened(history: list[Any]) -> list[Any]:
    """Cut every string content to ten characters."""
    return [_with_content(message, message["content"][:10]) if _has_text(message) else message for message in history]


def shouted(history: list[Any]) -> list[Any]:
    """Write louder and longer, in place: text grows and what was given is changed."""
    for message in history:
        if _has_text(message):
            message["content"] = f"{message['content'].upper()}!"
    return history


def thinned(history: list[Any]) -> list[Any]:
    """Leave out every third message, whatever it belongs to."""
    return [message for index, message in enumerate(history) if index % 3 != 2]


def trimmed(history: list[Any]) -> list[Any]:
    """Leave out everything from the first message of the model to the second."""
    acts = [index for index, message in enumerate(history) if message.get("role") == "assistant"]
    return [*history[: acts[0]], *history[acts[1] :]] if len(acts) > 1 else history


def turned(history: list[Any]) -> list[Any]:
    """Turn the order round."""
    return history[::-1]


def noted(history: list[Any]) -> list[Any]:
    """Put a note before the last message."""
    return [*history[:-1], {"role": "user", "content": "Mind the time."}, *history[-1:]]


def edited(history: list[Any]) -> list[Any]:
    """Empty all calls and contents."""
    return [{**message, "content": "", "tool_calls": []} for message in history]


def _has_text(message: Any) -> bool:
    return isinstance(message.get("content"), str)


def _with_content(message: Any, content: str) -> Any:
    return {**message, "content": content}
