"""The JSON Schema for editors agrees with what is loaded."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib.resources import files
from typing import Any

import pytest
import yaml
from jsonschema import Draft202012Validator

from elision.config import lint, schema, shipped_chains


@pytest.fixture(scope="module")
def committed() -> Any:
    return json.loads(files("elision.configs").joinpath("chain.schema.json").read_text(encoding="utf-8"))


def test_the_committed_schema_equals_the_generated_one(committed: Any) -> None:
    code = "import json; from elision.config import schema; print(json.dumps(schema()))"
    environ = {**os.environ, "ELISION_PLUGINS": ""}

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environ)

    told = "write it anew: ELISION_PLUGINS= elision schema > configs/chain.schema.json"
    assert json.loads(done.stdout) == committed, told
    assert done.stdout.strip() == json.dumps(committed), told


def test_the_schema_is_a_valid_schema(committed: Any) -> None:
    Draft202012Validator.check_schema(committed)


@pytest.mark.parametrize("name", list(shipped_chains()))
def test_the_schema_accepts_every_shipped_chain(committed: Any, name: str) -> None:
    data = yaml.safe_load(shipped_chains()[name].read_text(encoding="utf-8"))

    assert list(Draft202012Validator(committed).iter_errors(data)) == []


@pytest.mark.parametrize(
    ("text", "valid"),
    [
        ("history_processors: []", True),
        ("history_processors: [{type: last_n_observations, n: 5}]\non_error: raise\nmodel: null", True),
        ("agent: {model: {name: x}, history_processors: [{type: default}]}\nenv: 5", True),
        ("agent: {type: retry, agent_configs: [{history_processors: []}, {}]}", True),
        ("{}", False),
        ("history_processors: {}", False),
        ("history_processors: [{n: 5}]", False),
        ("history_processors: [{type: zzz}]", False),
        ("history_processors: [{type: last_n_observations}]", False),
        ("history_processors: [{type: last_n_observations, n: 0}]", False),
        ("history_processors: [{type: default, n: 5}]", False),
        ("history_processors: []\non_eror: skip", False),
        ("history_processors: []\nagent: {}", False),
        ("agent: {history_processors: [{type: zzz}]}", False),
        ("agent: {type: retry}", False),
        ("agent: {agent_configs: [{history_processors: [{type: zzz}]}]}", False),
        ("agent: {agent_configs: [{}], history_processors: []}", False),
        ("agent: {history_processors: [{type: chain, processors: [{type: default}], on_error: raise}]}", True),
        ("agent: {agent_configs: [{history_processors: [{type: chain, processors: , chain: default}]}]}", True),
        ("agent: {history_processors: [{type: chain}]}", False),
        ("agent: {history_processors: [{type: chain, chain: }]}", False),
        ("agent: {history_processors: [{type: chain, processors: [], chain: default}]}", False),
        ("agent: {history_processors: [{type: chain, processors: [{type: default, n: 5}]}]}", False),
        ("agent: {history_processors: [{type: chain, processors: [{type: chain, chain: default}]}]}", False),
        ("agent: {history_processors: [{type: chain, chain: default, zzz: 1}]}", False),
        ("history_processors: [{type: chain, processors: []}]", False),
        ("model: {model_class: a.B, history_processors: [{type: default}]}\nagent: {step_limit: 0}", True),
        ("model: {chain: default, history_processors: }", True),
        ("model: {model_name: x}", False),
        ("model: {chain: default, history_processors: []}", False),
        ("model: {chain: [a]}", False),
        ("model: {history_processors: [{type: zzz}]}", False),
        ("model: {history_processors: [{type: chain, chain: default}]}", False),
        ("model: {}\nhistory_processors: []", False),
    ],
)
def test_the_schema_and_lint_agree(committed: Any, text: str, valid: bool) -> None:
    accepted = Draft202012Validator(committed).is_valid(yaml.safe_load(text))
    linted = not [problem for problem in lint(text, "chain.yaml") if problem.severity == "error"]

    assert (accepted, linted) == (valid, valid)


def test_every_option_has_a_description() -> None:
    definitions = schema()["$defs"].values()

    missing = [
        (definition["title"], name)
        for definition in definitions
        if "title" in definition
        for name, option in definition["properties"].items()
        if name != "type" and not option.get("description")
    ]
    assert missing == []
