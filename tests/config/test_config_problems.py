"""What ``elision lint`` says of mistakes in a chain, to the letter."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

Lines = Callable[[str], list[str]]


def test_a_config_with_six_different_mistakes_gives_six_located_lines_in_one_run(problems: Lines) -> None:
    lines = problems("""\
        history_processors:
          - type: last_n_observation
            n: 5
          - type: last_n_observations
            poling: 10
          - type: last_n_observations
            n: 0
          - type: remove_regex
            remove: ["<diff>("]
        on_eror: skip
    """)

    assert lines == [
        (
            "chain.yaml:2:11: history_processors[0].type: there is no processor 'last_n_observation'; "
            "did you mean 'last_n_observations'?"
        ),
        "chain.yaml:4:5: history_processors[1]: last_n_observations needs the option 'n'; add 'n: …'",
        (
            "chain.yaml:5:5: history_processors[1].poling: last_n_observations has no option 'poling'; "
            "did you mean 'polling'?"
        ),
        "chain.yaml:7:8: history_processors[2].n: n is 0; it must be greater than 0; correct it",
        (
            "chain.yaml:9:14: history_processors[3].remove[0]: '<diff>(' is not a regular expression "
            "(missing ) at position 7); correct it"
        ),
        "chain.yaml:10:1: on_eror: a chain has no option 'on_eror'; did you mean 'on_error'?",
    ]


def test_an_unknown_processor_that_resembles_none_lists_them_all(problems: Lines, processor_names: str) -> None:
    lines = problems("history_processors: [{type: zzz}]")

    assert lines == [
        (
            "chain.yaml:1:29: history_processors[0].type: there is no processor 'zzz'; "
            f"known: {processor_names}; correct or remove it"
        )
    ]


def test_a_processor_without_type_lists_the_types(problems: Lines, processor_names: str) -> None:
    lines = problems("history_processors: [{n: 5}]")

    assert lines == [
        f"chain.yaml:1:22: history_processors[0]: a processor needs 'type'; known: {processor_names}; add it"
    ]


def test_a_misspelt_type_is_named(problems: Lines) -> None:
    lines = problems("history_processors: [{typ: truncate}]")

    assert lines[0] == "chain.yaml:1:22: history_processors[0]: a processor needs 'type'; it has 'typ'; rename it"


def test_a_type_that_is_no_name_lists_the_types(problems: Lines, processor_names: str) -> None:
    lines = problems("history_processors: [{type: 5}]")

    assert lines == [
        (
            "chain.yaml:1:29: history_processors[0].type: type is 5; it must be the name of a processor; "
            f"known: {processor_names}; correct it"
        )
    ]


def test_a_processor_written_as_a_word_is_shown_as_a_mapping(problems: Lines) -> None:
    lines = problems("history_processors: [cache_control, 7]")

    assert lines == [
        "chain.yaml:1:22: history_processors[0]: a processor is a mapping; write '- type: cache_control'",
        (
            "chain.yaml:1:37: history_processors[1]: a processor is a mapping that begins with 'type:', "
            "this is the single value 7; write '- type: …'"
        ),
    ]


@pytest.mark.parametrize(
    ("value", "told"),
    [
        ("1.5", "n is 1.5; it must be a whole number; correct it"),
        ("five", "n is 'five'; it must be a whole number; correct it"),
        ("", "n is empty; it must be a whole number; correct it"),
        ("-1", "n is -1; it must be greater than 0; correct it"),
        (".inf", "n is inf; it must be a finite number; correct it"),
        ("[1]", "n is a list; it must be a whole number; correct it"),
        ("{a: 1}", "n is a mapping; it must be a whole number; correct it"),
        (
            "!!int abc",
            "this is no YAML int (invalid literal for int() with base 10: 'abc'); correct it, or put it in quotes",
        ),
        ("!n 1", "tag '!n' is not known here; allowed: YAML's own values and !!set; remove the tag"),
    ],
)
def test_a_wrong_number_is_told_in_plain_words(problems: Lines, value: str, told: str) -> None:
    lines = problems(f"history_processors:\n- {{type: last_n_observations, n: {value}}}")

    place = "chain.yaml:2:34" if value else "chain.yaml:2:33"
    assert lines == [f"{place}: history_processors[0].n: {told}"]


@pytest.mark.parametrize("polling", [0, -3])
def test_polling_below_one_does_not_load(problems: Lines, polling: int) -> None:
    lines = problems(f"agent: {{history_processors: [{{type: last_n_observations, n: 2, polling: {polling}}}]}}")

    assert lines == [
        (
            f"chain.yaml:1:73: agent.history_processors[0].polling: polling is {polling}; it must be greater than 0 "
            "or 'auto'; correct it, or leave it out for 1"
        )
    ]


def test_wrong_lists_and_texts_are_told_in_plain_words(problems: Lines) -> None:
    lines = problems("""\
        history_processors:
          - type: remove_regex
            remove: <diff>
          - type: cache_control
            tagged_roles:
              - user
              - 5
        model: [a]
        on_error: no
    """)

    assert lines == [
        ("chain.yaml:3:13: history_processors[0].remove: remove is '<diff>'; it must be a list; write ['<diff>']"),
        "chain.yaml:7:9: history_processors[1].tagged_roles[1]: tagged_roles[1] is 5; it must be text; correct it",
        "chain.yaml:8:8: model: model is a list; it must be text; correct it or leave it out",
        (
            "chain.yaml:9:11: on_error: on_error is false; it must be 'skip' or 'raise'; "
            "correct it, or leave it out for 'skip'"
        ),
    ]


def test_each_bad_pattern_is_told_at_the_pattern(problems: Lines) -> None:
    lines = problems("""\
        history_processors:
          - type: remove_regex
            remove:
              - "<diff>("
              - "a.*b"
              - "[z-a]"
    """)

    assert lines == [
        (
            "chain.yaml:4:9: history_processors[0].remove[0]: '<diff>(' is not a regular expression "
            "(missing ) at position 7); correct it"
        ),
        (
            "chain.yaml:6:9: history_processors[0].remove[2]: '[z-a]' is not a regular expression "
            "(bad character range at position 4); correct it"
        ),
    ]


def test_an_option_of_a_processor_without_options_is_to_be_removed(problems: Lines) -> None:
    lines = problems("history_processors: [{type: default, n: 5}]")

    assert lines == [
        "chain.yaml:1:38: history_processors[0].n: default has no option 'n'; it has no options; remove it"
    ]


def test_all_that_is_wrong_with_table_archive_and_owner_is_named_in_one_run(problems: Lines) -> None:
    lines = problems("""\
        history_processors: []
        classification: defualt
        archive: s4://originals
        stored_policy: secret
        owner: me
    """)

    assert lines == [
        "chain.yaml:2:17: classification: there is no such file, and no table of that name; did you mean 'default'?",
        (
            "chain.yaml:3:10: archive: there is no archive of the kind 's4'; there are: a folder, memory:, none; "
            "a folder that has a colon: ./…"
        ),
        (
            "chain.yaml:4:16: stored_policy: stored_policy is 'secret'; it must be 'none', 'secrets' or 'full'; "
            "correct it, or leave it out for 'none'"
        ),
        "chain.yaml:5:8: owner: owner is 'me'; it must be 'elision' or 'provider'; correct it or leave it out",
    ]


def test_a_misspelt_dialect_names_the_nearest_one(problems: Lines) -> None:
    lines = problems("history_processors: []\ndialect: opnai\nmodel: 5")

    assert lines == [
        "chain.yaml:2:10: dialect: there is no dialect 'opnai'; did you mean 'openai'?",
        "chain.yaml:3:8: model: model is 5; it must be text; correct it or leave it out",
    ]


def test_an_order_rule_that_is_broken_is_an_error_in_a_chain_file(problems: Lines) -> None:
    lines = problems("""\
        history_processors:
          - type: cache_control
          - type: last_n_observations
            n: 5
          - type: tag_tool_call_observations
    """)

    assert lines == [
        (
            "chain.yaml:2:5: history_processors[0]: cache_control must stand after last_n_observations, "
            "tag_tool_call_observations (it marks what is actually sent); move it last"
        ),
        (
            "chain.yaml:3:5: history_processors[1]: last_n_observations must stand after tag_tool_call_observations "
            "(it reads the tags); move it down"
        ),
    ]


def test_a_second_cache_control_is_a_warning(problems: Lines) -> None:
    lines = problems("history_processors: [{type: cache_control}, {type: cache_control}]")

    assert lines == [
        (
            "chain.yaml:1:45: history_processors[1]: warning: cache_control stands in this chain twice; "
            "the last one takes away the marks of the others; remove one"
        )
    ]


PLUGIN = """\
from typing import Literal
import elision
from pydantic import field_validator

class Odd(elision.Processor):
    type: Literal["odd"] = "odd"
    every: int | Literal["auto"] = "auto"
    share: float = 0.5
    loud: bool = True
    table: dict[str, int] | None = None
    broken: str = ""

    @field_validator("broken")
    @classmethod
    def _falls_over(cls, value):
        raise KeyError(value)

    def plan(self, view):
        return ()

@elision.hookimpl
def elision_processors():
    return [Odd]
"""


def test_options_of_a_stranger_are_told_in_plain_words_too(tmp_path: Path) -> None:
    (tmp_path / "odd_plugin.py").write_text(PLUGIN, encoding="utf-8")
    metadata = tmp_path / "odd_plugin-1.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: odd-plugin\nVersion: 1\n", encoding="utf-8")
    (metadata / "entry_points.txt").write_text("[elision]\nodd = odd_plugin\n", encoding="utf-8")
    text = """\
history_processors:
  - {type: odd, every: never, share: much, loud: 5}
  - {type: odd, table: {a: x, b: 1}}
  - {type: odd, broken: x}
"""
    code = f"from elision.config import lint\nfor problem in lint({text!r}, 'c.yaml'): print(problem)"
    environ = {**os.environ, "PYTHONPATH": str(tmp_path), "PYTHONUTF8": "1"}
    environ.pop("ELISION_PLUGINS", None)

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environ)

    assert done.stdout.splitlines() == [
        (
            "c.yaml:2:24: history_processors[0].every: every is 'never'; it must be a whole number or 'auto'; "
            "correct it, or leave it out for 'auto'"
        ),
        (
            "c.yaml:2:38: history_processors[0].share: share is 'much'; it must be a number; "
            "correct it, or leave it out for 0.5"
        ),
        (
            "c.yaml:2:50: history_processors[0].loud: loud is 5; it must be true or false; "
            "correct it, or leave it out for true"
        ),
        "c.yaml:3:28: history_processors[1].table.a: table.a is 'x'; it must be a whole number; correct it",
        "c.yaml:4:5: history_processors[2]: its options cannot be checked (KeyError: 'x'); mend plugin 'odd'",
    ]


@pytest.mark.parametrize("entry", ["last_n_observations: {n: 5}", "last_n_observation: {n: 5}", "last_n_observations:"])
def test_an_entry_whose_only_key_is_a_type_is_told_how_to_write_it(entry: str, problems: Lines) -> None:
    assert problems(f"history_processors:\n  - {entry}\n") == [
        (
            "chain.yaml:2:5: history_processors[0]: a processor needs 'type'; write '- type: last_n_observations', and "
            "its options as keys beside it"
        )
    ]


def test_a_chain_that_keeps_nothing_is_warned_of_processors_that_remove(problems: Lines) -> None:
    text = """\
history_processors:
  - {type: remove_regex, remove: [x]}
  - {type: last_n_observations, n: 5}
  - type: cache_control
archive: none
"""

    assert problems(text) == [
        (
            "chain.yaml:5:1: archive: warning: an archive of none keeps no originals, so remove_regex and "
            "last_n_observations can never remove anything; name a folder (archive: .elision)"
        )
    ]
    assert problems("history_processors: [{type: redact}, {type: cache_control}]\narchive: none\n") == []
