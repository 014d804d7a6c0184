"""What was asked for of ``offload``, and the lines of the brief that it answers for."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from offload_runs import FOLDER, files, lines, paths, quietly, results
from scheduled_runs import requests, words

import elision
from elision import SentView
from elision.testing import call, conversation, result

MODEL = "gpt-4o"
WINDOW = 128_000


@pytest.fixture(autouse=True)
def working_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def written(view: SentView) -> list[str]:
    """Return what the calls in a view say that they wrote."""
    calls = [made["function"] for message in view.messages for made in message.get("tool_calls", ())]
    given = [json.loads(made["arguments"]) for made in calls if made["name"] in {"write_file", "edit_file"}]
    return [arguments.get("content") or arguments["new_string"] for arguments in given]


def test_a_result_over_20000_tokens_goes_to_a_file_path_and_preview_stay() -> None:
    under, over = words(19_990), lines(4000)
    run = (
        conversation().user("Go.").step(call("search", q="a"), result(under)).step(call("search", q="b"), result(over))
    )
    view = elision.load("deepagents_like", archive="memory:").process(run.step("Done.").messages(), model=MODEL)
    (path,) = paths(view)

    assert results(view)[0] == under
    assert Path(path).read_text() == over
    assert "line 0 of the output" in results(view)[1]
    assert "line 3999 of the output" in results(view)[1]
    assert view.tokens.after < 21_000


def test_old_write_and_edit_arguments_become_pointers_when_the_window_passes_85_percent() -> None:
    run = conversation().user("Write the program.")
    for number in range(32):
        run = run.step(call("write_file", path=f"{number}.py", content=words(2000)), result("written"))
        run = run.step(call("edit_file", path=f"{number}.py", new_string=words(1500)), result("edited"))
    chain = elision.load("deepagents_like", archive="memory:")
    begun: dict[bool, list[SentView]] = {True: [], False: []}
    with chain.session() as session:
        for messages in requests(run.step("Done.").messages()):
            view = quietly(session, messages, model=MODEL)
            begun[view.tokens.before > 0.85 * WINDOW].append(view)
    whole, late = begun[False][-1], begun[True][-1]

    assert [text for text in written(whole) if "recall" in text or "ref " in text] == []
    assert [text.startswith("[") for text in written(late)].count(True) >= 50
    assert not any(text.startswith("[") for text in written(late)[-10:])
    assert late.tokens.after < 0.3 * WINDOW
    for edit in late.edits:
        if edit.operation == "clear_inputs":
            assert json.loads(str(chain.opened_archive.get(edit.ref).content))["path"].endswith(".py")


def test_only_then_a_summary_and_the_full_original_messages_are_in_the_archive() -> None:
    run = conversation().user("Write the program; never touch the release branch.")
    chain = elision.load("deepagents_like", archive="memory:")
    summed: list[SentView] = []
    with chain.session() as session:
        for number in range(48):
            run = run.step(call("write_file", path=f"{number}.py", content=words(1500)), result("written"))
            run = run.step(call("read_file", path=f"{number}.txt"), result(words(4000)))
            view = quietly(session, run.messages(), model=MODEL)
            summed += [view] if any(edit.operation == "summarize" for edit in view.edits) else []
            assert view.tokens.after < WINDOW

    first = summed[0]
    assert "clear_inputs" in {edit.operation for edit in first.edits}
    assert "never touch the release branch" in str(first.messages)
    dropped = [edit.ref for edit in first.edits if edit.operation == "summarize" and edit.ref]
    assert dropped
    for ref in dropped:
        called, answered = chain.opened_archive.get(ref).content
        assert called["tool_calls"][0]["function"]["name"] == "read_file"
        assert answered["content"] == words(4000)


@pytest.mark.parametrize("shape", ["openai", "anthropic", "responses", "gemini"])
def test_ten_parallel_results_of_3k_tokens_against_a_20k_budget_are_bounded_and_valid(shape: Any) -> None:
    made = [call("search", q=str(number)) for number in range(10)]
    found = [result(lines(500, f"{number}")) for number in range(10)]
    run = conversation(shape).user("Search.").step(*made, *found).step("Done.")
    chain = elision.loads(
        "history_processors: [{type: offload, batch_tokens: 20000, head_lines: 3, tail_lines: 3}]", archive="memory:"
    )
    view = chain.process(run.messages(), dialect=run.dialect)

    assert view.tokens.before > 30_000
    assert view.tokens.after <= 20_500
    assert (view.repairs, view.failures, view.pending) == ((), (), ())
    assert len(files(FOLDER)) == len(view.edits) < 10
