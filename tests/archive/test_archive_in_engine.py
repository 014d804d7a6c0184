"""What chains put into the archive, and what comes back: for runs that grow, branch, stop, or share one archive."""

from __future__ import annotations

import copy
import json
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import IO, cast

import pytest
from archive_runs import CLEAR, KEY, SECRET, clearing, contents, reading, told, with_secret
from guarded import planned
from removed import lost, missing

import elision
from elision import Archive, Chain, open_archive
from elision.archive.sqlite import SqliteStore
from elision.testing import call, conversation, image, result, text


def test_archive_none_removes_nothing_and_says_why() -> None:
    messages = reading(4).messages()
    view = elision.loads(f"{CLEAR}\narchive: none").process(messages)

    assert all(sent is held for sent, held in zip(view.messages, messages, strict=True))
    assert (view.edits, told(view)) == ((), [])
    assert {(refusal.rule, refusal.reason) for refusal in view.refusals if refusal.call_id != "call_4"} == {
        (
            "archived_first",
            "archive: none: nothing is kept, so nothing may be removed; name a folder (archive: .elision)",
        )
    }
    assert view.note.startswith("nothing was removed: ")


def test_calls_without_a_session_on_every_step_do_not_make_the_archive_grow(archive: Archive) -> None:
    messages = reading(12).messages()
    chain = clearing(archive)
    for _ in range(3):
        for stop in range(1, len(messages) + 1):
            view = chain.process(messages[:stop])

    assert len(list(archive.records())) == len(view.edits) == 11
    assert archive.stats().originals == 11


def test_a_new_process_that_goes_on_with_a_run_does_not_make_the_archive_grow(folder: Path) -> None:
    messages = reading(8).messages()
    views = []
    for stop in range(2, len(messages) + 1, 4):
        with open_archive(folder, environ={}) as archive, clearing(archive).session("run") as session:
            views.append(session.process(messages[:stop]))
    with open_archive(folder, environ={}) as archive:
        assert len(list(archive.records())) == len(views[-1].edits)


GROWS = """
import json, sys
import elision
messages = json.load(sys.stdin)
with elision.loads(sys.argv[1], archive=sys.argv[2]).session("run") as session:
    for stop in range(1, len(messages) + 1):
        view = session.process(messages[:stop])
        left_out = {edit.call_id: edit.ref for edit in view.edits}
        sys.stdout.write(json.dumps(left_out) + "\\n")
        sys.stdout.flush()
"""


@pytest.mark.parametrize("seed", range(3))
def test_what_a_view_left_out_is_in_the_archive_when_the_process_is_killed_in_the_middle_of_a_run(
    seed: int, folder: Path, tmp_path: Path
) -> None:
    messages = reading(400).messages()
    given = tmp_path / "run.json"
    given.write_text(json.dumps(messages))
    with given.open() as source:
        process = subprocess.Popen(
            [sys.executable, "-c", GROWS, CLEAR, str(folder)], stdin=source, stdout=subprocess.PIPE
        )
    with process, cast(IO[bytes], process.stdout) as said:
        first = [said.readline() for _ in range(20)]
        time.sleep(random.Random(seed).uniform(0.0, 0.1))  # noqa: S311 (no secrets here)
        process.send_signal(signal.SIGKILL)
        lines = b"".join([*first, said.read()]).rpartition(b"\n")[0].splitlines()
    originals = {message["tool_call_id"]: message["content"] for message in messages if "tool_call_id" in message}
    left_out = json.loads(lines[-1])

    assert len(left_out) > 5
    assert process.returncode == -signal.SIGKILL
    with open_archive(folder, environ={}) as archive:
        assert [archive.get(ref).content for ref in left_out.values()] == [originals[name] for name in left_out]
        assert archive.verify().clean
        with clearing(archive).session("run") as session:
            assert told(session.process(messages[:200])) == []


# Hosts that do not only append.


def test_a_host_that_branches_or_rewrites_its_history_loses_nothing(archive: Archive) -> None:
    messages = reading(8).messages()
    branch = [*messages[:10], *reading(5, "other").messages()[2:]]
    rewritten = copy.deepcopy(messages)
    rewritten[5]["content"] = "rewritten by the host\n" * 20
    with clearing(archive).session("run") as session:
        for history in (messages[:12], branch[:14], messages, branch, rewritten, messages[:6], rewritten):
            view = session.process(history)
            assert lost(view, archive) == {}
            assert view.messages == clearing(archive).process(history).messages

    assert archive.verify().clean


def test_two_runs_in_one_archive_have_records_of_their_own_and_share_what_is_equal(archive: Archive) -> None:
    messages = reading(4).messages()
    for name in ("one", "two"):
        with clearing(archive).session(name) as session:
            view = session.process(messages)

    assert {name: len(list(archive.records(session=name))) for name in ("one", "two")} == {"one": 3, "two": 3}
    assert archive.stats().originals == 3
    assert lost(view, archive) == {}


class Strange:
    """An object of a host's that no archive can store."""


def test_content_that_cannot_be_stored_is_refused_by_name_and_the_others_go_on(archive: Archive) -> None:
    messages = reading(4).messages()
    messages[5] = {
        **messages[5],
        "content": [{"type": "strange", "object": Strange()}, {"type": "text", "text": "x" * 400}],
    }
    messages[7] = {**messages[7], "content": [{"type": "text", "text": "x" * 400}, {"type": "image_url", 3: "x"}]}
    view = clearing(archive).process(messages)
    (first, second) = [refusal for refusal in view.refusals if refusal.rule == "archived_first"]

    assert [edit.call_id for edit in view.edits] == ["call_1"]
    assert (view.messages[5], view.messages[7], told(view)) == (messages[5], messages[7], [])
    assert (first.call_id, second.call_id) == ("call_2", "call_3")
    assert first.reason.startswith("archive: content cannot be stored as JSON (Object of type Strange")
    assert "the key 3 is not a string" in second.reason
    assert [record.call_id for record in archive.records()] == ["call_1"]


def test_a_step_that_cannot_be_stored_is_not_dropped(archive: Archive) -> None:
    messages = reading(3).messages()
    messages[4] = {**messages[4], "host": Strange()}
    drops = planned(lambda view: [step.drop() for step in view.steps[:2]], operation="drop")
    view = Chain([drops], archive=archive).process(messages)

    assert [edit.position for edit in view.edits] == [2]
    assert [refusal.rule for refusal in view.refusals if refusal.position == 4] == ["archived_first"]


def test_a_dropped_step_comes_back_with_its_calls(archive: Archive) -> None:
    messages = reading(3).messages()
    drops = planned(lambda view: [view.steps[0].drop()], operation="drop")
    view = Chain([drops], archive=archive).process(messages)

    assert missing(messages, view.messages)
    assert lost(view, archive) == {}
    assert archive.get(view.edits[0].ref).content == messages[2:4]


def test_parts_come_back_as_the_parts_that_they_were(archive: Archive) -> None:
    run = (
        conversation().user("Look.").step(call("read_file", path="a"), result(text("one " * 90), image(), text("two")))
    )
    view = clearing(archive).process(run.step(call("read_file", path="b"), result("x")).messages())

    assert archive.get(view.edits[0].ref).content == run.messages()[2]["content"]


def test_parallel_results_keep_every_id_and_order_and_equal_ones_have_a_record_each(archive: Archive) -> None:
    calls = [call("read_file", path=f"{number}") for number in range(5)]
    run = (
        conversation()
        .user("Read all.")
        .step(*calls, *[result("the same text " * 30)] * 5)
        .step(call("read_file", path="a"), result("x"))
    )
    messages = run.messages()
    view = clearing(archive).process(messages)

    assert [m.get("tool_call_id") for m in view.messages] == [m.get("tool_call_id") for m in messages]
    assert [edit.call_id for edit in view.edits] == [f"call_{number}" for number in range(1, 6)]
    assert {edit.ref for edit in view.edits} == {view.edits[0].ref}
    assert [record.call_id for record in archive.records()] == [edit.call_id for edit in view.edits]


def test_redacted_in_the_view_kept_in_the_archive_recall_gives_the_redacted_text_and_raw_all(archive: Archive) -> None:
    chain = clearing(archive, "history_processors: [{type: redact}, {type: last_n_observations, n: 1}]")
    with chain.session("run") as session:
        views = [session.process(with_secret()[:stop]) for stop in range(1, 6)]
    refs = {edit.ref for edit in views[-1].edits if edit.call_id == "call_1"}
    (ref,) = refs

    assert [view for view in views if KEY in str(view.messages)] == []
    assert KEY not in elision.recall(ref, archive=archive).text
    assert "region=eu" in elision.recall(ref, archive=archive).text
    assert KEY not in elision.handle_recall({"ref": ref}, archive)
    assert elision.recall(ref, archive=archive, raw=True).text == SECRET
    assert elision.recall(ref, archive=archive, grep="AKIA").lines == 0


def test_what_is_stored_under_the_policy_secrets_has_none_whoever_asks(folder: Path) -> None:
    with Archive(SqliteStore(folder), stored="secrets") as archive:
        view = clearing(archive).process(with_secret())
        (ref,) = [edit.ref for edit in view.edits]

        assert KEY not in elision.recall(ref, archive=archive, raw=True).text
        assert "region=eu" in elision.recall(ref, archive=archive, raw=True).text
        assert archive.verify().clean
    assert [path.name for path in folder.iterdir() if KEY.encode() in path.read_bytes()] == []


def test_the_head_of_a_placeholder_shows_nothing_that_was_redacted(archive: Archive) -> None:
    chain = clearing(
        archive, "history_processors: [{type: redact}, {type: last_n_observations, n: 1, placeholder: head}]"
    )
    view = chain.process(with_secret())

    assert "region=eu" in contents(view)[0]
    assert KEY not in contents(view)[0]


WARNS = """
import sys, warnings
import elision
elision.loads("history_processors: [{type: redact}]", archive="memory:").process(__import__("json").load(sys.stdin))
warnings.warn("of the host's own")
"""


def test_looking_for_secrets_takes_no_warning_from_the_host() -> None:
    done = subprocess.run(
        [sys.executable, "-c", WARNS], input=json.dumps(with_secret()), capture_output=True, text=True, check=True
    )

    assert "UserWarning: of the host's own" in done.stderr
