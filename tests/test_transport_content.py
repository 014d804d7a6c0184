"""What leaves has something in each message, begins with the user where it must, and has no empty list of tools."""

from __future__ import annotations

from typing import Any

import pytest
from forked import RunScript
from transport_content import ROUTES, histories


@pytest.fixture(scope="module")
def seen(with_litellm: RunScript) -> dict[str, Any]:
    return dict(with_litellm("transport_content.py", ELISION_ARCHIVE="", ELISION_PLUGINS="")[0])


def test_every_provider_takes_messages_in_which_nothing_is_said(seen: dict[str, Any]) -> None:
    refused = {name: found for name, found in seen.items() if isinstance(found, str)}

    assert refused == {}
    assert len(seen) == len(ROUTES) * len(histories())


@pytest.mark.parametrize("name", [name for name in histories() if name.startswith("result")])
def test_an_empty_result_leaves_as_the_same_short_text(seen: dict[str, Any], name: str) -> None:
    found = [seen[f"{model}: {name}"]["messages"][-1] for model, shape in ROUTES.items() if shape == "openai"]
    (block,) = seen[f"anthropic/claude-sonnet-4-5: {name}"]["messages"][-1]["content"]

    assert {message["content"] for message in found} == {"(empty)"}
    assert "(empty)" in str(block["content"])


def test_a_conversation_that_the_assistant_begins_gets_a_user_in_front_where_that_is_asked_for(
    seen: dict[str, Any],
) -> None:
    names = ("begun by the assistant", "begun by an orphan")
    first = {
        model: [(len(found["messages"]), found["messages"][0]["role"]) for found in map(seen.get, told) if found]
        for model in ROUTES
        if (told := [f"{model}: {name}" for name in names])
    }

    assert first["openai/gpt-4.1"] == [(3, "assistant"), (2, "assistant")]
    assert first["anthropic/claude-sonnet-4-5"] == [(3, "user"), (3, "user")]


def test_an_empty_list_of_tools_does_not_leave(seen: dict[str, Any]) -> None:
    left = [seen[f"{model}: no tools"]["tools"] for model in ROUTES]

    assert left == [None] * len(ROUTES)
