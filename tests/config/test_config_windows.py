"""What goes by the window of a model that nobody knows is said when the chain is looked at."""

from __future__ import annotations

import pytest

from elision.config.check import check

OWN = "profile: {window: {input_tokens: 32000}}"
SHARE = "[{type: clear_tool_results, trigger_share: 0.8}]"


def told(processors: str, model: str, more: str = "") -> list[str]:
    """Return what is said of a chain that names its model."""
    problems = check(f"history_processors: {processors}\nmodel: {model}\n{more}", "chain.yaml").problems
    return [f"{each.severity}: {each.message}" for each in problems]


@pytest.mark.parametrize(
    ("processors", "does"),
    [
        (SHARE, "clear_tool_results goes by 128000 tokens, which are assumed"),
        (
            "[{type: clear_tool_results, schedule: {trigger_share: 0.8}}]",
            "clear_tool_results goes by 128000 tokens, which are assumed",
        ),
        ("[{type: summarize}]", "summarize goes by 128000 tokens, which are assumed"),
        (
            "[{type: summarize, any_of: [{history_share: 0.4}]}]",
            "summarize goes by 128000 tokens, which are assumed",
        ),
        ("[{type: budget}]", "budget does nothing"),
    ],
)
def test_a_share_of_a_window_that_nobody_knows_is_warned_of(processors: str, does: str) -> None:
    (line,) = told(processors, "my-local-model")

    assert line == (
        f"warning: how large the window of 'my-local-model' is, is not known: {does}; add 'profile: {{window: "
        "{input_tokens: N}}' to the chain"
    )


@pytest.mark.parametrize(
    ("processors", "model", "more"),
    [
        (SHARE, "gpt-4o", ""),
        (SHARE, "my-local-model", OWN),
        ("[{type: budget}]", "my-local-model", OWN),
        ("[{type: budget, max_tokens: 30000}]", "my-local-model", ""),
        ("[{type: summarize, trigger_tokens: 30000}]", "my-local-model", ""),
        ("[{type: clear_tool_results, keep: 5}]", "my-local-model", ""),
    ],
)
def test_what_needs_no_window_or_has_it_said_is_not(processors: str, model: str, more: str) -> None:
    assert told(processors, model, more) == []
