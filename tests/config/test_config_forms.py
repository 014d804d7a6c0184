"""The two forms of a chain in YAML: Elision's own, and a SWE-agent config as it is."""

from __future__ import annotations

from textwrap import dedent

import pytest

import elision
from elision.config import lint

SWEAGENT_CONFIG = """\
# An agent that mends bugs in a library, with Anthropic's cache.
agent:
  type: default
  name: mender
  templates:
    system_template: |-
      You mend bugs.  Reply with one call at a time: {{command_docs}}
    instance_template: |-
      1: read the report
      {{problem_statement}}
      [File: nothing]
    next_step_template: "OBSERVATION:\\n{{observation}}"
    demonstrations:
      - trajectories/demo.traj
    put_demos_in_history: true
  tools:
    execution_timeout: 30
    env_variables: &env {PAGER: cat, TQDM_DISABLE: '1'}
    bundles:
      - path: tools/registry
      - path: tools/search
    registry_variables:
      SUBMIT_REVIEW_MESSAGES:
        - |
          Look at your changes once more:
          <diff>
          {{diff}}
          </diff>
    enable_bash_tool: true
    parse_function: {type: function_calling}
  history_processors:
    - type: tag_tool_call_observations
      tags: !!set {keep_output: null}
      function_names: !!set
        read_skill: null
    - type: last_n_observations
      n: "5"
      polling: 2.0
      always_remove_output_for_tags: [remove_output]
    - type: remove_regex
      remove: ['<diff>.*</diff>']
      keep_last: true
    - type: cache_control
      last_n_messages: 2
  model:
    name: claude-sonnet-4
    per_instance_cost_limit: 3
    temperature: 0.0
env:
  deployment: {image: 'python:3.11', env: *env}
problem_statement: !!str 'mend it'
instances:
  type: swe_bench
  shuffle: true
"""

RETRY_CONFIG = """\
parts:
  chain: &few
    - &last
      type: last_n_observations
      n: 5
  model: &model {name: gpt-4o}
agent:
  type: retry
  agent_configs:
    - type: default
      model: *model
      history_processors: &vanilla
        - type: cache_control
    - model: *model
      history_processors: *vanilla
    - history_processors: *few
    - history_processors:
        - <<: *last
          n: 9
        - type: cache_control
    - model: *model
    - history_processors: []
  retry_loop: {type: chooser, max_attempts: 3}
"""

NOTE = (
    "chain.yaml:2:1: agent: note: in a SWE-agent config, SWE-agent's own processors give SWE-agent's own texts and ask "
    "no table; for Elision's full guard put the list at the top of a file, under the lines 'classification: default' "
    "and 'history_processors:'"
)


def test_a_chain_is_only_yaml() -> None:
    chain = elision.loads("""\
history_processors:
  - type: last_n_observations
    n: 5
    polling: 10
  - type: cache_control
dialect: openai
model: gpt-4o
on_error: raise
""")

    assert [processor.model_dump(by_alias=True) for processor in chain.processors] == [
        {
            "type": "last_n_observations",
            "n": 5,
            "polling": 10,
            "always_remove_output_for_tags": frozenset({"remove_output"}),
            "always_keep_output_for_tags": frozenset({"keep_output"}),
            "placeholder": None,
        },
        {
            "type": "cache_control",
            "plan": "last_n_messages",
            "last_n_messages": 2,
            "last_n_messages_offset": 0,
            "tagged_roles": ("user", "tool"),
            "ttl": None,
        },
    ]
    assert (chain.dialect, chain.model, chain.on_error, chain.compat) == ("openai", "gpt-4o", "raise", None)


def test_a_sweagent_config_drops_in_unchanged() -> None:
    chain = elision.loads(SWEAGENT_CONFIG)

    assert [processor.model_dump(exclude_unset=True) for processor in chain.processors] == [
        {
            "type": "tag_tool_call_observations",
            "tags": frozenset({"keep_output"}),
            "function_names": frozenset({"read_skill"}),
        },
        {
            "type": "last_n_observations",
            "n": 5,
            "polling": 2,
            "always_remove_output_for_tags": frozenset({"remove_output"}),
        },
        {"type": "remove_regex", "remove": ("<diff>.*</diff>",), "keep_last": 1},
        {"type": "cache_control", "last_n_messages": 2},
    ]
    assert chain.compat == "sweagent"


def test_a_sweagent_config_gets_one_note_that_shows_how_to_switch_elisions_rules_on() -> None:
    assert [str(problem) for problem in lint(SWEAGENT_CONFIG, "chain.yaml")] == [NOTE]


def test_an_agent_without_processors_has_sweagents_default_chain() -> None:
    chain = elision.loads("agent: {model: {name: gpt-4o}}")

    assert [processor.type_name for processor in chain.processors] == ["default"]
    assert chain.compat == "sweagent"


@pytest.mark.parametrize("text", ["history_processors: []", "agent: {history_processors: []}"])
def test_a_chain_may_be_empty(text: str) -> None:
    assert elision.loads(text).processors == ()


def test_an_own_chain_may_ask_for_sweagents_bytes() -> None:
    assert elision.loads("history_processors: []\ncompat: sweagent").compat == "sweagent"


def test_the_attempts_of_a_retry_agent_have_chains_of_their_own() -> None:
    chains = [elision.loads(RETRY_CONFIG, attempt=attempt).processors for attempt in range(6)]

    assert [[processor.model_dump(exclude_unset=True) for processor in chain] for chain in chains] == [
        [{"type": "cache_control"}],
        [{"type": "cache_control"}],
        [{"type": "last_n_observations", "n": 5}],
        [{"type": "last_n_observations", "n": 9}, {"type": "cache_control"}],
        [{}],
        [],
    ]


@pytest.mark.parametrize(
    ("attempt", "told"),
    [
        (None, "choose --attempt 0 to --attempt 5 (in Python attempt=)"),
        (6, "choose --attempt 0 to --attempt 5 (in Python attempt=), not 6"),
        (-1, "choose --attempt 0 to --attempt 5 (in Python attempt=), not -1"),
    ],
)
def test_a_config_with_several_chains_wants_an_attempt(attempt: int | None, told: str) -> None:
    with pytest.raises(elision.ConfigError) as caught:
        elision.loads(RETRY_CONFIG, source="retry.yaml", attempt=attempt)

    several = "this config has 6 chains, one for each attempt"
    assert str(caught.value) == f"retry.yaml:9:3: agent.agent_configs: {several}; {told}"


def test_a_config_with_one_chain_has_the_attempt_0_only() -> None:
    assert elision.loads("history_processors: []", attempt=0).processors == ()

    with pytest.raises(elision.ConfigError) as caught:
        elision.loads("history_processors: []", source="chain.yaml", attempt=1)

    assert str(caught.value) == (
        "chain.yaml: this config has one chain, so there is no attempt 1; leave attempt out (--attempt)"
    )


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("agent:", "1:7: agent: an agent is a mapping, this is empty; put 'history_processors:' under it"),
        (
            "agent: {history_processor: []}",
            "1:9: agent.history_processor: an agent has no 'history_processor'; did you mean 'history_processors'?",
        ),
        (
            "agent: {history_processors: }",
            "1:28: agent.history_processors: the list of processors is empty; begin each with '- type:', or write []",
        ),
        ("agent: {type: retry}", "1:1: agent: a retry agent needs 'agent_configs'; list one agent for each attempt"),
        (
            "agent: {agent_configs: []}",
            (
                "1:24: agent.agent_configs: this must be a list of agents, but is an empty list; "
                "list one agent for each attempt"
            ),
        ),
        (
            "agent: {agent_configs: [5]}",
            (
                "1:25: agent.agent_configs[0]: an agent is a mapping, this is the single value 5; "
                "put 'history_processors:' under it"
            ),
        ),
        (
            "agent: {type: retry, history_processors: [], agent_configs: [{}]}",
            (
                "1:22: agent.history_processors: a retry agent has no 'history_processors' of its own; "
                "move it into each of 'agent_configs'"
            ),
        ),
    ],
)
def test_an_agent_that_has_no_chain_to_find_says_why(text: str, line: str) -> None:
    errors = [str(problem) for problem in lint(text, "chain.yaml") if problem.severity == "error"]

    assert errors == [f"chain.yaml:{line}"]


def test_what_sweagent_itself_accepts_is_only_a_warning_in_its_configs() -> None:
    text = dedent("""\
        agent:
          name: a
          name: b
          history_processors:
            - type: cache_control
            - type: last_n_observations
              n: 5
              n: 6
    """)

    warnings = [str(problem) for problem in lint(text, "chain.yaml") if problem.severity != "note"]

    assert warnings == [
        (
            "chain.yaml:5:7: agent.history_processors[0]: warning: cache_control must stand after last_n_observations "
            "(it marks what is actually sent); move it last"
        ),
        (
            "chain.yaml:8:7: agent.history_processors[1].n: warning: 'n' stands twice, first in line 7; "
            "the last one counts; remove one"
        ),
    ]
    assert [processor.type_name for processor in elision.loads(text).processors] == [
        "cache_control",
        "last_n_observations",
    ]


def test_errors_come_first_then_warnings_then_the_note() -> None:
    text = dedent("""\
        agent:
          name: a
          name: b
          history_processors:
            - type: cache_control
            - type: last_n_observations
              n: 0
            - type: default
    """)

    assert [(problem.severity, problem.line) for problem in lint(text, "chain.yaml")] == [
        ("error", 7),
        ("warning", 5),
        ("note", 1),
    ]
