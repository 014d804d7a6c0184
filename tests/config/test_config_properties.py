"""Whatever stands in a config, it loads or says what is wrong."""

from __future__ import annotations

from typing import Any

import yaml
from hypothesis import given
from hypothesis import strategies as st

import elision
from elision.config import lint
from elision.registry import plugins

START = """\
parts: &part {n: 5, <<: {polling: 2}}
agent:
  type: retry
  agent_configs:
    - history_processors: &list
        - {type: last_n_observations, <<: *part}
        - type: tag_tool_call_observations
          tags: !!set {keep_output, other}
        - {type: chain, on_error: raise, processors: [{type: default}]}
    - history_processors: *list
"""
PIECES = st.sampled_from(
    ["", " ", "\n", "\t", "- ", ": ", "&a ", "*a", "*part", "<<: ", "!!set ", "!x ", "[", "]", "{", "}", "'", '"', "?",
     "|", "#", "\x00", "\ud800", "type", "n", "history_processors", "agent_configs", "null", "1e999", "---\n", "=", "%"]
)  # fmt: skip
SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.dates() | st.binary(max_size=4)
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3)
)
OPTIONS = sorted({option for processor in plugins().processors().values() for option in processor.model_fields})


@st.composite
def damaged(draw: st.DrawFn) -> str:
    """Draw a config with a few pieces cut out or put in."""
    text = START
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, len(text)))
        stop = min(len(text), start + draw(st.integers(0, 12)))
        text = text[:start] + draw(PIECES) + text[stop:]
    return text


@st.composite
def odd_chains(draw: st.DrawFn) -> str:
    """Draw a chain of known processors with values of any kind for their options."""
    types = st.sampled_from(sorted(plugins().processors()))
    names = st.sampled_from([*OPTIONS, "zzz"])
    items = st.builds(
        lambda name, options: {**options, "type": name}, types, st.dictionaries(names, VALUES, max_size=3)
    )
    chain: Any = draw(st.lists(items | VALUES, max_size=3))
    return str(yaml.safe_dump({"history_processors": chain, **draw(st.dictionaries(st.text(), VALUES, max_size=2))}))


def _loads_or_says_why(text: str) -> bool:
    problems = lint(text, "chain.yaml")
    errors = [str(problem) for problem in problems if problem.severity == "error"]
    assert all("\n" not in line and line.isprintable() for line in map(str, problems))
    try:
        elision.loads(text, source="chain.yaml", attempt=0)
    except elision.ConfigError as error:
        return bool(errors) and str(error) == "\n".join(errors)
    return not errors


@given(text=damaged())
def test_a_damaged_config_loads_or_says_what_is_wrong(text: str) -> None:
    assert _loads_or_says_why(text)


@given(text=odd_chains().filter(lambda text: "target" not in text))
def test_a_chain_of_odd_values_loads_or_says_what_is_wrong(text: str) -> None:
    assert _loads_or_says_why(text)


@given(text=st.text())
def test_any_text_loads_or_says_what_is_wrong(text: str) -> None:
    assert _loads_or_says_why(text)
