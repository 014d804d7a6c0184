"""The pages on chain files, on the view and on placeholders name everything, and what they say holds."""

from __future__ import annotations

import dataclasses
import inspect
import os
import re
from pathlib import Path
from typing import Any, get_args

import pytest
from doc_blocks import ROOT, blocks
from forked import Python

import elision
from elision import AppliedEdit, Failure, Pending, Refusal, SentView, Tokens, registry
from elision.config import lint
from elision.config.options import ChainOptions
from elision.repair import Repair
from elision.testing import call, conversation, result

CONFIG, VIEW, PLUGINS = (
    (ROOT / "docs" / name).read_text(encoding="utf-8") for name in ("config.md", "view.md", "plugins.md")
)
RECORDS: list[Any] = [AppliedEdit, Refusal, Failure, Repair, Pending, Tokens]


def named(text: str, heading: str) -> set[str]:
    """Return the names in the first column of the table under a heading."""
    _, _, rest = text.partition(f"\n{heading}\n")
    rows = re.findall(r"^\| (`.*?) \|", re.split(r"^#", rest, maxsplit=1, flags=re.M)[0], re.M)
    return {name for row in rows for name in re.findall(r"`(\w+)(?:\(\))?`", row)}


def test_every_key_of_a_chain_file_is_on_its_page_with_its_default() -> None:
    fields = ChainOptions.model_fields

    assert named(CONFIG, "## Keys") == {"history_processors", *fields}
    for name, option in fields.items():
        assert f"| `{name}` | {'none' if option.default is None else f'`{option.default}`'} |" in CONFIG


def test_every_dialect_is_on_the_page_of_chain_files() -> None:
    dialects = {dialect.name for dialect in registry.plugins().dialects()}

    assert [name for name in dialects if f"`{name}`" not in CONFIG] == []


def test_the_retry_agent_on_the_page_of_chain_files_has_two_chains() -> None:
    (text,) = (block.text for block in blocks(CONFIG, "yml"))

    assert [problem for problem in lint(text, "retry.yaml") if problem.severity != "note"] == []
    assert len(elision.loads(text, attempt=0).processors) == 1
    assert elision.loads(text, attempt=1).processors == ()


def test_everything_public_of_the_view_is_on_its_page() -> None:
    public = {field.name for field in dataclasses.fields(SentView)}
    public |= {name for name in vars(SentView) if not name.startswith("_")}

    assert named(VIEW, "## What comes back") == public


@pytest.mark.parametrize("record", RECORDS, ids=lambda record: record.__name__)
def test_every_field_of_a_record_of_the_view_is_on_its_page(record: Any) -> None:
    assert named(VIEW, f"### `{record.__name__}`") >= set(inspect.signature(record).parameters)


@pytest.mark.parametrize("process", [elision.Chain.process, elision.Session.process])
def test_every_argument_of_process_is_on_the_page_of_the_view(process: Any) -> None:
    assert named(VIEW, "## What `process` takes") == set(inspect.signature(process).parameters) - {"self"}


def test_every_fault_that_is_mended_is_on_the_page_of_the_view() -> None:
    faults = get_args(inspect.get_annotations(Repair, eval_str=True)["fault"])

    assert [fault for fault in faults if f"`{fault}`" not in VIEW] == []


def test_the_readme_leads_to_both_pages() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")

    assert "](docs/config.md)" in readme
    assert "](docs/view.md)" in readme


def test_the_program_on_the_page_of_the_view_makes_a_request_of_its_own() -> None:
    found: dict[str, Any] = {}
    for block in blocks(VIEW, "python"):
        exec(block.text, found)  # noqa: S102 (the page's own program)

    assert found["body"].keys() == found["request"].keys()
    assert found["body"]["messages"] == found["view"].messages != found["request"]["messages"]


def test_cache_breakpoints_are_edits_and_only_messages_are_counted() -> None:
    request = conversation("anthropic").system("Mend it.").user("Go.").step(call("ls"), result("a.py")).request()
    chain = elision.load("cache_control")
    bare, full = (chain.process({**request, "tools": tools}) for tools in (None, [{"name": "ls", "description": "x"}]))

    assert {edit.action for edit in bare.edits} == {"set_cache_breakpoint"}
    assert bare.tokens == full.tokens == chain.process(request["messages"], dialect="anthropic").tokens


CHECK = """
from elision.testing import check_processor
from acme_cut import CutOld
check_processor(CutOld, max_examples=5, keep_last=0, keep_lines=1)
"""


@pytest.mark.parametrize("leaves_its_own_alone", [True, False])
def test_a_mark_of_a_plugin_is_left_alone_by_the_two_lines_of_its_page(
    leaves_its_own_alone: bool, tmp_path: Path, python: Python
) -> None:
    _, _, module = (block.text for block in blocks(PLUGINS, "python"))
    two_lines = re.compile(r" +if lines and lines\[-1\]\.endswith.*\n +continue\n")
    (tmp_path / "acme_cut.py").write_text(
        module if leaves_its_own_alone else two_lines.sub("", module), encoding="utf-8"
    )
    metadata = tmp_path / "acme-0.1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: acme\nVersion: 0.1.0\n", encoding="utf-8")
    (metadata / "entry_points.txt").write_text("[elision]\nacme = acme_cut\n", encoding="utf-8")
    environ = {**os.environ, "PYTHONPATH": str(tmp_path)}
    done = python("-c", CHECK, cwd=tmp_path, env=environ)

    assert two_lines.search(module)
    assert (done.returncode == 0) == leaves_its_own_alone, done.stderr
    assert ("CutOld breaks the contract: idempotent: " in done.stderr) != leaves_its_own_alone
