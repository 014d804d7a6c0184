"""Valid requests of each protocol, and changes that make them invalid."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from model_client import post

from elision.testing import ModelServer, call, conversation, result

Body = dict[str, Any]
Change = Callable[[Body], object]

MARK = {"cache_control": {"type": "ephemeral"}}
HOUR = {"cache_control": {"type": "ephemeral", "ttl": "1h"}}
OPENAI_MARK = {"prompt_cache_breakpoint": {"mode": "explicit"}}


def valid(shape: str, model: str) -> Body:
    """Two calls in one step, then one, and a last word of the user's."""
    history = (
        conversation(shape)  # type: ignore[arg-type]
        .system("You fix bugs.")
        .user("Fix a.py.")
        .step("First.", call("ls"), call("pwd"), result("a.py"), result("/src"))
        .step("Then.", call("cat", path="a.py"), result("x = 1"))
        .user("Go on.")
    )
    return {"model": model, **history.request(), **({"max_tokens": 100} if shape == "anthropic" else {})}


def answered(shape: str, body: Body, **headers: str) -> tuple[int, Any, str]:
    """The status, the error, and the rule that was broken."""
    with ModelServer() as server:
        status, answer = post(server, shape, body, **headers)
        rule = server.invalid[0].rule if server.invalid else ""
    return status, answer.get("error"), rule


def changed(body: Body, *changes: Change) -> Body:
    copy = json.loads(json.dumps(body))
    for change in changes:
        change(copy)
    return copy


def case(name: str, invalid: Change, near: Change, rule: str, told: str, *, model: str | None = None) -> Any:
    return pytest.param(invalid, near, rule, told, model, id=name)


def nothing(body: Body) -> None:
    """Leave the request as it is."""


def edit(*path: str | int, to: Any) -> Change:
    """Set a value deep in a body."""

    def change(body: Any) -> None:
        for key in path[:-1]:
            body = body[key]
        body[path[-1]] = to

    return change


def drop(*path: str | int) -> Change:
    """Take something out of a body."""

    def change(body: Any) -> None:
        for key in path[:-1]:
            body = body[key]
        del body[path[-1]]

    return change


def move(key: str, source: int, target: int) -> Change:
    """Move a message."""
    return lambda body: body[key].insert(target, body[key].pop(source))


def both(*changes: Change) -> Change:
    return lambda body: [change(body) for change in changes]
