"""Recorded items of the Responses API and recorded contents of Gemini: read, sent as they are, and cut down."""

from __future__ import annotations

import json
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from shared_data import shared, shared_files
from wire_rules import wire_faults

import elision
from elision.dialect import detect
from elision.documents import read_runs
from elision.registry import plugins

FOLDERS = ("codex", "gemini", "openai", "other")
NAMES = ("responses", "gemini")
CHAINS = {
    "nothing": "history_processors: []",
    "default": "default",
    "last_n": "history_processors: [{type: last_n_observations, n: 1}]\nclassification: none",
    "last_n_polling": "history_processors: [{type: last_n_observations, n: 1, polling: 2}]\nclassification: none",
}
pytestmark = pytest.mark.filterwarnings("ignore::elision.ElisionWarning")  # of tools that are not known


def runs_of(path: Path) -> list[tuple[str, list[Any]]]:
    """The runs of a file that are of these dialects, with the dialect of each."""
    try:
        runs = read_runs(path)
    except elision.InputError:
        return []
    found = [(detect(plugins().dialects(), run.messages, run.document).name, list(run.messages)) for run in runs]
    return [(name, messages) for name, messages in found if name in NAMES]


RECORDED = [
    pytest.param(name, messages, id=f"{path.stem[:60]}-{number}")
    for folder in FOLDERS
    for path in shared_files("data", folder)
    for number, (name, messages) in enumerate(runs_of(path))
]


def test_there_are_recordings_of_both_wires() -> None:
    shared("data", "MANIFEST.tsv")
    names = [param.values[0] for param in RECORDED]

    assert (names.count("responses") >= 14, names.count("gemini") >= 3) == (True, True)


@pytest.mark.parametrize("chain", CHAINS)
@pytest.mark.parametrize(("name", "messages"), RECORDED)
def test_what_no_edit_touched_is_sent_as_the_very_object(name: str, messages: list[Any], chain: str) -> None:
    before = deepcopy(messages)
    loaded = elision.loads(CHAINS[chain]) if ":" in CHAINS[chain] else elision.load(CHAINS[chain])
    view = loaded.process(messages, dialect=name)

    assert messages == before
    assert wire_faults(name, view.messages) == []
    if not view.repairs:
        edited = {edit.position for edit in view.edits}
        pairs = list(enumerate(zip(view.messages, messages, strict=True)))
        assert [at for at, (sent, given) in pairs if (sent is given) == (at in edited)] == []


@pytest.mark.parametrize(("name", "messages"), RECORDED)
def test_writing_the_same_content_back_gives_the_very_object(
    name: str, messages: list[Any], dialect: Callable[[str], elision.Dialect], read: Callable[..., elision.History]
) -> None:
    reader = dialect(name)
    for message in read(name, messages).messages:
        same = {
            index: part.content if isinstance(part, elision.ToolResult) else (part,)
            for index, part in enumerate(message.parts)
            if isinstance(part, elision.Text | elision.ToolResult)
        }
        assert reader.patch(message, elision.Patch(contents=same)) is message.raw


@pytest.mark.parametrize(("name", "messages"), RECORDED)
def test_reasoning_compactions_and_signatures_are_replayed_whole(name: str, messages: list[Any]) -> None:
    view = elision.loads(CHAINS["last_n"]).process(messages, dialect=name)
    sent = [json.dumps(message, sort_keys=True) for message in view.messages]
    secrets = [
        json.dumps(value)
        for message in messages
        for holder in [message, *message.get("parts", ())]
        for key, value in holder.items()
        if key in {"encrypted_content", "thoughtSignature"}
    ]

    assert [secret for secret in secrets if not any(secret in line for line in sent)] == []
