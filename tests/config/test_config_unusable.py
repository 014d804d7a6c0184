"""What cannot be used is found by lint, where it is written, and not only when the chain is loaded."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import elision
from elision.config import lint

Lines = Callable[[str], list[str]]
NO_COMPCT = "there is no placeholder template 'compct'; did you mean 'compact'?"


@pytest.mark.parametrize(
    ("entry", "told"),
    [
        ("{type: clear_tool_results, placeholder: compct}", f"placeholder: {NO_COMPCT}"),
        ("{type: dedupe, placeholder: compct}", f"placeholder: {NO_COMPCT}"),
        ("{type: supersede, placeholder: compct}", f"placeholder: {NO_COMPCT}"),
        ("{type: last_n_observations, n: 2, placeholder: compct}", f"placeholder: {NO_COMPCT}"),
        ("{type: dedupe, placeholder: '{{ pth }} gone'}", "placeholder: there is no variable 'pth'"),
        ("{type: dedupe, placeholder: '{{ tool gone'}", "placeholder: "),
        ("{type: summarize, template: '{{ foo }}'}", "template: "),
        ("{type: summarize, prompt: sumary}", "prompt: "),
        ("{type: compact_interval, template: '{% if %}'}", "template: "),
        ("{type: summarize, summarizer: call, target: nonsense}", "target: 'nonsense' is not of the form package"),
        ("{type: save_reminder, template: '{{ foo }}'}", "template: "),
        ("{type: task_notes, template: notse}", "template: "),
        ("{type: offload, folder: '~/results'}", "folder: '~/results': tools that read files do not know ~"),
        ("{type: offload, folder: a/..}", "folder: 'a/..': results have a folder of their own"),
        ("{type: cache_control, plan_: auto}", "plan_: cache_control has no option 'plan_'; did you mean 'plan'?"),
        (
            "{type: clear_tool_results, trigger: 9000, clear_at_least: 500, clear_at_most_tokens: 100}",
            "clear_at_most_tokens: clear_at_most_tokens is 100, less than clear_at_least_tokens (500)",
        ),
    ],
)
def test_an_option_that_cannot_be_used_is_found_where_it_is_written(entry: str, told: str, problems: Lines) -> None:
    text = f"history_processors: [{entry}]"
    (line,) = problems(text)

    assert f": history_processors[0].{told}" in line
    assert not line.startswith("chain.yaml:1:22:")
    with pytest.raises(elision.ConfigError) as caught:
        elision.loads(text, source="chain.yaml")
    assert str(caught.value) == line


def test_a_compaction_that_the_provider_refuses_is_found_where_the_model_is_named(problems: Lines) -> None:
    text = "history_processors: [{type: native, compact_trigger_tokens: %s}]\nmodel: %s\nclassification: none"

    assert problems(text % (50_000, "claude-opus-5-5")) == []
    assert problems(text % (9_000, "gpt-4o")) == []
    assert problems(text % (9_000, "claude-opus-5-5")) == [
        (
            "chain.yaml:1:22: history_processors[0]: native cannot leave compaction to the provider: "
            "compact_trigger_tokens is 9000, and it takes 50000 or more; make it larger, or remove it"
        )
    ]


def test_a_compaction_that_the_provider_refuses_is_not_asked_for() -> None:
    chain = elision.loads(
        "history_processors: [{type: native, compact_trigger_tokens: 9000}]\nclassification: none\narchive: 'memory:'"
    )
    with pytest.warns(elision.ElisionWarning, match="compact_trigger_tokens is 9000"):
        view = chain.process(
            {"model": "claude-opus-5-5", "messages": [{"role": "user", "content": "Go."}], "system": "x"}
        )
    edits = view.params["context_management"]["edits"]

    assert [edit["type"] for edit in edits] == ["clear_tool_uses_20250919"]


@pytest.mark.parametrize(
    ("entry", "told"),
    [
        ("{type: truncate, exclude_tools: shell}", "write exclude_tools: [shell]"),
        ("{type: remove_regex, remove: '<a>.*'}", "write ['<a>.*']"),
        ("{type: clear_tool_results, clear_tool_inputs: shell}", "write clear_tool_inputs: [shell]"),
    ],
)
def test_a_text_in_place_of_a_list_is_shown_as_a_list(entry: str, told: str, problems: Lines) -> None:
    (line,) = problems(f"history_processors: [{entry}]")

    assert line.endswith(f"a list; {told}")


ORDER = """\
history_processors:
  - type: cache_control
  - type: offload
    folder: ~
  - type: redact
  - type: truncate
    head_chars: many
"""


def test_wrong_options_of_one_processor_hide_no_fault_in_the_order(problems: Lines) -> None:
    lines = problems(ORDER)

    assert [line.split(": ")[1] for line in lines] == [
        "history_processors[0]",
        "history_processors[1]",
        "history_processors[1].folder",
        "history_processors[3].head_chars",
    ]
    assert "cache_control must stand after offload, redact, truncate" in lines[0]
    assert "offload must stand after redact" in lines[1]


def test_an_order_that_is_probably_not_meant_is_a_warning_and_loads(problems: Lines) -> None:
    text = "history_processors: [{type: summarize}, {type: truncate}, {type: clear_tool_results}, {type: offload}]"

    assert problems(text) == [
        (
            "chain.yaml:1:22: history_processors[0]: warning: summarize should stand after clear_tool_results "
            "(what it clears may make a summary needless); move it down"
        ),
        (
            "chain.yaml:1:41: history_processors[1]: warning: truncate should stand after offload "
            "(what was cut does not go to a file whole); move it down"
        ),
    ]
    assert len(elision.loads(text).processors) == 4


def test_a_processor_of_each_request_that_stands_before_others_gets_a_note() -> None:
    found = lint("history_processors: [{type: budget}, {type: truncate}, {type: cache_control}]", "chain.yaml")

    assert [str(each) for each in found] == [
        (
            "chain.yaml:1:22: history_processors[0]: note: budget is asked for each request, after truncate, wherever "
            "it stands; move it down, so that the file says so"
        )
    ]
