"""``yes`` and ``no`` are booleans in YAML: where a number is asked they are slips, and would be 1 and 0."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from pydantic import PositiveInt, ValidationError

import elision
from elision import Processor, processor_types

Lines = Callable[[str], list[str]]

WHOLE = "it must be a whole number"


@pytest.mark.parametrize(
    ("entry", "told"),
    [
        ("{type: clear_tool_results, keep: yes}", f"keep: keep is true; {WHOLE}; correct it, or leave it out for 3"),
        ("{type: clear_tool_results, keep: no}", f"keep: keep is false; {WHOLE}; correct it, or leave it out for 3"),
        ("{type: clear_tool_results, trigger: on}", f"trigger: trigger is true; {WHOLE}; correct it"),
        (
            "{type: clear_tool_results, trigger_share: yes}",
            "trigger_share: trigger_share is true; it must be a number;",
        ),
        ("{type: clear_tool_results, schedule: {polling: yes}}", f"schedule.polling is true; {WHOLE} or 'auto';"),
        ("{type: clear_tool_results, schedule: {trigger_tokens: yes}}", f"schedule.trigger_tokens is true; {WHOLE};"),
        ("{type: last_n_observations, n: yes}", f"n: n is true; {WHOLE}; correct it"),
        ("{type: last_n_observations, n: 2, polling: yes}", f"polling: polling is true; {WHOLE} or 'auto';"),
        ("{type: summarize, any_of: [{trigger_steps: yes}]}", f"any_of[0].trigger_steps is true; {WHOLE};"),
        ("{type: summarize, timeout_seconds: yes}", "timeout_seconds: timeout_seconds is true; it must be a number;"),
        ("{type: budget, reserve_tokens: no}", f"reserve_tokens: reserve_tokens is false; {WHOLE};"),
        ("{type: remove_regex, keep_last: off}", f"keep_last: keep_last is false; {WHOLE};"),
        ("{type: image_limit, keep_images: no}", f"keep_images: keep_images is false; {WHOLE};"),
    ],
)
def test_a_boolean_is_no_number_in_a_processor(entry: str, told: str, problems: Lines) -> None:
    (line,) = problems(f"history_processors: [{entry}]")

    assert told in line
    assert line.startswith("chain.yaml:1:")


@pytest.mark.parametrize(
    ("option", "told"),
    [
        ("schedule: {polling: yes}", f"schedule.polling is true; {WHOLE} or 'auto'; correct it"),
        ("share: yes", "share is true; it must be a number"),
        ("tests: [{history: 'run.json', run: yes, expect: {tokens_below: 9}}]", f"tests[0].run: run is true; {WHOLE}"),
        ("tests: [{history: 'run.json', expect: {tokens_below: yes}}]", f"tokens_below is true; {WHOLE}"),
        ("profile: {window: {input_tokens: yes}}", f"input_tokens is true; {WHOLE}"),
        (
            "classification: {extends: default, classes: {mine: {cells: {clear: {after_steps: yes}}}}}",
            f"after_steps is true; {WHOLE}",
        ),
    ],
)
def test_a_boolean_is_no_number_beside_the_processors(option: str, told: str, problems: Lines) -> None:
    found = problems(f"history_processors: []\n{option}")

    assert any(told in line for line in found)


@pytest.mark.parametrize(
    "entry",
    [
        "{type: clear_tool_results, clear_tool_inputs: yes}",
        "{type: native, clear_tool_inputs: no}",
        "{type: summarize, summarizer: llm, model: m, probe: yes, background: no}",
    ],
)
def test_a_boolean_stays_one_where_it_is_asked(entry: str, problems: Lines) -> None:
    assert problems(f"history_processors: [{entry}]") == []


def test_a_processor_of_ones_own_refuses_booleans_too_and_so_does_python() -> None:
    class Cut(Processor):
        type: str = "cut"
        lines: PositiveInt | None = 5
        whole: bool = False

        def plan(self, view: elision.View) -> list[elision.Edit]:
            return []

    assert Cut(whole=True).whole is True
    with pytest.raises(ValidationError, match="lines\n  Input should be a valid integer"):
        Cut(lines=True)
    with pytest.raises(ValidationError, match="keep\n  Input should be a valid integer"):
        processor_types()["clear_tool_results"](keep=True)


def test_in_a_sweagent_config_its_own_processors_take_what_they_take_there(problems: Lines) -> None:
    text = "agent: {history_processors: [{type: %s}]}"
    chain = elision.loads(text % "remove_regex, keep_last: true")

    assert chain.processors[0].model_dump()["keep_last"] == 1
    assert problems(text % "remove_regex, keep_last: true") == []
    assert "keep is true" in problems(text % "clear_tool_results, keep: true")[0]
