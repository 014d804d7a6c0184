from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from copy import deepcopy
from typing import Any

import pytest

import elision
from elision.registry import plugins

Read = Callable[[str, Sequence[Any]], elision.History]
Send = Callable[..., elision.SentView]


@pytest.fixture
def dialect() -> Callable[[str], elision.Dialect]:
    """A dialect by its name."""
    return lambda name: next(found for found in plugins().dialects() if found.name == name)


@pytest.fixture
def read(dialect: Callable[[str], elision.Dialect]) -> Read:
    """The history that a dialect reads from messages."""

    def read_with(name: str, messages: Sequence[Any]) -> elision.History:
        reader = dialect(name)
        history = elision.History(reader.wire)
        for raw in messages:
            history.append(reader.parse(raw, history))
        return history

    return read_with


@pytest.fixture
def send() -> Send:
    """The view under an empty chain; what the host holds stays as it was, and what is sent can be written as JSON."""

    def sent(messages: Sequence[Any], name: str | None = None) -> elision.SentView:
        before = deepcopy(messages)
        view = elision.Chain([]).process(messages, dialect=name)
        json.dumps(view.messages).encode()

        assert messages == before
        return view

    return sent
