"""Every recorded history of these dialects goes through unchanged."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from shared_data import shared_files

import elision
from elision.dialect import detect
from elision.documents import Run, read_runs
from elision.registry import plugins

DIALECTS = ("sweagent", "miniswe", "openai", "anthropic")
RECORDED = [
    (path, name)
    for name in DIALECTS
    for path in shared_files("data", name)
    if "responses" not in path.name and "openaiagents" not in path.name  # items: test_dialect_recorded_items.py
]
OTHERS = [
    path
    for folder in ("claude-code", "codex", "gemini", "openhands", "cline", "other", "atif")
    for path in shared_files("data", folder)
]
# Files beside the folders of their dialects that are histories all the same.
READABLE = {
    "adk_flow_complex_spark.session.json": {"gemini"},
    "agentsessions_codex_large.jsonl": {"responses"},
    "agentsessions_codex_small.jsonl": {"responses"},
    "agentsview_function_calls.jsonl": {"responses"},
    "ccsessioncore_codex_rollout.jsonl": {"responses"},
    "cline_agentic.compaction.json": {"openai"},
    "cline_session.messages.json": {"anthropic"},
    "pydanticai_test_cross_provider_capability_replay__google-gemini-3-flash-preview-anthropic-claude-sonnet-4-5"
    ".exchange.json": {"anthropic", "gemini"},
    "pydanticai_test_thinking_with_tool_calls_from_other_model.exchange.json": {"gemini", "responses"},
    "sdk_fncall-llm-message.json": {"openai"},
    "sdk_llmlog_sonnet4_first.json": {"openai"},
    "sdk_llmlog_sonnet4_last.json": {"openai"},
    "sdk_nonfncall-llm-message.json": {"openai"},
}


def runs(path: Path) -> list[Run]:
    """The runs of a file; none where it is of a wire that has no dialect yet, which must be said in one line."""
    try:
        return read_runs(path)
    except elision.InputError as error:
        told = str(error)

    assert "\n" not in told
    assert "no dialect fits yet" in told or "not JSON" in told
    return []


@pytest.mark.parametrize(("path", "name"), [pytest.param(*case, id=case[0].name) for case in RECORDED])
def test_a_recorded_history_is_read_by_its_own_dialect_and_sent_as_the_very_same_objects(path: Path, name: str) -> None:
    found = runs(path)

    assert found
    for run in found:
        view = elision.Chain([]).process(
            run.messages, dialect=detect(plugins().dialects(), run.messages, run.document).name
        )
        assert view.dialect == name
        assert len(view.messages) == len(run.messages)
        assert all(sent is given for sent, given in zip(view.messages, run.messages, strict=True))
        assert not view.repairs


@pytest.mark.parametrize(("path", "name"), [pytest.param(*case, id=case[0].name) for case in RECORDED])
def test_writing_the_same_content_back_gives_the_same_json(
    path: Path, name: str, dialect: Callable[[str], elision.Dialect], read: Callable[..., elision.History]
) -> None:
    reader = dialect(name)
    for run in runs(path):
        for message in read(name, run.messages).messages:
            written = reader.patch(message, elision.Patch(contents=same_contents(message)))
            assert json.dumps(written, sort_keys=True) == json.dumps(message.raw, sort_keys=True)


@pytest.mark.parametrize(("path", "name"), [pytest.param(*case, id=case[0].name) for case in RECORDED])
def test_a_breakpoint_that_is_set_and_taken_away_leaves_no_trace_but_the_form_of_the_content(
    path: Path, name: str, dialect: Callable[[str], elision.Dialect]
) -> None:
    reader = dialect(name)
    for run in runs(path)[:3]:
        history = elision.History(reader.wire)
        for raw in run.messages:
            message = reader.parse(raw, history)
            marked = reader.parse(reader.patch(message, elision.Patch(mark=True)), history)
            cleared = reader.parse(reader.patch(marked, elision.Patch(mark=False)), history)
            assert marked.marks <= 1
            assert cleared.marks == 0
            assert texts(cleared) == texts(message)
            history.append(message)


@pytest.mark.parametrize(("path", "name"), [pytest.param(*case, id=case[0].name) for case in RECORDED])
def test_every_call_of_a_recorded_history_has_its_result_but_the_last(
    path: Path, name: str, read: Callable[..., elision.History]
) -> None:
    for run in runs(path):
        history = read(name, run.messages)
        assert not history.faults.orphans
        assert [step.index for step, _, _ in history.unanswered()] in ([], [len(history.steps) - 1])


@pytest.mark.parametrize("path", [pytest.param(path, id=path.name) for path in OTHERS])
def test_other_recordings_have_a_dialect_or_one_clear_line(path: Path) -> None:
    found = {detect(plugins().dialects(), run.messages, run.document).name for run in runs(path)}

    assert found == READABLE.get(path.name, set())


def same_contents(message: elision.Message) -> dict[int, tuple[elision.Content, ...]]:
    return {
        index: part.content if isinstance(part, elision.ToolResult) else (part,)
        for index, part in enumerate(message.parts)
        if isinstance(part, elision.Text | elision.ToolResult)
    }


def texts(message: elision.Message) -> list[Any]:
    found: list[Any] = []
    for part in message.parts:
        if isinstance(part, elision.Text):
            found.append(part.text)
        elif isinstance(part, elision.ToolResult):
            found.append([piece.text for piece in part.content if isinstance(piece, elision.Text)])
    return found
