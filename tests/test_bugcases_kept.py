"""Faults that users met in other systems: lost instructions and receipts, split pairs, paths of archives, crashes.

The edits are those of processors made of one function, which stand for the ones that the cases name: offload,
truncate, summarise and the like.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from guarded import Plan, planned
from removed import lost
from shared_data import shared
from wire_rules import wire_faults

import elision
from elision import Edit, Operation, Processor, SentView, View
from elision.archive import Entry

SHORT: Plan = lambda view: [o.elide() for o in view.observations if o.age]  # noqa: E731
CUT: Plan = lambda view: [o.replace(o.text[:40]) for o in view.observations if len(o.text) > 40]  # noqa: E731
REMOVAL: tuple[Operation, ...] = ("clear", "truncate", "slim", "offload", "summarize", "drop", "budget", "supersede")


def case(number: str) -> dict[str, Any]:
    found = sorted(shared("bugcases").glob(f"{number}-*.json"))
    return dict(json.loads(found[0].read_text(encoding="utf-8")))


def put_through(found: dict[str, Any], *processors: Processor, **options: Any) -> SentView:
    """Run processors over a case, twice; the stored history stays, and all that is gone can be had."""
    messages = copy.deepcopy(found["messages"])
    with elision.open_archive("memory:", environ={}) as archive:
        chain = elision.Chain(processors, archive=options.pop("archive", archive), **options)
        view = chain.process(found["messages"], dialect=found["style"])

        assert found["messages"] == messages
        assert wire_faults(found["style"], view.messages) == []
        assert lost(view, chain.opened_archive) == {}
        assert chain.process(found["messages"], dialect=found["style"]).messages == view.messages
    return view


@pytest.mark.parametrize("keep", range(1, 9))
def test_case_01_window_cuts_inside_tool_group(keep: int) -> None:
    """A window of the last messages moves to a boundary of a step: what it cuts off is asked for message by message."""
    found = case("01")

    def window(view: View) -> Iterable[Edit]:
        given = view.host_messages()
        return view.edits_from(given, [given[0], *given[1:][-keep:]])

    view = put_through(found, planned(window, operation="drop", touches=frozenset({"user"})))

    assert view.messages[0] == found["messages"][0]
    assert {edit.action for edit in view.edits} <= {"drop"}


def test_case_12_long_running_call_with_interim_result() -> None:
    """``pending`` in a result's text is text: only the host's facts decide.  A call without a result stays open."""
    found = case("12")
    summarise = planned(lambda view: [step.drop() for step in view.steps], operation="summarize")
    view = put_through(found, summarise)
    unanswered = {**found, "messages": found["messages"][:2]}

    assert "lr1" in str(view.messages)
    assert [call.call_id for call in put_through(unanswered, summarise).pending] == ["lr1"]
    assert put_through(unanswered, summarise).edits == ()


@pytest.mark.parametrize("operation", REMOVAL)
def test_case_29_skill_text_is_not_a_query(operation: Operation) -> None:
    found = case("29")
    drops = [planned(lambda view: [step.drop() for step in view.steps], operation=operation)]
    view = put_through(found, planned(CUT, operation=operation), planned(SHORT, operation=operation), *drops)

    assert view.messages[2:4] == found["messages"][2:4]
    assert {each.classes for each in view.refusals if each.call_id == "k1"} == {("skill",)}
    assert len(view.edits) > 4


def test_case_30_a_pinned_reminder_stays_once() -> None:
    """It is a user's message, which no processor leaves out; what summaries do with it comes with them."""
    found = case("30")
    view = put_through(found, planned(lambda view: [step.drop() for step in view.steps], operation="summarize"))

    assert str(view.messages).count("Skills on hand: release, lint.") == 1


@pytest.mark.parametrize("keep", range(1, 24, 3))
def test_case_31_first_task_and_system_stay(keep: int) -> None:
    found = case("31")

    def window(view: View) -> Iterable[Edit]:
        given = view.host_messages()
        return view.edits_from(given, given[-keep:])

    view = put_through(found, planned(window, operation="drop", touches=frozenset({"user", "system"})))

    assert view.messages[:2] == found["messages"][:2]
    assert len(view.messages) < len(found["messages"]) or keep > 20


@pytest.mark.parametrize("operation", REMOVAL)
def test_case_33_write_receipts_survive(operation: Operation) -> None:
    found = case("33")
    drops = planned(lambda view: [step.drop() for step in view.steps], operation=operation)
    view = put_through(found, planned(CUT, operation=operation), planned(SHORT, operation=operation), drops)

    assert view.messages[1:3] == found["messages"][1:3]
    assert {each.classes for each in view.refusals if each.call_id == "sm1"} == {("receipt",)}


@pytest.mark.parametrize("operation", ["clear", "offload", "truncate"])
def test_case_48_content_as_list_of_blocks(operation: Operation) -> None:
    """The archive gives back the same list of blocks, not a joined string; text that is replaced may be a string."""
    found = case("48")
    found["messages"].append({"role": "assistant", "content": "Seen."})
    with elision.open_archive("memory:", environ={}) as archive:
        plan = planned(CUT if operation == "truncate" else SHORT, operation=operation)
        view = put_through(found, plan, archive=archive, classification="none")
        (ref,) = {edit.ref for edit in view.edits}

        assert archive.get(ref).content == found["messages"][2]["content"]


def test_case_50_read_back_is_not_offloaded_again() -> None:
    """Recall is a tool of its own here, so a result that it brought is known by that; offload's files come with it."""
    found = case("50")
    for message in found["messages"]:
        for made in message.get("tool_calls", ()):
            if made["id"] == "o2":
                made["function"] = {"name": "recall", "arguments": '{"ref": "ab12ab12ab12"}'}
    view = put_through(found, planned(lambda view: [o.elide() for o in view.observations], operation="offload"))

    assert view.messages[4] == found["messages"][4]
    assert [each.classes for each in view.refusals if each.call_id == "o2"] == [("recalled",)]


def test_case_51_archive_holds_the_real_bytes() -> None:
    """Truncate, then clear, then offload: each archives what the first of them took in."""
    found = case("51")
    found["messages"].append({"role": "assistant", "content": "Got it."})
    truncate = planned(CUT, stage="entry", operation="truncate")
    clear = planned(lambda view: [o.replace(o.text[:20]) for o in view.observations if o.age], operation="clear")
    offload = planned(lambda view: [o.replace("[off]") for o in view.observations], operation="offload")
    with elision.open_archive("memory:", environ={}) as archive:
        view = put_through(found, truncate, clear, offload, archive=archive, classification="none")
        refs = {edit.ref for edit in view.edits}

        assert [edit.operation for edit in view.edits] == ["truncate", "clear", "offload"]
        assert [archive.get(ref).content for ref in refs] == [found["messages"][2]["content"]]
        assert archive.stats().originals == 1


def test_case_53_hostile_call_id_as_path(tmp_path: Path) -> None:
    """An original is a row, and a file only when it is exported; its name is made from its hash."""
    found = case("53")
    found["messages"].append({"role": "assistant", "content": "Fetched."})
    with elision.open_archive(tmp_path / "archive", environ={}) as archive:
        view = put_through(found, planned(SHORT), archive=archive, classification="none")
        archive.export(tmp_path / "out")
        written = [path for path in tmp_path.rglob("*") if path.is_file()]
        (record,) = archive.records()

    assert record.call_id == found["messages"][1]["tool_calls"][0]["id"]
    assert view.messages[2]["tool_call_id"] == found["messages"][2]["tool_call_id"]
    assert "evil" not in view.messages[2]["content"]
    assert [path.name for path in written if set(path.name) & set("\0\n/")] == []
    assert list(Path("/etc").glob("evil*")) == []


def test_case_53_a_link_in_the_place_of_an_exported_file_is_not_followed(tmp_path: Path) -> None:
    found = case("53")
    found["messages"].append({"role": "assistant", "content": "Fetched."})
    (tmp_path / "victim").write_text("mine")
    with elision.open_archive(tmp_path / "archive", environ={}) as archive:
        put_through(found, planned(SHORT), archive=archive, classification="none")
        archive.export(tmp_path / "first")
        (name,) = [path.name for path in (tmp_path / "first").rglob("*") if path.is_file() and "jsonl" not in path.name]
        (tmp_path / "out").mkdir()
        for place in ("out", "out/originals"):
            (tmp_path / place).mkdir(exist_ok=True)
            (tmp_path / place / name).symlink_to(tmp_path / "victim")
        with suppress(elision.ArchiveError):
            archive.export(tmp_path / "out")

    assert (tmp_path / "victim").read_text() == "mine"


def test_case_23_and_53_a_failed_write_keeps_the_original_and_is_said(tmp_path: Path) -> None:
    (tmp_path / "archive").write_text("a file in the place of the folder")
    for number in ("23", "53"):
        found = case(number)
        found["messages"].append({"role": "assistant", "content": "Done."})
        archive = elision.open_archive(tmp_path / "archive", environ={})
        chain = elision.Chain([planned(SHORT)], archive=archive, classification="none")
        with pytest.warns(elision.ElisionWarning, match="name another folder"):
            view = chain.process(found["messages"])

        assert view.messages == found["messages"]
        assert [failure.processor for failure in view.failures] == ["archive"]


def test_case_23_the_placeholder_does_not_quote_the_call_id() -> None:
    found = case("23")
    found["messages"].append({"role": "assistant", "content": "Done."})
    view = put_through(found, planned(SHORT), classification="none")

    assert "thought" not in str([message["content"] for message in view.messages if message["role"] == "tool"])
    assert len(view.edits) == 1


def test_case_54_what_a_host_calls_failed_is_not_cleared_as_a_plain_query() -> None:
    """The text of a log says nothing of its class; where the host says that the call failed it is an error.

    Which lines a cut keeps comes with ``truncate``.
    """
    found = case("54")
    found["messages"].append({"role": "assistant", "content": "It failed."})
    failed = {
        **found,
        "style": "anthropic",
        "messages": [
            found["messages"][0],
            {
                "role": "assistant",
                "content": [{"type": "tool_use", "id": "rt", "name": "bash", "input": {"command": "pytest"}}],
            },
            {
                "role": "user",
                "content": [
                    {
                        "type": "tool_result",
                        "tool_use_id": "rt",
                        "is_error": True,
                        "content": found["messages"][2]["content"],
                    }
                ],
            },
            found["messages"][-1],
        ],
    }
    view = put_through(failed, planned(CUT, operation="truncate"), planned(SHORT))

    assert view.messages == failed["messages"]
    assert {each.classes for each in view.refusals} == {("dynamic", "error")}


def test_case_56_torn_last_line(tmp_path: Path) -> None:
    """The archive is no text file: what a killed process had not finished is rolled back when it is opened next.

    Bytes that were cut off or overwritten are reported by ``verify``; records that can be read still are.
    """
    with elision.open_archive(tmp_path, environ={}) as archive:
        for number in range(40):
            archive.put_all([Entry(content=f"{number} é" * 400, call_id=str(number))])
        archive.close()
        wal = tmp_path / "archive.db-wal"
        assert not wal.exists() or not wal.stat().st_size
    data = (tmp_path / "archive.db").read_bytes()
    (tmp_path / "archive.db").write_bytes(data + b"\0\0\0torn \xc3")
    with elision.open_archive(tmp_path, environ={}) as archive:
        assert [record.call_id for record in archive.records()] == [str(number) for number in range(40)]
        archive.put_all([Entry(content="the next one", call_id="40")])
        assert len(list(archive.records())) == 41
    middle = len(data) // 2
    (tmp_path / "archive.db").write_bytes(data[:middle] + b"\0\xc3" * 500 + data[middle + 1000 :])
    with elision.open_archive(tmp_path, environ={}) as archive:
        assert not archive.verify().clean
