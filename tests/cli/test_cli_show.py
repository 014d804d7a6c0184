"""What ``elision show`` prints can be used: chains load again, and each thing says what it is."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml
from command_line import Plugin, Process, Run
from comparable import comparable

import elision
from elision.config import lint, shipped_chains


@pytest.mark.parametrize("name", shipped_chains())
def test_each_shipped_chain_is_shown_as_yaml_without_problems_that_is_the_same_chain(run: Run, name: str) -> None:
    shown = run("show", "chain", name).stdout
    as_json = json.loads(run("show", "chain", name, "--json").stdout)["chain"]

    assert lint(shown, "shown.yaml") == []
    assert comparable(elision.loads(shown)) == comparable(elision.load(name))
    assert yaml.safe_load(shown) == as_json


def test_options_that_the_others_rule_out_are_not_shown_and_each_entry_begins_with_its_type(run: Run) -> None:
    entries = json.loads(run("show", "chain", "default", "--json").stdout)["chain"]["history_processors"]
    marks = next(entry for entry in entries if entry["type"] == "cache_control")

    assert (marks["plan"], "last_n_messages" in marks, "plan_" in marks) == ("auto", False, False)
    assert {next(iter(entry)) for entry in entries} == {"type"}


def test_options_of_all_forms_are_shown_so_that_they_load_again(run: Run, tmp_path: Path) -> None:
    chain = tmp_path / "chain.yaml"
    chain.write_text(
        "history_processors:\n"
        "  - {type: recent_steps, max_steps: 90}\n"
        "  - {type: clear_tool_results, trigger: 900, clear_at_least: 90, clear_tool_inputs: [a], schedule: null}\n"
        "  - {type: dedupe, schedule: {trigger_tokens: 900}}\n"
        "  - {type: summarize, any_of: [{trigger_steps: 90}], must_keep: [never]}\n"
        "  - {type: native, trigger: 900}\n"
        "  - {type: cache_control, last_n_messages: 1, ttl: 1h}\n"
        "schedule: {polling: 7}\nclassification: {extends: default, rules: [{tool: x, class: static}]}\n",
        encoding="utf-8",
    )
    shown = run("show", chain).stdout

    assert comparable(elision.loads(shown)) == comparable(elision.load(chain))


def test_a_name_of_several_kinds_is_headed_for_each(run: Run) -> None:
    lines = run("show", "default").stdout.splitlines()
    one = run("show", "processor", "default").stdout

    assert lines[0] == (
        "# default is the name of a processor, a chain, a table and a profile; elision show KIND default shows one"
    )
    assert [line for line in lines if line.startswith("===")] == [
        "=== processor default ===",
        "=== chain default ===",
        "=== table default ===",
        "=== profile default ===",
    ]
    assert "===" not in one


def test_a_kind_that_is_nearly_right_is_told_by_the_nearest(run: Run) -> None:
    listed, shown = run("list", "processor"), run("show", "chian", "default")

    assert (listed.exit_code, shown.exit_code) == (2, 2)
    assert "there is no kind 'processor'; did you mean 'processors'?" in listed.stderr
    assert "did you mean 'chain'?" in shown.stderr


COUNTING = """
from elision import hookimpl

@hookimpl
def elision_token_counters():
    return {"acme-*": len}

@hookimpl
def elision_classify(call, meta):
    return None

def elision_procesors():
    return []
"""


def test_plugins_are_listed_with_what_they_offer_and_what_they_forgot_to_mark(process: Process, plugin: Plugin) -> None:
    done = process("list", "plugins", "--json", env=plugin(COUNTING))
    offers = {entry["name"]: entry["offers"] for entry in json.loads(done.stdout)}

    assert offers["stranger"] == [
        "elision_classify",
        "token counters: acme-*",
        "elision_procesors (no @hookimpl: never called)",
    ]
    assert any(offer.endswith(" processors") for offer in offers["builtin"])
    assert done.stderr == (
        "warning: plugin 'stranger': elision_procesors (did you mean 'elision_processors'?) has no mark, so it is "
        "never called; put @hookimpl above it (from elision import hookimpl), or, where it is no hook, give it a name "
        "that does not begin with elision_\n"
    )


def test_the_plugin_that_counts_for_a_model_is_shown_with_its_profile(process: Process, plugin: Plugin) -> None:
    environ = plugin(COUNTING)
    counted, other = (process("show", "profile", name, env=environ).stdout for name in ("acme-1", "gpt-4o"))

    assert "plugin 'stranger' counts (elision_token_counters)" in counted
    assert 'counter: "acme-*"' in counted
    assert "counter:" not in other
