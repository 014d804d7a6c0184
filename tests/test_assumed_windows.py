"""A window that is only assumed is said in the note of a view, where the chain has something that goes by it."""

from __future__ import annotations

import pytest

import elision
from elision.testing import call, conversation, result

RUN = conversation().user("Go.").step(call("read_file", path="a"), result("b")).step("Done.").messages()


def noted(processors: str, model: str | None, more: str = "") -> str:
    return elision.loads(f"history_processors: {processors}\n{more}", archive="memory:").process(RUN, model=model).note


@pytest.mark.parametrize(
    ("processors", "does"),
    [
        ("[{type: budget}]", "budget does nothing"),
        ("[{type: summarize}]", "summarize goes by 128000 tokens, which are assumed"),
        ("[{type: clear_tool_results, trigger_share: 0.5}]", "clear_tool_results goes by 128000 tokens, which are"),
    ],
)
def test_a_window_that_is_assumed_is_said(processors: str, does: str) -> None:
    note = noted(processors, "my-local-model")

    assert note.startswith(f"how large the window of 'my-local-model' is, is not known: {does}")


@pytest.mark.parametrize(
    ("processors", "model", "more"),
    [
        ("[{type: budget}]", "gpt-4o", ""),
        ("[{type: budget}]", None, ""),
        ("[{type: budget, max_tokens: 9000}]", "my-local-model", ""),
        ("[{type: clear_tool_results}]", "my-local-model", ""),
        ("[{type: budget}]", "my-local-model", "profile: {window: {input_tokens: 32000}}"),
    ],
)
def test_nothing_is_said_where_the_window_is_known_or_not_asked(processors: str, model: str | None, more: str) -> None:
    assert not noted(processors, model, more)
