"""What is said of mistakes in an entry ``type: chain`` of a SWE-agent config."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from textwrap import dedent

import pytest

import elision

Lines = Callable[[str], list[str]]
Inner = Callable[[str], list[str]]

INSIDE_ANOTHER = (
    "'type: chain' cannot stand in a chain that another 'type: chain' holds or names; write its processors into this "
    "list"
)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working directory, which paths are seen from."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def inner(problems: Lines) -> Inner:
    """The problems of one entry ``type: chain`` with these options, without their common beginning."""

    def found(options: str) -> list[str]:
        lines = problems(f"agent: {{history_processors: [{{type: chain{options}}}]}}")
        return [line.removeprefix("chain.yaml:1:").replace("agent.history_processors[0]", "@") for line in lines]

    return found


def test_all_mistakes_are_told_at_once_each_at_its_own_line(problems: Lines, folder: Path) -> None:
    (folder / "mine.yaml").write_text(
        "history_processors:\n  - type: last_n_observations\n    n: 0\non_eror: skip\n", encoding="utf-8"
    )

    lines = problems("""\
        agent:
          history_processors:
            - type: chain
              on_eror: skip
              processors:
                - type: last_n_observation
                - type: remove_regex
                  remove: ["a", "<diff>("]
            - type: chain
              chain: mine.yaml
              on_error: stop
            - type: chian
            - type: default
              n: 5
    """)

    assert lines == [
        "chain.yaml:4:7: agent.history_processors[0].on_eror: chain has no option 'on_eror'; did you mean 'on_error'?",
        (
            "chain.yaml:6:17: agent.history_processors[0].processors[0].type: there is no processor "
            "'last_n_observation'; did you mean 'last_n_observations'?"
        ),
        (
            "chain.yaml:8:25: agent.history_processors[0].processors[1].remove[1]: '<diff>(' is not a regular "
            "expression (missing ) at position 7); correct it"
        ),
        "mine.yaml:3:8: history_processors[0].n: n is 0; it must be greater than 0; correct it",
        "mine.yaml:4:1: on_eror: a chain has no option 'on_eror'; did you mean 'on_error'?",
        (
            "chain.yaml:11:17: agent.history_processors[1].on_error: on_error is 'stop'; it must be 'skip' or "
            "'raise'; correct it or leave it out"
        ),
        "chain.yaml:12:13: agent.history_processors[2].type: there is no processor 'chian'; did you mean 'chain'?",
        "chain.yaml:14:7: agent.history_processors[3].n: default has no option 'n'; it has no options; remove it",
    ]


@pytest.mark.parametrize(
    "options", ["", ", chain: ", ", on_error: raise", ", zzz: 1"], ids=["none", "empty", "other", "unknown"]
)
def test_it_needs_processors_or_a_chain(inner: Inner, options: str) -> None:
    told = "30: @: chain needs 'processors' (a list) or 'chain' (a path or a shipped name); add one of them"

    assert told in inner(options)


@pytest.mark.parametrize(
    ("options", "line"),
    [
        (
            ", processors: [], chain: default",
            "60: @.chain: chain has both 'processors' and 'chain'; it takes one of them; remove the other",
        ),
        (", procesors: []", "44: @.procesors: chain has no option 'procesors'; did you mean 'processors'?"),
        (
            ", processors: ",
            "55: @.processors: the list of processors is empty; begin each with '- type:', or write []",
        ),
        (
            ", processors: 7",
            (
                "56: @.processors: this must be a list of processors, but is the single value 7; "
                "begin each with '- type:', or write []"
            ),
        ),
        (", chain: [a]", "51: @.chain: chain is a list; it must be text; correct it or leave it out"),
        (", processors: [], model: 5", "67: @.model: model is 5; it must be text; correct it or leave it out"),
        (
            ", chain: defalt",
            "51: @.chain: 'defalt': there is no such file, and no shipped chain of that name; did you mean 'default'?",
        ),
        (", chain: .", "51: @.chain: '.': this is a folder; name a file in it"),
        (", processors: [{type: chain, chain: default}]", f"64: @.processors[0].type: {INSIDE_ANOTHER}"),
    ],
)
def test_a_mistake_in_its_options_is_told_in_plain_words(inner: Inner, options: str, line: str) -> None:
    assert inner(options) == [line]


def test_a_file_with_several_chains_is_refused(inner: Inner, folder: Path) -> None:
    (folder / "retry.yaml").write_text("agent: {agent_configs: [{}, {}]}\n", encoding="utf-8")

    assert inner(", chain: retry.yaml") == [
        "51: @.chain: 'retry.yaml' has 2 chains, one for each attempt; name a file that has one"
    ]


def test_a_file_that_names_itself_ends(folder: Path) -> None:
    (folder / "mine.yaml").write_text("agent: {history_processors: [{type: chain, chain: mine.yaml}]}", "utf-8")

    with pytest.raises(elision.ConfigError) as caught:
        elision.load("mine.yaml")

    assert str(caught.value) == f"mine.yaml:1:37: agent.history_processors[0].type: {INSIDE_ANOTHER}"


def test_an_order_that_is_broken_inside_is_an_error_and_across_the_list_a_warning(problems: Lines) -> None:
    lines = problems("""\
        agent:
          history_processors:
            - type: chain
              processors:
                - type: cache_control
                - {type: last_n_observations, n: 5}
            - type: chain
              processors:
                - type: last_n_observations
                  n: 5
            - type: tag_tool_call_observations
    """)

    told = "(it reads the tags); move it down"
    assert [line for line in lines if "warning" not in line] == [
        (
            "chain.yaml:5:11: agent.history_processors[0].processors[0]: cache_control must stand after "
            "last_n_observations (it marks what is actually sent); move it last"
        )
    ]
    assert (
        "chain.yaml:9:11: agent.history_processors[1].processors[0]: warning: last_n_observations must stand after "
        f"tag_tool_call_observations {told}"
    ) in lines


def test_what_cannot_be_prepared_is_located_where_it_is_written_or_named(folder: Path) -> None:
    (folder / "mine.yaml").write_text("history_processors: [{type: call, target: 'os:nothing'}]", encoding="utf-8")
    text = dedent("""\
        agent:
          history_processors:
            - type: chain
              processors:
                - {type: call, target: "os:nothing"}
            - type: chain
              chain: mine.yaml
    """)

    with pytest.raises(elision.ConfigError) as caught:
        elision.loads(text, source="chain.yaml")

    told = "'os:nothing' cannot be imported (module 'os' has no attribute 'nothing'); install it or correct the name"
    assert str(caught.value).splitlines() == [
        f"chain.yaml:5:11: agent.history_processors[0].processors[0]: {told}",
        f"chain.yaml:7:14: agent.history_processors[1].chain: {told}",
    ]


def test_elisions_own_form_does_not_know_it_and_says_what_to_write(problems: Lines) -> None:
    lines = problems("history_processors: [{type: chain, processors: []}]")

    assert lines == [
        (
            "chain.yaml:1:29: history_processors[0].type: there is no processor 'chain'; 'type: chain' stands only "
            "under 'agent.history_processors' of a SWE-agent config; write its processors into this list"
        )
    ]


def test_a_list_of_sweagents_form_offers_it_among_the_types(inner: Inner, problems: Lines) -> None:
    at_the_top = problems("agent: {history_processors: [{type: zzz}]}")

    assert "cache_control, call, chain, clear_thinking" in at_the_top[0]
    assert "cache_control, call, clear_thinking" in inner(", processors: [{type: zzz}]")[0]
