"""A mini-swe-agent config: the chain under its model is linted and loads."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from comparable import comparable

import elision
from elision.config import lint, lint_file

Lines = Callable[[str], list[str]]

ROOT = Path(__file__).parents[2]
CONFIG = """\
agent:
  system_template: You are an agent.
  step_limit: 0
environment:
  env: {PAGER: cat}
model:
  model_class: elision.plugins.hosts.miniswe.ElisionModel
  model_name: openai/gpt-5
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working directory, which paths are seen from."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_each_example_config_lints_without_error_or_warning() -> None:
    examples = sorted((ROOT / "examples").glob("*/*.yaml"))
    problems = [str(problem) for path in examples for problem in lint_file(path) if problem.severity != "note"]

    assert len(examples) == 2
    assert problems == []
    assert lint_file(ROOT / "examples" / "miniswe" / "with_elision.yaml") == []


def test_the_list_under_its_model_loads_by_elisions_own_rules() -> None:
    text = CONFIG + "  history_processors: [{type: last_n_observations, n: 3}, {type: cache_control}]\n"
    chain = elision.loads(text)

    assert lint(text, "mini.yaml") == []
    assert [processor.type_name for processor in chain.processors] == ["last_n_observations", "cache_control"]
    assert (chain.model, chain.compat) == (None, None)


def test_the_chain_that_its_model_names_loads_with_its_options(folder: Path) -> None:
    (folder / "mine.yaml").write_text("history_processors: [{type: default}]\nmodel: gpt-4o\n", encoding="utf-8")
    chain = elision.loads(f"{CONFIG}  chain: mine.yaml\n")

    assert [processor.type_name for processor in chain.processors] == ["default"]
    assert chain.model == "gpt-4o"
    assert comparable(elision.loads(f"{CONFIG}  chain: default\n")) == comparable(elision.load("default"))


def test_a_sweagent_config_may_be_the_chain_that_its_model_names(folder: Path) -> None:
    inner = "agent: {history_processors: [{type: chain, chain: default}]}"
    (folder / "swe.yaml").write_text(inner, encoding="utf-8")

    assert comparable(elision.loads(f"{CONFIG}  chain: swe.yaml\n")) == comparable(elision.loads(inner))


def test_mistakes_in_the_list_and_in_the_named_chain_are_located_where_they_stand(
    problems: Lines, folder: Path
) -> None:
    (folder / "mine.yaml").write_text("history_processors:\n- type: defalt\n", encoding="utf-8")

    assert problems("model:\n  history_processors:\n  - {type: last_n_observations, n: 0}\n") == [
        "chain.yaml:3:36: model.history_processors[0].n: n is 0; it must be greater than 0; correct it"
    ]
    assert problems("model:\n  chain: mine.yaml\n") == [
        "mine.yaml:2:9: history_processors[0].type: there is no processor 'defalt'; did you mean 'default'?"
    ]


@pytest.mark.parametrize(
    ("model", "line"),
    [
        (
            "{model_name: x}",
            (
                "1:1: model: a mini-swe-agent config has 'chain' (a path or a shipped name) or 'history_processors' "
                "(a list) here; add one of them"
            ),
        ),
        (
            "{history_procesors: []}",
            (
                "1:9: model.history_procesors: a model has no option 'history_procesors' for a chain; "
                "did you mean 'history_processors'?"
            ),
        ),
        ("{chian: x}", "1:9: model.chian: a model has no option 'chian' for a chain; did you mean 'chain'?"),
        (
            "{chain: default, history_processors: []}",
            "1:9: model.chain: a model has either 'chain' or 'history_processors'; remove one",
        ),
        (
            "{chain: [a]}",
            (
                "1:16: model.chain: chain is a list; it must be a path or a shipped name; a list stands under "
                "'history_processors'"
            ),
        ),
        (
            "{chain: defalt}",
            (
                "1:16: model.chain: 'defalt': there is no such file, and no shipped chain of that name; "
                "did you mean 'default'?"
            ),
        ),
        (
            "{history_processors: 5}",
            (
                "1:29: model.history_processors: this must be a list of processors, but is the single value 5; "
                "begin each with '- type:', or write []"
            ),
        ),
        (
            "{history_processors: [{type: chain, chain: default}]}",
            (
                "1:37: model.history_processors[0].type: there is no processor 'chain'; 'type: chain' stands only "
                "under 'agent.history_processors' of a SWE-agent config; write its processors into this list"
            ),
        ),
        (
            "{model_class: litellm, chain: default}",
            (
                "1:22: model.model_class: warning: mini-swe-agent's own class 'litellm' runs no chain; "
                "write elision.plugins.hosts.miniswe.ElisionModel"
            ),
        ),
    ],
)
def test_a_model_that_runs_no_chain_says_why(problems: Lines, model: str, line: str) -> None:
    assert problems(f"model: {model}") == [f"chain.yaml:{line}"]


def test_an_empty_option_is_as_good_as_none(problems: Lines) -> None:
    assert problems("model: {chain: , history_processors: []}") == []
    assert problems("model: {chain: default, history_processors: }") == []


def test_a_config_that_names_itself_as_its_chain_is_an_error(folder: Path) -> None:
    (folder / "mini.yaml").write_text("model: {chain: mini.yaml}\n", encoding="utf-8")

    assert [str(problem) for problem in lint_file("mini.yaml")] == [
        (
            "mini.yaml:1:1: this is a mini-swe-agent config, which is no chain that another config can name; "
            "name a file that is one"
        )
    ]
