"""Runs that are sent step by step, and where a request does not extend the one before it."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any

import elision
from elision import Chain, SentView
from elision.testing import Conversation, call, conversation, result


def words(count: int) -> str:
    """Return a text of so many tokens."""
    return "word " * (count - 1) + "end"


def reads(*sizes: int, tool: str = "read_file", task: str = "Go on.") -> Conversation:
    """Return a run of steps with one result each, of so many tokens."""
    run = conversation().user(task)
    for number, size in enumerate(sizes):
        run = run.step(call(tool, path=f"src/{number}.py"), result(words(size)))
    return run


def chain(options: str, **said: Any) -> Chain:
    """Return a chain of one ``clear_tool_results`` that asks no table and keeps originals in memory."""
    loaded = elision.loads(
        f"{{history_processors: [{{type: clear_tool_results, {options}}}], classification: none}}", archive="memory:"
    )
    given = {"schedule": loaded.schedule, "archive": loaded.archive, "classification": None, **said}
    return Chain(loaded.processors, **given)


def requests(messages: Sequence[Any]) -> Iterable[Sequence[Any]]:
    """Return the histories that are sent: each ends where the model is to answer."""
    for stop in range(1, len(messages) + 1):
        if stop == len(messages) or messages[stop]["role"] == "assistant":
            yield messages[:stop]


def sent(chain: Chain, messages: Sequence[Any], **said: Any) -> list[SentView]:
    """Send a run through one session, step by step."""
    with chain.session() as session, warnings.catch_warnings():
        warnings.simplefilter("ignore", elision.ElisionWarning)
        return [session.process(each, **said) for each in requests(messages)]


def breaks(views: Sequence[SentView]) -> list[int]:
    """Return the requests that do not extend the one before them."""
    return [
        number
        for number, (before, view) in enumerate(pairwise(views), 1)
        if view.messages[: len(before.messages)] != before.messages
    ]


def cleared(view: SentView) -> list[int]:
    """Return the places, among the results, of those that are placeholders."""
    results = [message["content"] for message in view.messages if message["role"] == "tool"]
    return [number for number, text in enumerate(results) if text.startswith("[")]
