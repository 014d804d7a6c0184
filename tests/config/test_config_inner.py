"""``type: chain``: a whole chain as one entry of a SWE-agent config, in a chain that is read without SWE-agent."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from textwrap import dedent

import pytest

import elision
from elision.config import lint

Lines = Callable[[str], list[str]]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working directory, which paths are seen from."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_its_processors_stand_in_the_list_in_its_place() -> None:
    chain = elision.loads("""\
agent:
  history_processors:
    - type: tag_tool_call_observations
    - type: chain
      processors:
        - type: remove_regex
          keep_last: 2
        - type: last_n_observations
          n: 10
    - type: cache_control
""")

    assert [processor.model_dump(exclude_unset=True) for processor in chain.processors] == [
        {"type": "tag_tool_call_observations"},
        {"type": "remove_regex", "keep_last": 2},
        {"type": "last_n_observations", "n": 10},
        {"type": "cache_control"},
    ]
    assert (chain.dialect, chain.model, chain.on_error, chain.compat) == ("auto", None, "skip", "sweagent")


def test_a_chain_of_a_file_is_found_from_the_working_directory(folder: Path) -> None:
    (folder / "sub").mkdir()
    (folder / "sub" / "mine.yaml").write_text(
        "history_processors: [{type: last_n_observations, n: 3}]\non_error: raise\nmodel: gpt-4o\ndialect: openai\n",
        encoding="utf-8",
    )

    chain = elision.loads("agent: {history_processors: [{type: chain, chain: sub/mine.yaml}, {type: cache_control}]}")

    assert [processor.type_name for processor in chain.processors] == ["last_n_observations", "cache_control"]
    assert (chain.dialect, chain.model, chain.on_error, chain.compat) == ("auto", "gpt-4o", "raise", "sweagent")


def test_a_shipped_chain_is_found_by_its_name() -> None:
    named = elision.loads("agent: {history_processors: [{type: chain, chain: default}]}")

    assert named.processors == elision.load("default").processors
    assert named.compat == "sweagent"


def test_its_own_options_win_over_those_of_the_chain_that_it_names(folder: Path) -> None:
    (folder / "mine.yaml").write_text("history_processors: []\non_error: raise\nmodel: a\n", encoding="utf-8")

    chain = elision.loads(
        "agent: {history_processors: [{type: chain, chain: mine.yaml, on_error: skip, model: b, processors: }]}"
    )

    assert (chain.on_error, chain.model) == ("skip", "b")


@pytest.mark.parametrize(("first", "second"), [("raise", "skip"), ("skip", "raise")])
def test_one_chain_that_raises_makes_all_raise(first: str, second: str) -> None:
    chain = elision.loads(f"""\
agent:
  history_processors:
    - {{type: chain, processors: [], on_error: {first}}}
    - {{type: chain, processors: [], on_error: {second}}}
""")

    assert chain.on_error == "raise"


def test_the_first_model_counts_and_another_one_is_a_warning(problems: Lines) -> None:
    text = """\
        agent:
          history_processors:
            - {type: chain, processors: []}
            - {type: chain, processors: [], model: a}
            - {type: chain, processors: [], model: a}
            - {type: chain, processors: [], model: b}
    """

    assert problems(text) == [
        (
            "chain.yaml:6:7: agent.history_processors[3]: warning: this chain counts tokens for 'b', an earlier one "
            "for 'a'; outside SWE-agent the first counts for all; give one model"
        )
    ]
    assert elision.loads(dedent(text)).model == "a"


def test_the_attempts_of_a_retry_agent_keep_their_options_apart() -> None:
    text = """\
agent:
  agent_configs:
    - history_processors: [{type: chain, chain: cache_control, on_error: raise, model: a}]
    - history_processors: [{type: chain, processors: [], model: b}]
    - history_processors: []
"""

    chains = [elision.loads(text, attempt=attempt) for attempt in range(3)]

    assert [(len(chain.processors), chain.on_error, chain.model) for chain in chains] == [
        (1, "raise", "a"),
        (0, "skip", "b"),
        (0, "skip", None),
    ]


def test_a_sweagent_config_may_be_named_and_gives_no_note_of_its_own(folder: Path) -> None:
    (folder / "other.yaml").write_text("agent: {history_processors: [{type: cache_control}]}", encoding="utf-8")
    text = "agent: {history_processors: [{type: chain, chain: other.yaml}]}"

    assert [processor.type_name for processor in elision.loads(text).processors] == ["cache_control"]
    assert [problem.source for problem in lint(text, "chain.yaml")] == ["chain.yaml"]
