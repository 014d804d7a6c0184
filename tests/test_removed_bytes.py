"""Each byte that a view leaves out is in the archive, and comes back equal by its hash."""

from __future__ import annotations

import copy
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from removed import lost, missing, unexplained
from shared_data import shared

import elision
from elision import Chain, InputError, SentView, open_archive
from elision.config import shipped_chains
from elision.documents import Run, read_runs
from elision.testing import SHAPES, Conversation, Shape, call, conversation, image, result, text

SECRET = "AKIA" + "QYLPMN5HFIQR7XYA"  # an example of a key that opens nothing
LOG = "\n".join(f"line {number}: all is well here" for number in range(30))
CHAINS = {
    **{name: name for name in shipped_chains()},
    "clear": "history_processors: [{type: last_n_observations, n: 1}]\nclassification: none",
    "clear_by_table": "history_processors: [{type: last_n_observations, n: 1, placeholder: head}]",
    "clear_as_sweagent": "agent: {history_processors: [{type: last_n_observations, n: 2}]}",
    "tagged": """
        history_processors:
          - {type: tag_tool_call_observations, tags: [remove_output], function_names: [bash, read_file, search]}
          - {type: last_n_observations, n: 50}
        classification: none
    """,
    "nothing": "history_processors: [{type: default}]",
    "clear_tool_results": "history_processors: [{type: clear_tool_results, keep: 1}]\nschedule: every_step",
    "closed_window": "history_processors: [{type: closed_window}]\nclassification: none",
    "remove_regex": 'history_processors: [{type: remove_regex, remove: ["[a-m]+ "]}]\nclassification: none',
    "remove_regex_late": 'history_processors: [{type: remove_regex, remove: ["\\\\d+"], keep_last: 3}]',
    "image_parsing": "history_processors: [{type: image_parsing}]",
    "redact": "history_processors: [{type: redact}]",
    "redact_all": "history_processors: [{type: redact, policy: full}]",
    "cache_control": "history_processors: [{type: cache_control}]",
    **{
        name: f"history_processors: [{{type: call, target: 'elision.testing.functions:{name}'}}]\nclassification: none"
        for name in ("shortened", "trimmed", "noted")
    },
    "all": """
        history_processors:
          - {type: redact}
          - {type: image_parsing}
          - {type: remove_regex, remove: ["is \\\\w+"]}
          - {type: tag_tool_call_observations, tags: [keep_output], function_names: [search]}
          - {type: closed_window}
          - {type: last_n_observations, n: 3, polling: 2, placeholder: json}
          - {type: call, target: 'elision.testing.functions:trimmed'}
          - {type: cache_control}
    """,
}
PATIENT = {
    "anthropic_like",
    "deepagents_like",
    "default",
    "newest_first_emergency",
    "offline",
    "openhands_like",
    "provider_native",
    "two_stage",
}
"""Chains that act in longer runs than the shortest of those here."""
IDLE = {"nothing", "cache_control", "noted", "sweagent_default", *PATIENT}
"""Chains that remove nothing from those."""
RESTRUCTURE = {"trimmed", "noted", "all"}
pytestmark = pytest.mark.filterwarnings("ignore::elision.ElisionWarning")  # of tools that are not known
FOLDERS = ("anthropic", "cline", "gemini", "miniswe", "openai", "openhands", "sweagent")
"""Folders of recorded histories of which a dialect reads some."""
RECORDED_CHAINS = (*shipped_chains(), "clear", "clear_as_sweagent", "closed_window", "remove_regex")


@pytest.fixture(autouse=True)
def working_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Results that are offloaded go there."""
    monkeypatch.chdir(tmp_path)


def made(shape: Shape) -> Conversation:
    """Return a conversation with results of every kind, some of them equal, in one batch where the shape can."""
    one = shape.endswith("_text")
    lines = "\n".join(f"{number}:    value_{number} = {number}" for number in range(1, 20))
    window = f"[File: /repo/a.py (90 lines total)]\n{lines}\n(71 more lines below)"
    picture = "see ![plot](data:image/png;base64,iVBORw0KGgo=) there"
    run = conversation(shape).system("You are careful.").user("Fix a.py, which is 9 lines long.")
    run = run.step("I look.", call("bash", command="cat a.py"), result(LOG))
    run = run.step("Again.", call("bash", command="cat a.py"), result(LOG))
    run = run.step(call("bash", command="open a.py"), result(window))
    run = run.step(call("bash", command="open a.py"), result(window))
    run = run.step(call("bash", command="env"), result(f"AWS_KEY={SECRET}\nHOME=/home/ada\r\n\x1b[0m\tend\n\n"))
    run = run.step(call("bash", command="plot"), result(picture))
    if not one:
        both = (call("bash", command="ls"), call("bash", command="ls -R"), call("bash", command="git commit -m x"))
        run = run.step(*both, result("a.py\nb.py\n" * 9), result("a.py\nb.py\n" * 9), result("[main 1a2b3c4] x"))
        if not shape.startswith("miniswe"):
            run = run.step(call("bash", command="show"), result(text("first " * 9), image(), text("second " * 9)))
    return run.step("Done soon.", call("bash", command="pytest"), result("9 passed " * 9)).step("Done.")


def chain(name: str, archive: elision.Archive) -> Chain:
    loaded = _loaded(name)
    return Chain(
        loaded.processors,
        compat=loaded.compat,
        classification=loaded.table,
        archive=archive,
    )


@cache
def _loaded(name: str) -> Chain:
    found = CHAINS[name]
    return elision.loads(found) if ":" in found else elision.load(found)


def complain(name: str, view: SentView, archive: elision.Archive) -> list[str]:
    """Return what is wrong with a view: a text that is gone for good, a change that no edit explains."""
    told = [f"{text[:60]!r} is lost" for text in lost(view, archive)]
    told += [f"message {position} changed without an edit" for position in _unexplained(name, view)]
    return [*told, *(failure.told for failure in view.failures), *archive.verify().problems]


def _unexplained(name: str, view: SentView) -> list[int]:
    moved = name in RESTRUCTURE or view.repairs or any(edit.action in ("drop", "insert") for edit in view.edits)
    return [] if moved else unexplained(view)


@pytest.mark.parametrize("name", CHAINS)
def test_each_removed_byte_of_a_made_history_is_recalled_and_equal(name: str) -> None:
    wrong: dict[Shape, list[str]] = {}
    removes = False
    for shape in SHAPES:
        messages = made(shape).messages()
        before = copy.deepcopy(messages)
        with open_archive("memory:") as archive:
            view = chain(name, archive).process(messages, dialect=made(shape).dialect)
            wrong[shape] = complain(name, view, archive)
        removes = removes or bool(missing(view.history, view.messages))

        assert messages == before, shape
    assert wrong == {shape: [] for shape in SHAPES}
    assert removes == (name not in IDLE)


@pytest.mark.parametrize("name", CHAINS)
def test_each_removed_byte_of_the_sample_run_is_recalled_and_equal_in_a_session_as_well(
    name: str, sample_run: Any
) -> None:
    messages = sample_run["messages"][:90]
    with open_archive("memory:") as archive, chain(name, archive).session("run") as session:
        for stop in range(1, len(messages), 7):
            view = session.process(messages[:stop])
            assert complain(name, view, archive) == []
        last = session.process(messages)

        assert complain(name, last, archive) == []
        assert last.messages == chain(name, archive).process(messages).messages


@pytest.mark.parametrize("shape", ["openai", "anthropic"])
def test_what_stands_beside_a_text_in_its_block_comes_back_with_it(shape: Shape) -> None:
    block = {"type": "text", "text": LOG, "citations": [{"url": "https://example.org/only-here"}]}
    run = (
        conversation(shape)
        .user("Go.")
        .step(call("read_file", path="a"), result(LOG))
        .step(call("read_file", path="b"), result("x"))
    )
    messages = run.messages()
    if shape == "anthropic":
        messages[2]["content"][0]["content"] = [block]
    else:
        messages[2]["content"] = [block]
    with open_archive("memory:") as archive:
        view = chain("clear", archive).process(messages, dialect=shape)

        assert len(view.edits) == 1
        assert lost(view, archive) == {}


@pytest.mark.parametrize("name", ["default", "clear", "all", "redact"])
def test_each_removed_byte_is_recalled_by_another_process_from_the_disk(
    name: str, sample_run: Any, tmp_path: Path
) -> None:
    with open_archive(tmp_path / "archive", environ={}) as archive, chain(name, archive).session("run") as session:
        for stop in range(10, 60, 10):
            view = session.process(sample_run["messages"][:stop])
    with open_archive(tmp_path / "archive", environ={}) as again:
        assert complain(name, view, again) == []


@cache
def _runs(folder: Path) -> list[Run]:
    """Return the runs of a folder that a dialect reads, some of those of a file that has many."""
    found: list[Run] = []
    for path in sorted(folder.iterdir()):
        try:
            runs = read_runs(path)
        except InputError as error:
            print(f"not read so far: {error}")
            continue
        found += runs[:: max(1, len(runs) // 4)]
    return found


@pytest.mark.parametrize("name", RECORDED_CHAINS)
@pytest.mark.parametrize("folder", FOLDERS)
def test_for_every_recorded_history_and_every_shipped_chain_each_removed_byte_is_recalled_and_equal(
    folder: str, name: str
) -> None:
    for run in _runs(shared("data", folder)):
        with open_archive("memory:") as archive:
            try:
                view = chain(name, archive).process(run.messages, system=run.system, tools=run.tools, model=run.model)
            except elision.OverBudgetError as error:
                print(f"sent nowhere, as it fits into no request: {error}")
                continue

            assert complain(name, view, archive) == []
