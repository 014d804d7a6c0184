"""Plugins offer tables, and say what they know of calls."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pytest

import elision
from elision import ToolCall, hookimpl
from elision.classification import load_table
from elision.registry import plugins


class Answer:
    """A plugin that answers with what it is told to."""

    def __init__(self, answer: Any) -> None:
        self.answer = answer
        self.asked: list[tuple[ToolCall, Mapping[str, Any]]] = []

    @hookimpl
    def elision_classify(self, call: ToolCall, meta: Mapping[str, Any]) -> Any:
        """Answer."""
        self.asked.append((call, meta))
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


@pytest.fixture
def answering() -> Iterator[Callable[[Any], Answer]]:
    """Register a plugin with an answer, for one test."""
    registered: list[Answer] = []

    def register(answer: Any) -> Answer:
        plugin = Answer(answer)
        plugins().manager.register(plugin)
        registered.append(plugin)
        return plugin

    yield register
    for plugin in registered:
        plugins().manager.unregister(plugin)


def classes(tool: str, arguments: Any = None, status: Any = None) -> list[str]:
    found = load_table("default").classify(ToolCall("c", tool, arguments or {}), status, {"x": 1})
    return sorted(found.classes)


@pytest.mark.parametrize("answer", ["static", ["static"], ("static",), frozenset({"static"})])
def test_an_answer_takes_the_place_of_unknown(answering: Callable[[Any], Answer], answer: Any) -> None:
    answering(answer)

    assert classes("frobnicate") == ["static"]
    assert classes("bash", {"command": "python deploy.py"}) == ["static"]
    assert classes("frobnicate", status="error") == ["error", "static"]


def test_an_answer_cannot_take_a_class_away(answering: Callable[[Any], Answer]) -> None:
    answering(["static"])

    assert classes("create_issue") == ["receipt", "static"]


def test_without_an_answer_the_table_decides(answering: Callable[[Any], Answer]) -> None:
    plugin = answering(None)

    assert classes("read_file", {"path": "a"}, "ok") == ["static"]
    assert plugin.asked == [(ToolCall("c", "read_file", {"path": "a"}), {"status": "ok", "annotations": {"x": 1}})]


@pytest.mark.parametrize("answer", [RuntimeError("no"), ["statik"], [5], 7])
def test_an_answer_that_cannot_be_used_leaves_the_result_unknown(
    answering: Callable[[Any], Answer], answer: Any
) -> None:
    answering(answer)

    assert classes("read_file", {"path": "a"}) == ["static", "unknown"]


def test_a_table_of_a_plugin_is_loaded_and_extended_by_name() -> None:
    class Offers:
        @hookimpl
        def elision_tables(self) -> Mapping[str, str]:
            """Offer one."""
            return {"acme": "extends: mcp\nrules: [{tool: frobnicate, class: static}]\n"}

    from elision.registry import Plugins

    own = Plugins(plugins().manager)
    offers = Offers()
    own.manager.register(offers)
    try:
        offered = own.tables()["acme"]
    finally:
        own.manager.unregister(offers)

    assert "frobnicate" in offered
    assert set(plugins().tables()) <= set(own.tables())


def test_loading_a_table_loads_no_parser_and_no_model_library() -> None:
    import subprocess
    import sys

    code = (
        "import sys, json; from elision.classification import load_table; load_table('default'); "
        "print(json.dumps([n for n in ('tree_sitter', 'wcmatch', 'litellm', 'tiktoken') if n in sys.modules]))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert json.loads(done.stdout) == []
    assert elision.__version__
