"""A small stand-in of SWE-agent's config models, and a plugin of a stranger, for scripts run in their own process."""

from __future__ import annotations

import importlib
import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from forked import Python

_PROCESSORS = """
from typing import Annotated, Literal
from pydantic import BaseModel, ConfigDict, Field


class DefaultHistoryProcessor(BaseModel):
    type: Literal["default"] = "default"
    model_config = ConfigDict(extra="forbid")

    def __call__(self, history):
        return history


class LastNObservations(BaseModel):
    n: int
    type: Literal["last_n_observations"] = "last_n_observations"
    model_config = ConfigDict(extra="forbid")

    def __call__(self, history):
        return history


HistoryProcessor = Annotated[DefaultHistoryProcessor | LastNObservations, Field(discriminator="type")]
"""

_AGENTS = """
from __future__ import annotations

from typing import Annotated, Literal
from pydantic import BaseModel, ConfigDict, Field

from sweagent.agent.history_processors import DefaultHistoryProcessor, HistoryProcessor


class DefaultAgentConfig(BaseModel):
    history_processors: list[HistoryProcessor] = Field(default_factory=lambda: [DefaultHistoryProcessor()])
    type: Literal["default"] = "default"
    model_config = ConfigDict(extra="forbid")


class ShellAgentConfig(BaseModel):
    history_processors: list[HistoryProcessor] = Field(default_factory=lambda: [DefaultHistoryProcessor()])
    type: Literal["shell"] = "shell"
    model_config = ConfigDict(extra="forbid")


class RetryAgentConfig(BaseModel):
    agent_configs: list[DefaultAgentConfig]
    type: Literal["retry"] = "retry"
    model_config = ConfigDict(extra="forbid")


AgentConfig = Annotated[
    DefaultAgentConfig | RetryAgentConfig | ShellAgentConfig, Field(union_mode="left_to_right")
]
"""

_RUN_SINGLE = """
from pydantic import BaseModel, ConfigDict
from sweagent.agent.agents import AgentConfig


class RunSingleConfig(BaseModel):
    agent: AgentConfig
    model_config = ConfigDict(extra="forbid")
"""

_RUN = """
import json
from pathlib import Path


def main(args=None):
    from sweagent.run.run_single import RunSingleConfig

    config = RunSingleConfig.model_validate_json(Path(args[1]).read_text())
    print(json.dumps([args[0], [processor.type for processor in config.agent.history_processors]]))
"""

_ACME = '''
from collections.abc import Iterator
from typing import ClassVar, Literal
from pydantic import NonNegativeInt
from elision import Edit, Processor, View, hookimpl


class Forget(Processor):
    """Replace old observations by a word."""

    operation: ClassVar = "clear"

    type: Literal["forget"] = "forget"
    keep: NonNegativeInt = 1

    def plan(self, view: View) -> Iterator[Edit]:
        for observation in view.older_observations(keep_last=self.keep):
            yield observation.replace("gone", reason="old")


@hookimpl
def elision_processors():
    return [Forget]
'''

_PLUGIN = {
    "acme.py": _ACME,
    "acme-1.dist-info/METADATA": "Metadata-Version: 2.1\nName: acme\nVersion: 1\n",
    "acme-1.dist-info/entry_points.txt": "[elision]\nacme = acme\n",
}
_STAND_IN = {
    "sweagent/__init__.py": "from pathlib import Path\nREPO_ROOT = Path(__file__).parents[1]\n",
    "sweagent/agent/__init__.py": "",
    "sweagent/agent/history_processors.py": _PROCESSORS,
    "sweagent/agent/agents.py": _AGENTS,
    "sweagent/run/__init__.py": "",
    "sweagent/run/run_single.py": _RUN_SINGLE,
    "sweagent/run/run_batch.py": _RUN_SINGLE.replace("RunSingle", "RunBatch"),
    "sweagent/run/run.py": _RUN,
}

_BEGIN = """
import copy, json, sys
from elision.plugins.hosts import sweagent as host

def history(steps, size=30):
    items = [
        {"role": "system", "content": "You are an agent.", "agent": "main", "message_type": "system_prompt"},
        {"role": "user", "content": "Mend it.", "agent": "main", "message_type": "observation"},
    ]
    for step in range(steps):
        call = {"id": f"call_{step}", "type": "function", "function": {"name": "ls", "arguments": "{}"}}
        items.append({"role": "assistant", "content": "", "thought": "", "action": "ls", "agent": "main",
                      "tool_calls": [call], "message_type": "action", "thinking_blocks": []})
        items.append({"role": "tool", "content": f"line of step {step}\\n" * size, "agent": "main",
                      "tool_call_ids": [f"call_{step}"], "message_type": "observation"})
    return items

def contents(items):
    return [item["content"][:20] for item in items if item["role"] == "tool"]

def give(value):
    print("ANSWER " + json.dumps(value))
"""

Script = Callable[[str], Any]


@pytest.fixture(scope="module")
def miniswe(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """Import the host, with mini-swe-agent's own folder in a temporary place."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MSWEA_GLOBAL_CONFIG_DIR", str(tmp_path_factory.mktemp("mini")))
        patch.setenv("LITELLM_LOCAL_MODEL_COST_MAP", "True")
        patch.setenv("MSWEA_SILENT_STARTUP", "1")
        patch.setenv("MSWEA_MODEL_RETRY_STOP_AFTER_ATTEMPT", "1")
        yield importlib.import_module("elision.plugins.hosts.miniswe")


@pytest.fixture
def stranger(tmp_path: Path) -> Path:
    """Return a folder that, on the path, is an installed plugin with the processor ``forget``."""
    return _write(tmp_path, _PLUGIN)


@pytest.fixture
def stand_in(stranger: Path) -> Path:
    """Return a folder that holds the stand-in of SWE-agent and the plugin."""
    return _write(stranger, _STAND_IN)


def _write(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder


@pytest.fixture
def script(stand_in: Path, python: Python) -> Script:
    """Return a function that runs a script beside the stand-in and returns what the script gives."""

    def run(code: str) -> Any:
        environ = {**os.environ, "PYTHONPATH": str(stand_in)}
        done = python("-W", "error", "-c", _BEGIN + code, cwd=stand_in, env=environ)
        assert done.returncode == 0, done.stderr
        answers = [line for line in done.stdout.splitlines() if line.startswith("ANSWER ")]

        return json.loads(answers[-1].removeprefix("ANSWER "))

    return run
