"""Elision's processors under SWE-agent's ``history_processors``, on a stand-in of its config models."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from forked import Done, Python

Script = Callable[[str], Any]

_EVERY_MODEL = """
from sweagent.agent.agents import DefaultAgentConfig, RetryAgentConfig, ShellAgentConfig
from sweagent.run.run_batch import RunBatchConfig
from sweagent.run.run_single import RunSingleConfig
{install}
listed = {{"history_processors": [{{"type": "forget", "keep": 2}}, {{"type": "chain", "processors": []}}]}}
retry = {{"type": "retry", "agent_configs": [listed, listed]}}
made = [
    DefaultAgentConfig.model_validate(listed),
    ShellAgentConfig.model_validate(listed),
    RetryAgentConfig.model_validate(retry).agent_configs[1],
    RunSingleConfig.model_validate({{"agent": listed}}).agent,
    RunSingleConfig.model_validate({{"agent": retry}}).agent.agent_configs[0],
    RunBatchConfig.model_validate({{"agent": listed}}).agent,
]
give([[processor.type for processor in agent.history_processors] for agent in made])
"""


@pytest.mark.parametrize(
    ("before", "after"),
    [("host.install()", ""), ("", "host.install()"), ("host.install()\nhost.install()", "host.install()")],
    ids=["before-the-models", "after-the-models", "several-times"],
)
def test_every_config_model_takes_our_types(script: Script, before: str, after: str) -> None:
    given = script(before + _EVERY_MODEL.format(install=after))

    assert given == [["forget", "chain"]] * 6


def test_sweagents_own_types_stay_its_own_classes(script: Script) -> None:
    given = script(
        """
host.install()
from sweagent.agent.agents import DefaultAgentConfig
listed = [{"type": "default"}, {"type": "last_n_observations", "n": 3}]
config = DefaultAgentConfig.model_validate({"history_processors": listed})
give([type(processor).__module__ for processor in config.history_processors])
"""
    )

    assert given == ["sweagent.agent.history_processors"] * 2


def test_inside_a_chain_sweagents_types_are_ours_and_give_sweagents_text(script: Script) -> None:
    given = script(
        """
host.install()
from sweagent.agent.agents import DefaultAgentConfig
chain = {"type": "chain", "processors": [{"type": "last_n_observations", "n": 1}]}
config = DefaultAgentConfig.model_validate({"history_processors": [chain]})
give([item["content"] for item in config.history_processors[0](history(3)) if item["role"] == "tool"][:2])
"""
    )

    assert given == ["Old environment output: (30 lines omitted)"] * 2


def test_a_misspelt_option_is_named_in_sweagents_own_error(script: Script) -> None:
    given = script(
        """
host.install()
from pydantic import ValidationError
from sweagent.run.run_single import RunSingleConfig

def refused(entry):
    try:
        RunSingleConfig.model_validate({"agent": {"history_processors": [entry]}})
    except ValidationError as error:
        return str(error)

give([
    refused({"type": "forget", "keeep": 2}),
    refused({"type": "forget", "keep": -1}),
    refused({"type": "chain", "processors": [{"type": "forget", "keeep": 2}]}),
    refused({"type": "chain"}),
    refused({"type": "chain", "chain": "no_such_chain"}),
    refused({"type": "call", "target": "no_such_module:function"}),
    refused({"type": "forgett"}),
])
"""
    )

    assert "history_processors.0.forget.keeep" in given[0]
    assert "history_processors.0.forget.keep\n" in given[1]
    assert "Value error, processors[0].keeep: " in given[2]
    assert "'keep'" in given[2]
    assert "give either processors (a list) or chain" in given[3]
    assert "no_such_chain" in given[4]
    assert "Value error, 'no_such_module:function' cannot be imported" in given[5]
    assert "'forget'" in given[6]


_AGENT = """
host.install()
from sweagent.agent.agents import DefaultAgentConfig
config = DefaultAgentConfig.model_validate({"history_processors": [{"type": "forget"}]})
processor = config.history_processors[0]
"""


def test_the_view_is_a_new_list_of_the_same_items_where_nothing_was_edited(script: Script) -> None:
    given = script(
        _AGENT
        + """
items = history(4)
before = copy.deepcopy(items)
view = processor(items)
give([view is items, [new is old for new, old in zip(view, items)], items == before, contents(view)])
"""
    )
    is_same_list, same, unchanged, contents = given

    assert not is_same_list
    assert same == [True, True, True, False, True, False, True, False, True, True]
    assert unchanged
    assert contents == ["gone", "gone", "gone", "line of step 3\nline "]


def test_asking_twice_for_one_step_changes_nothing(script: Script) -> None:
    given = script(
        _AGENT
        + """
items, twice, fresh = [], [], []
for item in history(6):
    items.append(item)
    if item["role"] in {"user", "tool"}:
        first, second = processor(items), processor(items)
        twice.append(first == second)
        fresh.append(first == copy.deepcopy(processor)(items))
give([twice, fresh])
"""
    )

    assert given == [[True] * 7, [True] * 7]


def test_a_new_attempt_and_a_branch_begin_anew(script: Script) -> None:
    given = script(
        _AGENT
        + """
items = history(4)
processor(items)
attempt = processor(copy.deepcopy(items[:4]))
branch = items[:6] + [{**items[6], "action": "pwd"}, {**items[7], "content": "other"}]
give([contents(attempt), contents(processor(branch))])
"""
    )

    assert given == [["line of step 0\nline "], ["gone", "gone", "other"]]


def test_items_that_other_processors_edit_in_place_are_read_again(script: Script) -> None:
    given = script(
        _AGENT
        + """
items = history(2)
items[5]["cache_control"] = {"type": "ephemeral"}
processor(items)
items += history(1)[2:]
del items[5]["cache_control"]
view = processor(items)
view[5]["content"] = "scribbled"
give(["cache_control" in view[5], processor(items)[5]["content"]])
"""
    )

    assert given == [False, "gone"]


def test_copies_are_equal_and_keep_sessions_of_their_own(script: Script) -> None:
    given = script(
        _AGENT
        + """
other = copy.deepcopy(config)
first, second = history(5), history(2, size=3)
processor(first), other.history_processors[0](second)
give([other == config, contents(processor(first)), contents(other.history_processors[0](second))])
"""
    )

    assert given == [True, ["gone"] * 4 + ["line of step 4\nline "], ["gone", "line of step 1\nline "]]


def test_a_dumped_config_reads_back_as_it_was(script: Script, stand_in: Path) -> None:
    (stand_in / "chain.yaml").write_text("history_processors:\n  - type: forget\n    keep: 3\n", encoding="utf-8")
    given = script(
        """
host.install()
from sweagent.run.run_single import RunSingleConfig
listed = [{"type": "forget", "keep": 2}, {"type": "chain", "chain": "chain.yaml", "on_error": "raise"}]
config = RunSingleConfig.model_validate({"agent": {"history_processors": listed}})
python = RunSingleConfig.model_validate(config.model_dump())
text = RunSingleConfig.model_validate_json(config.model_dump_json())
view = text.agent.history_processors[1](history(5))
give([python == config, text == config, json.loads(text.model_dump_json(exclude_none=True)), contents(view)[:2]])
"""
    )
    listed = [{"type": "forget", "keep": 2}, {"type": "chain", "chain": "chain.yaml", "on_error": "raise"}]

    assert given[:2] == [True, True]
    assert given[2]["agent"]["history_processors"] == listed
    assert given[3] == ["gone", "gone"]


def test_a_chain_written_as_seen_from_sweagents_folder_is_found(script: Script, stand_in: Path) -> None:
    (stand_in / "chain.yaml").write_text("history_processors:\n  - type: forget\n", encoding="utf-8")
    given = script(
        """
import os
host.install()
from sweagent.agent.agents import DefaultAgentConfig
os.chdir("/")
config = DefaultAgentConfig.model_validate({"history_processors": [{"type": "chain", "chain": "chain.yaml"}]})
give(contents(config.history_processors[0](history(2))))
"""
    )

    assert given == ["gone", "line of step 1\nline "]


def test_a_chain_can_be_appended_to_one_agent(script: Script) -> None:
    given = script(
        """
import elision

text = "history_processors: [{type: forget, keep: 0}]"
made = [host.as_history_processor(elision.loads(text)), host.as_history_processor([{"type": "forget", "keep": 0}])]
give([contents(processor(history(2))) for processor in made])
"""
    )

    assert given == [["gone", "line of step 1\nline "]] * 2


@pytest.fixture
def elision_sweagent(stand_in: Path, python: Python) -> Callable[..., Done]:
    """Return a function that runs the command ``elision sweagent`` beside the stand-in."""

    def run(*arguments: str) -> Done:
        environ = {**os.environ, "PYTHONPATH": str(stand_in)}
        return python("-m", "elision", "sweagent", *arguments, cwd=stand_in, env=environ)

    return run


def test_the_command_hands_the_arguments_to_sweagent(stand_in: Path, elision_sweagent: Any) -> None:
    config = {"agent": {"history_processors": [{"type": "forget"}]}}
    (stand_in / "config.json").write_text(json.dumps(config), encoding="utf-8")
    done = elision_sweagent("run", "config.json")

    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == ["run", ["forget"]]


def test_what_fails_in_sweagent_is_shown_as_sweagents(elision_sweagent: Any) -> None:
    done = elision_sweagent("run", "no_such_config.json")

    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].startswith("FileNotFoundError: ")


def test_without_sweagent_one_line_says_how_to_install_it(tmp_path: Path) -> None:
    code = """
from elision import ElisionError
from elision.plugins.hosts.sweagent import main
try:
    main(["run"])
except ElisionError as error:
    print(error)
"""
    (tmp_path / "sweagent").mkdir()
    (tmp_path / "sweagent" / "__init__.py").write_text("", encoding="utf-8")
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False)

    assert done.stdout.startswith(
        "sweagent: it cannot be imported (No module named 'sweagent.agent'); install SWE-agent"
    )
    assert done.stdout.count("\n") == 1
