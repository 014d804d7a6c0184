"""Faults that users met in other systems: offload paths and permissions, and crashes, against ``offload`` itself."""

from __future__ import annotations

import copy
import json
import os
from pathlib import Path
from typing import Any

import pytest
from offload_runs import PATH, files
from removed import lost
from shared_data import shared
from wire_rules import wire_faults

import elision
from elision import SentView


@pytest.fixture(autouse=True)
def working_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def case(number: str) -> dict[str, Any]:
    (found,) = shared("bugcases").glob(f"{number}-*.json")
    return dict(json.loads(found.read_text(encoding="utf-8")))


def put_through(found: dict[str, Any], *processors: str, table: str = "none") -> tuple[SentView, elision.Archive]:
    """Run processors over a case, twice, and step by step; the history stays, and all that is gone can be had."""
    messages = copy.deepcopy(found["messages"])
    text = f"{{history_processors: [{', '.join(processors)}], classification: {table}, schedule: every_step}}"
    chain = elision.loads(text, archive="memory:")
    view = chain.process(found["messages"], dialect=found["style"])
    with chain.session() as session:
        views = [session.process(found["messages"][:stop]) for stop in range(1, len(messages) + 1)]

    assert found["messages"] == messages
    assert wire_faults(found["style"], view.messages) == []
    assert lost(view, chain.opened_archive) == {}
    assert chain.process(found["messages"], dialect=found["style"]).messages == views[-1].messages == view.messages
    return view, chain.opened_archive


def test_case_23_thought_signature_inside_the_call_id() -> None:
    found = case("23")
    view, _ = put_through(found, "{type: offload, threshold_chars: 2000}")
    (name,) = files()
    made = found["messages"][1]["tool_calls"][0]["id"]

    assert [message.get("tool_calls") for message in view.messages] == [m.get("tool_calls") for m in found["messages"]]
    assert view.messages[2]["tool_call_id"] == made
    assert len(name.encode()) <= 200
    assert not set(name) & set("/+")
    assert "thought" not in view.messages[2]["content"]


def test_case_23_a_failed_write_keeps_the_result_and_is_said() -> None:
    found = case("23")
    chain = elision.loads(
        "{history_processors: [{type: offload, threshold_chars: 2000}], classification: none}", archive="memory:"
    )
    Path(".elision").write_text("a file in the place of the folder")
    with pytest.warns(
        elision.ElisionWarning, match="'.elision' is a link or a file.*; the result stays in the request"
    ):
        view = chain.process(found["messages"])

    assert view.messages == found["messages"]


def test_case_42_trim_never_outruns_the_summary() -> None:
    """Nothing runs beside a request: each edit stands only when its file and its original are written.

    So with every result offloaded as it comes in, every message is sent, and what is gone from it is in its file.
    """
    found = case("42")
    view, _ = put_through(found, "{type: offload, threshold_chars: 1000, head_lines: 0, tail_lines: 0}")

    assert [message["role"] for message in view.messages] == [message["role"] for message in found["messages"]]
    for before, after in zip(found["messages"], view.messages, strict=True):
        path = PATH.search(str(after["content"]))
        assert (Path(path[1]).read_text() if path else after["content"]) == before["content"]


def test_case_48_content_as_list_of_blocks() -> None:
    """It is over the threshold in sum; the archive has the list.  One text alone may be a string at this provider."""
    found = case("48")
    view, archive = put_through(found, "{type: offload, threshold_chars: 4000}")
    (edit,) = view.edits

    assert str(view.messages[2]["content"]).count("offloaded to") == 1
    assert archive.get(edit.ref).content == found["messages"][2]["content"]


@pytest.mark.parametrize("table", ["none", "default"])
def test_case_50_read_back_is_not_offloaded_again(table: str) -> None:
    found = case("50")
    view, archive = put_through(found, "{type: offload, threshold_chars: 4000, folder: .archive}", table=table)

    assert view.messages == found["messages"]
    assert (files(".archive"), archive.stats().originals) == ([], 0)


def test_case_50_a_note_is_never_offloaded_or_archived_itself() -> None:
    found = case("23")
    chain = elision.loads(
        "{history_processors: [{type: offload, threshold_chars: 2000}], classification: none}", archive="memory:"
    )
    view = chain.process(found["messages"])
    again = elision.loads(
        "{history_processors: [{type: offload, threshold_chars: 100}], classification: none}", archive="memory:"
    )
    strict = elision.Chain(again.processors, archive=chain.opened_archive, classification=None)

    assert len(view.messages[2]["content"]) > 100
    assert strict.process(view.messages).messages == view.messages
    assert chain.opened_archive.stats().originals == len(files()) == 1


def test_case_51_archive_holds_the_real_bytes() -> None:
    found = case("51")
    found["messages"].append({"role": "assistant", "content": "Got it."})
    view, archive = put_through(
        found,
        "{type: truncate, threshold_chars: 4000, threshold_tokens: null}",
        "{type: clear_tool_results, keep: 0}",
        "{type: offload, threshold_chars: 10}",
    )
    refs = {edit.ref for edit in view.edits}

    assert len(view.edits) >= 2
    assert [archive.get(ref).content for ref in refs] == [found["messages"][2]["content"]]


def test_case_51_where_offload_is_first_its_file_has_the_real_bytes() -> None:
    found = case("51")
    put_through(found, "{type: offload, threshold_chars: 4000}", "{type: truncate, threshold_chars: 100}")
    (name,) = files()

    assert Path(".elision/offloaded", name).read_bytes() == found["messages"][2]["content"].encode()


def test_case_53_hostile_call_id_as_path() -> None:
    found = case("53")
    view, _ = put_through(found, "{type: offload, threshold_chars: 100}")
    (name,) = files()

    assert not set(name) & set("/\0\n")
    assert view.messages[1] == found["messages"][1]
    assert view.messages[2]["tool_call_id"] == found["messages"][2]["tool_call_id"]
    assert list(Path("/etc").glob("evil*")) == []


def test_case_53_a_link_in_place_of_the_target_is_not_followed(tmp_path: Path) -> None:
    found = case("53")
    put_through(found, "{type: offload, threshold_chars: 100}")
    (name,) = files()
    (tmp_path / "victim").write_text("mine")
    os.remove(Path(".elision/offloaded", name))
    Path(".elision/offloaded", name).symlink_to(tmp_path / "victim")
    chain = elision.loads(
        "{history_processors: [{type: offload, threshold_chars: 100}], classification: none}", archive="memory:"
    )
    with pytest.warns(elision.ElisionWarning, match="something else has this name"):
        view = chain.process(found["messages"])

    assert (tmp_path / "victim").read_text() == "mine"
    assert view.messages == found["messages"]


def test_case_56_torn_last_line() -> None:
    """No file is appended to: one that was torn has no name yet, and one that is cut later is noticed, not used."""
    found = case("23")
    put_through(found, "{type: offload, threshold_chars: 2000}")
    (name,) = files()
    path = Path(".elision/offloaded", name)
    path.write_bytes(path.read_bytes()[:100])
    chain = elision.loads(
        "{history_processors: [{type: offload, threshold_chars: 2000}], classification: none}", archive="memory:"
    )
    with pytest.warns(elision.ElisionWarning, match="something else has this name"):
        view = chain.process(found["messages"])

    assert view.messages == found["messages"]
    assert len(path.read_bytes()) == 100
