"""What is said of YAML that is broken, empty, or more than a chain can be."""

from __future__ import annotations

from collections.abc import Callable

import pytest

Lines = Callable[[str], list[str]]


def test_a_key_that_stands_twice_is_an_error_that_names_the_first(problems: Lines) -> None:
    lines = problems("""\
        history_processors:
          - type: last_n_observations
            n: 5
            n: 6
        model: a
        model: b
    """)

    assert lines == [
        "chain.yaml:4:5: history_processors[0].n: 'n' stands twice, first in line 3; the last one counts; remove one",
        "chain.yaml:6:1: model: 'model' stands twice, first in line 5; the last one counts; remove one",
    ]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("", "1:1: the file is empty; give a chain as YAML, with 'history_processors:' at the top"),
        ("# only a comment\n", "1:1: the file is empty; give a chain as YAML, with 'history_processors:' at the top"),
        ("null", "1:1: the file is empty; give a chain as YAML, with 'history_processors:' at the top"),
        ("so what", "1:1: the file holds only text; give a chain as YAML, with 'history_processors:' at the top"),
        (
            "- type: default",
            (
                "1:1: the file holds only a list; a chain is a mapping; write 'history_processors:' above the list "
                "and indent it"
            ),
        ),
        (
            "model: x",
            (
                "1:1: there is no 'history_processors' (nor 'agent', as in a SWE-agent config); add it, "
                "[] is a chain without processors"
            ),
        ),
        (
            "history_procesors: []",
            "1:1: history_procesors: a chain has no option 'history_procesors'; did you mean 'history_processors'?",
        ),
        (
            "history_processors:",
            "1:20: history_processors: the list of processors is empty; begin each with '- type:', or write []",
        ),
        (
            "history_processors: {type: default}",
            (
                "1:21: history_processors: this must be a list of processors, but is a mapping; "
                "begin each with '- type:', or write []"
            ),
        ),
        (
            "history_processors: []\nagent: {}",
            "2:1: agent: a file has either 'history_processors' or, as in a SWE-agent config, 'agent'; remove one",
        ),
        (
            "history_processors: !!python/tuple []",
            (
                "1:21: history_processors: tag '!!python/tuple' is not known here; "
                "allowed: YAML's own values and !!set; remove the tag"
            ),
        ),
        ("history_processors:\n\t- type: x", "2:1: a tab stands where YAML takes only spaces; indent with spaces"),
        (
            "history_processors: [",
            (
                "1:22: this is not YAML: expected the node content, but found '<stream end>' "
                "(while parsing a flow node that began in line 1); correct it"
            ),
        ),
        (
            "history_processors: *x",
            "1:21: this is not YAML: found undefined alias 'x'; correct it",
        ),
        ("model: a: b", "1:9: this is not YAML: mapping values are not allowed here; correct it"),
        ("model: \x07", "1:8: character U+0007 may not stand in YAML; remove it"),
        (
            "history_processors: []\n---\nmodel: x",
            "2:1: a second YAML document begins here; a chain is one document; put the rest in a file of its own",
        ),
        ("history_processors: " + "[" * 1000, "1:80: values are nested more than 60 deep; make it flatter"),
    ],
)
def test_a_file_that_holds_no_chain_says_what_it_holds(problems: Lines, text: str, line: str) -> None:
    assert problems(text) == [f"chain.yaml:{line}"]


def test_a_block_that_refers_to_itself_is_an_error_where_it_begins(problems: Lines) -> None:
    lines = problems("""\
        history_processors:
          - type: remove_regex
            remove: &a [*a]
          - &b [*b]
          - &c
            type: default
            <<: *c
    """)

    told = "an alias in this block refers to the block itself; write out what is meant"
    assert lines == [
        f"chain.yaml:3:13: history_processors[0].remove[0]: {told}",
        (
            "chain.yaml:4:5: history_processors[1]: a processor is a mapping that begins with 'type:', "
            "this is a list; write '- type: …'"
        ),
        f"chain.yaml:5:5: history_processors[2]: {told}",
    ]


@pytest.mark.parametrize("use", ["{type: remove_regex, remove: *l9}", "{type: default, <<: [*m9]}"])
def test_aliases_that_multiply_are_refused_instead_of_written_out(problems: Lines, use: str) -> None:
    lists = ["&l0 [a]", *(f"&l{i} [{', '.join([f'*l{i - 1}'] * 9)}]" for i in range(1, 10))]
    maps = ["&m0 {a: 1}", *(f"&m{i} {{<<: [{', '.join([f'*m{i - 1}'] * 9)}]}}" for i in range(1, 10))]
    blocks = "".join(f"  - {block}\n" for block in [*lists, *maps])

    lines = problems(f"blocks:\n{blocks}agent:\n  history_processors:\n  - {use}\n")

    assert lines == [
        (
            "chain.yaml:24:5: agent.history_processors[0]: this has more than 10,000 values, aliases written out; "
            "make it smaller"
        )
    ]


def test_a_mistake_in_a_shared_block_is_told_once_where_it_is_written(problems: Lines) -> None:
    lines = problems("""\
        defaults: &defaults
          n: 0
        agent:
          type: retry
          agent_configs:
            - history_processors: &shared
                - <<: *defaults
                  type: last_n_observations
            - history_processors: *shared
    """)

    assert lines == [
        "chain.yaml:2:6: agent.agent_configs[0].history_processors[0].n: n is 0; it must be greater than 0; correct it"
    ]


def test_merge_keys_take_in_mappings_only(problems: Lines) -> None:
    lines = problems("history_processors: [{type: default, <<: 5}]")

    assert lines == ["chain.yaml:1:42: history_processors[0]: '<<' takes in mappings only; name the anchor of one"]


@pytest.mark.parametrize(
    "scalar",
    [
        '!!int ""',
        '!!int "_"',
        '!!float ""',
        "!!bool foo",
        "!!timestamp foo",
        "-0x" + "f" * 5000,
        "0x" + "f" * 5000,
        "1" + ":1" * 5000,
        "9" * 5000,
    ],
    ids=["int", "underscore", "float", "bool", "timestamp", "negative", "hexadecimal", "sexagesimal", "decimal"],
)
def test_a_value_that_its_tag_does_not_fit_is_one_line_with_its_place(
    problems: Callable[[str], list[str]], scalar: str
) -> None:
    lines = problems(f"history_processors:\n  - type: last_n_observations\n    n: {scalar}\n")

    assert len(lines) == 1
    assert lines[0].startswith("chain.yaml:3:8: history_processors[0].n: this ")
    assert len(lines[0]) < 200
