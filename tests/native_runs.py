"""Runs for ``native``: the same chain with and without it, and what a request asks its provider for."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from itertools import repeat
from typing import Any

from scheduled_runs import requests, words

import elision
from elision import Chain, SentView
from elision.testing import Conversation, Shape, call, conversation, result

CLAUDE = "claude-opus-5-5"
ELSEWHERE = "deepseek/deepseek-chat"


def searches(*sizes: int, shape: Shape = "openai", pattern: str = "word") -> Conversation:
    """Return a run of searches, whose results may all go, of so many tokens each."""
    run = conversation(shape).system("You are careful.").user("Find it.")
    for number, size in enumerate(sizes):
        run = run.step(call("grep", pattern=f"{pattern} {number}"), result(words(size)))
    return run


def native(options: str = "", *, beside: str = "", **said: Any) -> Chain:
    """Return a chain with ``native``; ``beside`` are other processors, ``said`` other options of the chain."""
    given = f", {options}" if options else ""
    more = f", {beside}" if beside else ""
    loaded = elision.loads(f"history_processors: [{{type: native{given}}}{more}]", archive="memory:")
    kept = {"schedule": loaded.schedule, "archive": loaded.archive}
    return Chain(loaded.processors, **{**kept, **said})


def views(
    chain: Chain, messages: Sequence[Any], *, models: Sequence[str] | str = CLAUDE, **said: Any
) -> list[SentView]:
    """Send a run step by step through one session; ``models`` names that of each request in turn."""
    asked = [*requests(messages)]
    names = [models] * len(asked) if isinstance(models, str) else models
    with chain.session() as session, warnings.catch_warnings():
        warnings.simplefilter("ignore", elision.ElisionWarning)
        return [session.process(each, model=model, **said) for each, model in zip(asked, names, strict=True)]


def edit_of(view: SentView, kind: str = "clear_tool_uses_20250919") -> Mapping[str, Any]:
    """Return the edit of a kind that a request asks its provider for."""
    edits = view.params["context_management"]["edits"]
    (found,) = [each for each in edits if each["type"] == kind]
    return dict(found)


def excluded(view: SentView) -> list[str]:
    """Return the tools that a request has its provider leave alone."""
    return list(edit_of(view).get("exclude_tools", ()))


def offering(*names: str) -> list[dict[str, Any]]:
    """Return definitions of tools."""
    return [{"type": "function", "function": {"name": name, "parameters": {}}} for name in names]


def models_in_turn(*runs: tuple[str, int]) -> list[str]:
    """Return the model of each request: so many requests with each."""
    return [name for model, count in runs for name in repeat(model, count)]
