"""What the people who asked for this expect, as checks; docs/acceptance.md lists them."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from importlib.metadata import requires
from pathlib import Path
from typing import Any

import pytest

import elision
from elision.convert import convert
from elision.dialect import by_name
from elision.registry import plugins

ROOT = Path(__file__).parents[1]
MESSAGES: list[dict[str, Any]] = json.loads((ROOT / "examples/sample_run.json").read_text(encoding="utf-8"))["messages"]


def test_processors_are_registered_through_pluggy_hooks_and_run_in_the_order_that_yaml_declares() -> None:
    one = elision.loads("""
        history_processors:
          - {type: remove_regex, remove: [File]}
          - {type: remove_regex, remove: [Files]}
    """)
    other = elision.loads("""
        history_processors:
          - {type: remove_regex, remove: [Files]}
          - {type: remove_regex, remove: [File]}
    """)
    history = [{"role": "user", "content": "Files: a File"}]

    assert plugins().owner("elision_processors", "remove_regex") == "builtin"
    assert one.process(history).messages[0]["content"] == "s: a "
    assert other.process(history).messages[0]["content"] == ": a "


def test_at_the_top_level_stand_processors_plugins_configs_tests_templates_pyproject_and_readme() -> None:
    names = ["processors", "plugins", "configs", "tests", "templates", "pyproject.toml", "README.md"]

    assert [name for name in names if not (ROOT / name).exists()] == []


def test_the_packages_that_were_asked_for_each_do_real_work() -> None:
    """A chain that elides loads pluggy, pyyaml and jinja2; counting loads tiktoken, with litellm's vocabularies."""
    code = """
        import json, sys, elision
        view = elision.loads("history_processors: [{type: last_n_observations, n: 5}]").process(json.load(sys.stdin))
        assert any(edit.elides for edit in view.edits)
        before = sorted(name for name in ("jinja2", "litellm", "pluggy", "tiktoken", "yaml") if name in sys.modules)
        from elision.tokens.vocabularies import offline_vocabularies
        print(json.dumps([before, view.tokens.after < view.tokens.before, "litellm" in str(offline_vocabularies())]))
    """
    done = subprocess.run(
        [sys.executable, "-c", "\n".join(line.removeprefix(" " * 8) for line in code.splitlines())],
        input=json.dumps(MESSAGES),
        capture_output=True,
        text=True,
        check=True,
        env={name: value for name, value in os.environ.items() if name != "TIKTOKEN_CACHE_DIR"},
    )
    names = {re.split(r"[^\w-]", requirement)[0].lower() for requirement in requires("elision") or ()}

    assert json.loads(done.stdout) == [["jinja2", "pluggy", "yaml"], True, True]
    assert {"pluggy", "pyyaml", "jinja2", "tiktoken", "litellm"} <= names


def test_the_message_stays_and_its_content_is_replaced_so_call_and_result_are_always_paired() -> None:
    chain = elision.loads("{history_processors: [{type: last_n_observations, n: 1}], classification: none}")
    view = chain.process(MESSAGES)
    shape = [(m["role"], m.get("tool_call_id"), [c["id"] for c in m.get("tool_calls", ())]) for m in MESSAGES]

    assert [
        (m["role"], m.get("tool_call_id"), [c["id"] for c in m.get("tool_calls", ())]) for m in view.messages
    ] == shape
    assert sum(edit.elides for edit in view.edits) > 100


@pytest.mark.parametrize("name", ["openai", "anthropic", "sweagent", "miniswe"])
def test_the_same_run_written_in_another_dialect_gives_the_same_elisions(name: str) -> None:
    chain = elision.loads("""
        history_processors:
          - {type: tag_tool_call_observations, function_names: [search]}
          - {type: last_n_observations, n: 6, polling: 4}
          - {type: closed_window}
    """)
    known = plugins().dialects()
    written = convert(MESSAGES, by_name(known, "openai"), by_name(known, name)).messages
    edits = chain.process(written, dialect=name).edits

    assert [(e.processor, e.tool, e.chars_before, e.chars_after) for e in edits if e.action == "elide"] == [
        (e.processor, e.tool, e.chars_before, e.chars_after)
        for e in chain.process(MESSAGES).edits
        if e.action == "elide"
    ]


def test_every_test_that_the_list_of_checks_names_is_there() -> None:
    listed = re.findall(r"`(tests/[\w/]+\.py)(?:::(\w+))?`", (ROOT / "docs/acceptance.md").read_text(encoding="utf-8"))
    missing = [
        f"{path}::{name}"
        for path, name in listed
        if not (ROOT / path).exists() or f"def {name}" not in (ROOT / path).read_text(encoding="utf-8")
    ]

    assert len(listed) > 20
    assert missing == []
