"""What the documents show works as written, and they leave nothing out."""

from __future__ import annotations

import inspect
import json
import os
import re
import shlex
import shutil
import tomllib
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from doc_blocks import ROOT, blocks, documents, make_importable
from forked import Python

import elision
from elision import hookspecs

DOCUMENTS = {path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8") for path in documents()}
PLUGINS = DOCUMENTS["docs/plugins.md"]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]

YAML = [
    pytest.param(block.text, id=f"{name}:{block.line}")
    for name, text in DOCUMENTS.items()
    for block in blocks(text, "yaml")
    if "history_processors" in block.text and name != "docs/plugins.md"
]
LINKS = [
    (name, target)
    for name, text in DOCUMENTS.items()
    for target in sorted(set(re.findall(r"\]\(([^)#\s:]+)(?:#[^)]*)?\)", text)))
]
HOOKS = {name: hook for name, hook in vars(hookspecs).items() if name.startswith("elision_")}
REQUIRED = {
    group: [re.split(r"[^\w.-]", requirement)[0] for requirement in requirements]
    for group, requirements in {"": PROJECT["dependencies"], **PROJECT["optional-dependencies"]}.items()
}


@pytest.mark.parametrize("text", YAML)
def test_each_chain_in_the_documents_loads(text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make_importable(text, tmp_path, monkeypatch)

    assert elision.loads(text)


@pytest.mark.parametrize("name", DOCUMENTS)
def test_each_python_block_in_the_documents_compiles(name: str) -> None:
    for block in blocks(DOCUMENTS[name], "python"):
        assert compile(block.text, f"{name}:{block.line}", "exec")


def test_each_link_to_a_file_leads_somewhere() -> None:
    assert [(name, target) for name, target in LINKS if not ((ROOT / name).parent / target).exists()] == []


@pytest.mark.parametrize("hook", HOOKS)
def test_each_hook_is_a_heading_with_exactly_its_arguments(hook: str) -> None:
    arguments = ", ".join(inspect.signature(HOOKS[hook]).parameters)

    assert f"\n### `{hook}({arguments})`\n" in PLUGINS


def first_block(heading: str, *, after: int = 0) -> str:
    """The text of a fenced block under a heading of the README."""
    _, _, rest = DOCUMENTS["README.md"].partition(f"\n## {heading}\n")
    return re.findall(r"^```\w*\n(.*?)^```", rest, re.M | re.S)[after]


def test_readme_and_contributing_give_the_same_command_for_the_tests() -> None:
    assert f"```sh\n{first_block('Run the tests')}```" in DOCUMENTS["CONTRIBUTING.md"]


def test_the_example_in_the_readme_prints_the_table_that_is_shown_and_recalls_what_went(
    tmp_path: Path, python: Python
) -> None:
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    environ = {name: value for name, value in os.environ.items() if name != "ELISION_ARCHIVE"}
    apply, recall = (
        python(
            *("-m", "elision", *shlex.split(first_block("Try it", after=block).splitlines()[-1])[1:]),
            cwd=tmp_path,
            env=environ,
        )
        for block in (0, 3)
    )
    sent = json.loads((tmp_path / "view.json").read_text(encoding="utf-8"))
    messages = json.loads((ROOT / "examples" / "sample_run.json").read_text(encoding="utf-8"))["messages"]
    placeholder = first_block("Try it", after=2).strip()
    (place,) = (position for position, message in enumerate(sent) if message["content"] == placeholder)

    assert (apply.returncode, recall.returncode) == (0, 0), apply.stderr + recall.stderr
    assert first_block("Try it", after=1).splitlines() == [
        line.rstrip() for line in (apply.stderr + apply.stdout).splitlines()
    ]
    assert recall.stdout == messages[place]["content"]


def test_the_reasons_in_the_readme_why_results_stay_are_counted(sample_run: Any) -> None:
    refusals = elision.load("last_n_polling").process(sample_run["messages"]).refusals
    counted = Counter(
        "short" if each.rule == "never_grows" else "receipt" if "receipt" in each.classes else each.classes[0]
        for each in refusals
    )
    told = re.findall(r"^- (\d+) are (?:so )?(short|receipt|unknown)", DOCUMENTS["README.md"], re.M)

    assert {reason: int(number) for number, reason in told} == counted


def test_the_program_in_the_readme_prints_what_is_shown(tmp_path: Path, python: Python) -> None:
    (chain, *_), (program, *_) = (blocks(DOCUMENTS["README.md"], language) for language in ("yaml", "python"))
    shown = DOCUMENTS["README.md"].split(program.text)[1].split("```\n")[2]
    (tmp_path / "chain.yaml").write_text(chain.text, encoding="utf-8")
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    done = python("-c", program.text, cwd=tmp_path)

    assert (done.stdout, done.returncode) == (shown, 0), done.stderr


def test_the_documents_name_no_hook_that_does_not_exist() -> None:
    named = {name for text in DOCUMENTS.values() for name in re.findall(r"\belision_[a-z]+(?:_[a-z]+)*(?=\()", text)}

    assert named <= set(HOOKS)


@pytest.mark.parametrize("switch", ["ELISION_PLUGINS", "ELISION_TRACE_HOOKS"])
def test_each_switch_of_the_registry_is_documented(switch: str) -> None:
    assert f"| `{switch}=" in PLUGINS


def test_each_dependency_has_a_reason() -> None:
    pairs = [(f"`{group}` | " if group else "", name) for group, names in REQUIRED.items() for name in names]
    rows = [f"\n| {group}`{name}` | " for group, name in pairs]

    assert [row for row in rows if row not in DOCUMENTS["docs/dependencies.md"]] == []


def test_each_excluded_release_is_explained() -> None:
    excluded = [version for text in PROJECT["dependencies"] for version in re.findall(r"!=([\w.]+)", text)]

    assert [version for version in excluded if f"`{version}`" not in DOCUMENTS["docs/dependencies.md"]] == []


def test_the_plugin_in_the_documents_works_as_written(tmp_path: Path, python: Python) -> None:
    module, check, *_ = (block.text for block in blocks(PLUGINS, "python"))
    project = tomllib.loads(blocks(PLUGINS, "toml")[0].text)
    (name, value), *_ = project["project"]["entry-points"]["elision"].items()
    (tmp_path / f"{value}.py").write_text(module, encoding="utf-8")
    quick = check.replace("keep_last=0", "keep_last=0, max_examples=3")
    (tmp_path / f"test_{value}.py").write_text(quick, encoding="utf-8")
    (tmp_path / "chain.yaml").write_text(blocks(PLUGINS, "yaml")[0].text, encoding="utf-8")
    metadata = tmp_path / "acme-0.1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: acme\nVersion: 0.1.0\n", encoding="utf-8")
    (metadata / "entry_points.txt").write_text(f"[elision]\n{name} = {value}\n", encoding="utf-8")
    (tmp_path / "use.py").write_text(USE, encoding="utf-8")
    environ = {**os.environ, "PYTHONPATH": str(tmp_path), "PYTEST_ADDOPTS": ""}
    for command in ([tmp_path / "use.py"], ["-m", "pytest", "-q", "-p", "no:cacheprovider"]):
        done = python(*command, cwd=tmp_path, env=environ)

        assert done.returncode == 0, done.stdout + done.stderr


USE = '''
import elision

call = {"id": "a", "type": "function", "function": {"name": "run_tests", "arguments": "{}"}}
output = """before
Traceback (most recent call last):
  File "a.py", line 1, in <module>
    1 / 0
ZeroDivisionError: division by zero
after
"""
step = [
    {"role": "assistant", "content": "", "tool_calls": [call]},
    {"role": "tool", "tool_call_id": "a", "content": output},
]
view = elision.load("chain.yaml").process([{"role": "user", "content": "go"}, *step, *step])
assert view.messages[2]["content"] == "before\\nZeroDivisionError: division by zero\\nafter\\n", view.messages[2]
assert view.messages[4]["content"] == output
'''
