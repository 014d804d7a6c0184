"""The host configs in the documents and examples are taken by the hosts."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from doc_blocks import ROOT, blocks

HOSTS = (ROOT / "docs" / "hosts.md").read_text(encoding="utf-8")
EXAMPLES = [path.read_text(encoding="utf-8") for path in sorted((ROOT / "examples").glob("*/*.yaml"))]
SHOWN = [block.text for language in ("yaml", "yml") for block in blocks(HOSTS, language)]
CONFIGS = [yaml.safe_load(text) for text in (*SHOWN, *EXAMPLES)]
AGENTS = [config["agent"] for config in CONFIGS if "agent" in config]
MODELS = [config["model"] for config in CONFIGS if "model" in config]


def test_the_examples_are_those_that_the_documents_show() -> None:
    example = (ROOT / "examples" / "sweagent" / "with_elision.yaml").read_text(encoding="utf-8")

    assert len(AGENTS) == 3
    assert len(MODELS) == 2
    assert SHOWN[0] in example


def test_sweagent_takes_each_agent_of_the_documents(script: Callable[[str], Any], stand_in: Path) -> None:
    (stand_in / "chain.yaml").write_text("history_processors: []\n", encoding="utf-8")
    given = script(
        f"""
host.install()
from sweagent.agent.agents import DefaultAgentConfig
agents = json.loads({json.dumps(json.dumps(AGENTS))})
for agent in agents:
    # The stand-in has only two of SWE-agent's seven types.
    agent["history_processors"] = [entry for entry in agent["history_processors"] if entry["type"] == "chain"]
give([len(DefaultAgentConfig.model_validate(agent).history_processors) for agent in agents])
"""
    )

    assert given == [1, 1, 1]


@pytest.mark.parametrize("options", MODELS)
def test_mini_swe_agent_takes_each_model_of_the_documents(miniswe: Any, options: dict[str, Any]) -> None:
    from minisweagent.models import get_model

    assert isinstance(get_model(config=options), miniswe.ElisionModel)


def test_from_python_a_chain_with_cache_control_needs_nothing_beside_it(miniswe: Any) -> None:
    options = {"model_name": "anthropic/claude-sonnet-4-5", "chain": "default"}

    assert isinstance(miniswe.ElisionModel(**options), miniswe.ElisionModel)
    assert isinstance(miniswe.ElisionModel(**options, set_cache_control=None), miniswe.ElisionModel)
