"""Elision inside a real SWE-agent, where the environment names a checkout.

``ELISION_SWEAGENT`` is the checkout; ``ELISION_SWEAGENT_PYTHON`` the interpreter that has its dependencies and Elision
installed (this one, if not set).
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

STEPS = 14
PRINTED = "The command printed nothing.\\n" + "A line that is there to be elided.\\n" * 8

CONFIG = f"""
agent:
  model:
    name: replay
    replay_path: actions.jsonl
  templates:
    system_template: You are an agent.
    instance_template: "{{{{problem_statement}}}}"
    next_step_no_output_template: "{PRINTED}"
  tools:
    enable_bash_tool: true
    parse_function:
      type: function_calling
  history_processors:
    - type: chain
      on_error: raise
      processors:
        - type: last_n_observations
          n: 4
    - type: forget
      keep: 2
    - type: cache_control
      last_n_messages: 2
env:
  deployment:
    type: dummy
  repo: null
problem_statement:
  type: text
  text: Count to {STEPS}.
  id: counting
"""

Python = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def python(stranger: Path) -> Python:
    """Return a function that runs the interpreter that has SWE-agent; skips where no checkout is named."""
    checkout = os.environ.get("ELISION_SWEAGENT")
    if not checkout:
        pytest.skip("no SWE-agent: set ELISION_SWEAGENT to a checkout, ELISION_SWEAGENT_PYTHON to its interpreter")
    path = os.pathsep.join([str(stranger), checkout])
    environ = {**os.environ, "PYTHONPATH": path, "LITELLM_LOCAL_MODEL_COST_MAP": "True"}
    interpreter = os.environ.get("ELISION_SWEAGENT_PYTHON", sys.executable)

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [interpreter, *arguments], cwd=stranger, env=environ, capture_output=True, text=True, check=False
        )

    return run


def actions() -> list[dict[str, Any]]:
    """One call a step; the sixth answer has no call, so that SWE-agent asks again."""
    made: list[dict[str, Any]] = []
    for step in range(STEPS):
        command = "exit" if step == STEPS - 1 else f"echo {step}"
        function = {"name": "bash", "arguments": json.dumps({"command": command})}
        call = {"id": f"call_{step}", "type": "function", "function": function}
        made.append({"message": f"step {step}", "tool_calls": [call]})
    made.insert(5, {"message": "no call here", "tool_calls": []})
    return made


def test_a_run_sends_the_view_and_keeps_the_history(python: Python, stranger: Path) -> None:
    (stranger / "run.yaml").write_text(CONFIG, encoding="utf-8")
    (stranger / "actions.jsonl").write_text(json.dumps({"counting": actions()}) + "\n", encoding="utf-8")
    done = python("-m", "elision", "sweagent", "run", "--config", "run.yaml", "--output_dir", "out")
    assert done.returncode == 0, done.stdout + done.stderr
    stored = json.loads((stranger / "out" / "counting" / "counting.traj").read_text(encoding="utf-8"))
    sent = [turn["query"] for turn in stored["trajectory"]]
    last = [text_of(item) for item in sent[-1] if item["role"] == "tool"]
    kept = [text_of(item) for item in stored["history"] if item["role"] == "tool"]
    listed = json.loads(stored["replay_config"])["agent"]["history_processors"]

    assert stored["info"]["exit_status"] == "exit_command"
    assert [len(query) for query in sent] == [2, 4, 6, 8, 10, 12, 14, *range(14, 2 * STEPS + 2, 2)]
    assert set(last[:-4]) == {"Old environment output: (9 lines omitted)"}
    assert last[-4:-2] == ["gone", "gone"]
    assert ["to be elided" in text for text in last[-2:]] == [True, True]
    assert {len(marked(query)) for query in sent[2:]} == {2}
    assert ["to be elided" in text for text in kept] == [True] * (STEPS - 1) + [False]
    assert [entry["type"] for entry in listed] == ["chain", "forget", "cache_control"]
    assert listed[0]["processors"] == [{"type": "last_n_observations", "n": 4}]


def text_of(item: dict[str, Any]) -> str:
    content = item["content"]
    return str(content if isinstance(content, str) else content[0]["text"])


def marked(query: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [item for item in query if "cache_control" in json.dumps(item)]


ROUTES = """
import json, sys
from pathlib import Path
import yaml
{imports}
from elision.plugins.hosts import sweagent as host
host.install()
from sweagent import CONFIG_DIR
from sweagent.agent.agents import RetryAgentConfig
from sweagent.run.run_batch import RunBatchConfig
from sweagent.run.run_single import RunSingleConfig

agent = yaml.safe_load((CONFIG_DIR / "benchmarks" / "250212_sweagent_heavy_sbl.yaml").read_text())["agent"]
for attempt in agent["agent_configs"]:
    chain = {{"type": "chain", "processors": [{{"type": "default"}}]}}
    attempt["history_processors"] = [chain, *attempt["history_processors"]]
agent.pop("type")
retry = RetryAgentConfig.model_validate(agent)
single = RunSingleConfig.model_validate({{"agent": {{"type": "retry", **agent}}}})
instances = {{"type": "swe_bench", "subset": "lite"}}
batch = RunBatchConfig.model_validate({{"agent": {{"type": "retry", **agent}}, "instances": instances}})
print("ANSWER", json.dumps([
    [[type(entry).__module__ for entry in config.history_processors] for config in made.agent_configs]
    for made in (retry, single.agent, batch.agent)
]))
"""


@pytest.mark.parametrize(
    "imports", ["", "import sweagent.run.run_single, sweagent.run.run_batch"], ids=["before", "after"]
)
def test_shipped_retry_configs_take_a_chain_before_and_after_the_models_are_built(python: Python, imports: str) -> None:
    done = python("-c", ROUTES.format(imports=imports))
    assert done.returncode == 0, done.stderr
    answer = next(line for line in done.stdout.splitlines() if line.startswith("ANSWER "))
    ours, theirs = "elision.plugins.hosts.sweagent", "sweagent.agent.history_processors"

    assert json.loads(answer.removeprefix("ANSWER ")) == [[[ours, theirs], [ours, theirs], [ours, theirs, theirs]]] * 3


HOOK = """
import json
from pathlib import Path
from swerex.deployment.config import DummyDeploymentConfig
from elision.plugins.hosts import sweagent as host
from sweagent.agent.agents import DefaultAgent, DefaultAgentConfig
from sweagent.agent.hooks.abstract import AbstractAgentHook
from sweagent.agent.models import InstantEmptySubmitModelConfig, PredeterminedTestModel
from sweagent.agent.problem_statement import TextProblemStatement
from sweagent.environment.swe_env import EnvironmentConfig, SWEEnv
from sweagent.tools.parsing import Identity
from sweagent.tools.tools import ToolConfig


class AddChain(AbstractAgentHook):
    def on_init(self, *, agent):
        agent.history_processors.append(host.as_history_processor([{"type": "forget", "keep": 1}]))


env = SWEEnv.from_config(EnvironmentConfig(deployment=DummyDeploymentConfig(), repo=None))
env.start()
tools = ToolConfig(parse_function=Identity())
agent = DefaultAgent.from_config(DefaultAgentConfig(model=InstantEmptySubmitModelConfig(), tools=tools))
agent.model = PredeterminedTestModel([*(f"echo {step}" for step in range(6)), "exit"])
agent.add_hook(AddChain())
agent.run(problem_statement=TextProblemStatement(text="Count."), env=env, output_dir=Path("out"))
print("ANSWER", json.dumps([item["content"][0]["text"] if isinstance(item["content"], list) else item["content"]
                            for item in agent.messages if item["message_type"] == "observation"]))
"""


def test_a_hook_adds_a_chain_to_an_agent_from_python(python: Python) -> None:
    done = python("-c", HOOK)
    assert done.returncode == 0, done.stderr
    answer = next(line for line in done.stdout.splitlines() if line.startswith("ANSWER "))

    assert json.loads(answer.removeprefix("ANSWER "))[1:-1] == ["gone"] * 6
