"""``schedule`` in chain files, and what is said of mistakes in it."""

from __future__ import annotations

import json
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
import yaml
from jsonschema import Draft202012Validator

import elision
from elision import Polling, Schedule, Trigger

Lines = Callable[[str], list[str]]

FORMS: dict[str, Schedule] = {
    "break_even": "break_even",
    "every_step": "every_step",
    "{polling: 10}": Polling(polling=10),
    "{polling: auto}": Polling(polling="auto"),
    "{trigger_tokens: 100000, clear_at_least_tokens: 5000}": Trigger(
        trigger_tokens=100_000, clear_at_least_tokens=5000
    ),
    "{trigger_share: 0.75}": Trigger(trigger_share=0.75),
}
KNOWN = "schedules are: break_even, every_step, {polling: N}, {polling: auto}, {trigger_tokens: N}, {trigger_share: S}"
MISTAKES = {
    "often": (9, "", f"there is no schedule 'often'; {KNOWN}; correct it"),
    "brake_even": (9, "", "there is no schedule 'brake_even'; did you mean 'break_even'?"),
    "10": (9, "", f"a schedule is a name or a mapping, this is 10; {KNOWN}; correct it"),
    "[every_step]": (9, "", f"a schedule is a name or a mapping, this is ['every_step']; {KNOWN}; correct it"),
    "{}": (9, "", "a schedule needs 'polling', 'trigger_tokens' or 'trigger_share'; add one of them"),
    "{polling: 0}": (19, ".polling", "schedule.polling is 0; it must be greater than 0 or 'auto'; correct it"),
    "{polling: often}": (
        19,
        ".polling",
        "schedule.polling is 'often'; it must be a whole number or 'auto'; correct it",
    ),
    "{poling: 10}": (10, ".poling", "'schedule' has no option 'poling'; did you mean 'polling'?"),
    "{zzz: 10}": (
        10,
        ".zzz",
        (
            "'schedule' has no option 'zzz'; its options are: clear_at_least_tokens, polling, trigger_share, "
            "trigger_tokens; correct or remove it"
        ),
    ),
    "{polling: 5, trigger_tokens: 9}": (
        9,
        "",
        "a schedule has either 'polling' or 'trigger_tokens'; remove one of them",
    ),
    "{trigger_tokens: 0}": (
        26,
        ".trigger_tokens",
        "schedule.trigger_tokens is 0; it must be greater than 0; correct it",
    ),
    "{trigger_share: 75}": (25, ".trigger_share", "schedule.trigger_share is 75; it must be at most 1.0; correct it"),
    "{trigger_tokens: 10, clear_at_least_tokens: 50}": (
        53,
        ".clear_at_least_tokens",
        "clear_at_least_tokens is 50, more than trigger_tokens (10); make it smaller",
    ),
}


@pytest.fixture(scope="module")
def schema() -> Any:
    text = files("elision.configs").joinpath("chain.schema.json").read_text(encoding="utf-8")
    return Draft202012Validator(json.loads(text))


@pytest.mark.parametrize("written", FORMS)
def test_a_chain_and_a_processor_take_every_form_of_schedule(written: str, schema: Any) -> None:
    text = f"history_processors: [{{type: clear_tool_results, schedule: {written}}}]\nschedule: {written}"
    chain = elision.loads(text)

    assert chain.schedule == chain.processors[0].own_schedule == FORMS[written]
    assert schema.is_valid(yaml.safe_load(text))


def test_a_chain_that_says_nothing_waits_until_clearing_breaks_even(chain: Callable[[str], elision.Chain]) -> None:
    loaded = chain("history_processors: [{type: clear_tool_results}]")

    assert (loaded.schedule, loaded.processors[0].own_schedule) == ("break_even", None)


@pytest.mark.parametrize("written", MISTAKES)
def test_a_mistake_in_a_schedule_is_one_located_line(problems: Lines, schema: Any, written: str) -> None:
    column, within, told = MISTAKES[written]
    of_chain = f"history_processors: []\nschedule: {written}"
    of_processor = f"history_processors:\n- type: clear_tool_results\n  schedule: {written}"

    assert problems(of_chain) == [f"chain.yaml:2:{column + 2}: schedule{within}: {told}"]
    assert problems(of_processor) == [f"chain.yaml:3:{column + 4}: history_processors[0].schedule{within}: {told}"]
    if "clear_at_least_tokens: 50" not in written:  # that one number is larger than another no schema can say
        assert not schema.is_valid(yaml.safe_load(of_chain))


def test_an_empty_schedule_of_a_chain_says_so(problems: Lines) -> None:
    lines = problems("history_processors: []\nschedule:")

    assert lines == [
        f"chain.yaml:2:10: schedule: a schedule is a name or a mapping, this is empty; {KNOWN}; correct it"
    ]


def test_the_providers_own_spellings_are_taken(schema: Any) -> None:
    text = "history_processors: [{type: clear_tool_results, trigger: 50000, clear_at_least: 5000}]"
    (processor,) = elision.loads(text).processors

    assert processor.own_schedule == Trigger(trigger_tokens=50_000, clear_at_least_tokens=5000)
    assert schema.is_valid(yaml.safe_load(text))


@pytest.mark.parametrize(
    ("options", "lines"),
    [
        ("trigger: 0", ["11: history_processors[0].trigger: trigger is 0; it must be greater than 0; correct it"]),
        (
            "trigger: 5, trigger_tokens: 5",
            [
                (
                    "2: history_processors[0].trigger: trigger is another name of trigger_tokens, "
                    "which stands here too; remove one"
                )
            ],
        ),
        (
            "clear_at_least: 5",
            [
                (
                    "18: history_processors[0].clear_at_least: clear_at_least_tokens needs a trigger; "
                    "add 'trigger_tokens' or 'trigger_share'"
                )
            ],
        ),
        (
            "trigger: 5, schedule: every_step",
            [
                (
                    "24: history_processors[0].schedule: it has a trigger, which says when it acts; "
                    "remove 'schedule' or the trigger"
                )
            ],
        ),
        (
            "trigger: 1000, clear_at_least: 50000, keep: -1",
            [
                (
                    "33: history_processors[0].clear_at_least: clear_at_least_tokens is 50000, more than "
                    "trigger_tokens (1000); make it smaller"
                ),
                "46: history_processors[0].keep: keep is -1; it must be at least 0; correct it, or leave it out for 3",
            ],
        ),
    ],
)
def test_sizes_that_contradict_each_other_are_one_line_each(problems: Lines, options: str, lines: list[str]) -> None:
    found = problems(f"history_processors:\n- type: clear_tool_results\n  <<: {{{options}}}")

    assert found == [f"chain.yaml:3:{int(line.partition(':')[0]) + 6}:{line.partition(':')[2]}" for line in lines]


def test_a_sweagent_config_takes_the_schedule_of_the_chain_that_it_names(tmp_path: Path) -> None:
    own = tmp_path / "own.yaml"
    own.write_text("history_processors: [{type: clear_tool_results}]\nschedule: {polling: 7}\n", encoding="utf-8")
    chain = elision.loads(f"agent: {{history_processors: [{{type: chain, chain: {own}}}]}}")

    assert chain.schedule == Polling(polling=7)


def test_numbers_and_auto_are_what_polling_of_last_n_observations_takes(problems: Lines) -> None:
    lines = problems("history_processors: [{type: last_n_observations, n: 3, polling: oto}]")

    assert elision.loads("history_processors: [{type: last_n_observations, n: 3, polling: auto}]").processors[0].waits
    assert not elision.loads("history_processors: [{type: last_n_observations, n: 3, polling: 4}]").processors[0].waits
    assert lines == [
        (
            "chain.yaml:1:65: history_processors[0].polling: polling is 'oto'; it must be a whole number or 'auto'; "
            "correct it, or leave it out for 1"
        )
    ]
