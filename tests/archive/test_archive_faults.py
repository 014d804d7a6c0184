"""Whatever becomes of the disk: no edit without its original in the archive, and the request goes out all the same."""

from __future__ import annotations

import copy
import json
import os
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest
from archive_runs import CLEAR, FAULTS, KEY, clearing, contents, locked, reading, recorded, told, with_secret
from removed import lost

import elision
from elision import Archive, ElisionWarning, SentView, open_archive
from elision.archive.sqlite import SqliteStore
from elision.registry import plugins


@pytest.fixture
def archive(folder: Path) -> Iterator[Archive]:
    """An archive that waits for no lock."""
    with Archive(SqliteStore(folder, patience=0.05)) as opened:
        yield opened


@pytest.mark.parametrize("fault", FAULTS)
def test_a_full_disk_a_read_only_folder_two_writers_an_error_line_each_and_the_agents_request_intact(
    fault: str, archive: Archive, folder: Path
) -> None:
    spoil, meaning = FAULTS[fault]
    messages = reading(6).messages()
    before = copy.deepcopy(messages)
    session = clearing(archive).session("run")
    with spoil(folder), pytest.warns(ElisionWarning, match=meaning) as heard:
        views = [session.process(messages[:stop]) for stop in range(1, len(messages) + 1)]

    assert messages == before
    assert [view.edits for view in views] == [()] * len(views)
    for stop, view in enumerate(views, 1):
        assert all(sent is held for sent, held in zip(view.messages, messages[:stop], strict=False))
        assert {failure.processor for failure in view.failures} <= {"archive"}
        assert {refusal.rule for refusal in view.refusals} <= {"archived_first", "newest_step_stays"}
    assert len({line for view in views for line in told(view)}) == len(heard) == 1
    assert "\n" not in str(heard[0].message)
    assert recorded(folder) == set()


@pytest.mark.parametrize("fault", FAULTS)
def test_once_the_archive_works_again_the_edits_are_made(fault: str, archive: Archive, folder: Path) -> None:
    spoil, _ = FAULTS[fault]
    messages = reading(6).messages()
    with clearing(archive).session("run") as session:
        with spoil(folder), pytest.warns(ElisionWarning):
            session.process(messages[:8])
        view = session.process(messages)
    with open_archive("memory:", environ={}) as sound:
        expected = clearing(sound).process(messages)

    assert (view.messages, told(view)) == (expected.messages, [])
    assert {(edit.call_id, edit.ref) for edit in view.edits} <= recorded(folder)
    assert lost(view, archive) == {}
    assert archive.verify().clean


@pytest.mark.parametrize("fault", ["a full disk", "a locked database"])
def test_what_was_elided_before_the_archive_failed_stays_elided_while_it_fails(
    fault: str, archive: Archive, folder: Path
) -> None:
    spoil, _ = FAULTS[fault]
    messages = reading(9).messages()
    with clearing(archive).session("run") as session:
        before = session.process(messages[:8])
        with spoil(folder), pytest.warns(ElisionWarning):
            during = [session.process(messages[:stop]) for stop in range(10, 16, 2)]

    assert [edit.call_id for edit in before.edits] == ["call_1", "call_2"]
    for view in during:
        assert view.messages[:8] == [*before.messages[:6], *messages[6:8]]


def test_what_the_archive_has_already_stays_elided_in_a_call_without_a_session_while_it_takes_nothing_new(
    archive: Archive, folder: Path
) -> None:
    messages = reading(6).messages()
    chain = clearing(archive)
    before = chain.process(messages)
    with locked(folder), warnings.catch_warnings():
        warnings.simplefilter("ignore", ElisionWarning)
        during = chain.process(messages)

    assert during.messages == before.messages


def test_plugins_are_told_of_each_edit_once_although_the_archive_fails_for_a_while(
    archive: Archive, folder: Path
) -> None:
    heard: list[str] = []

    class Listener:
        @elision.hookimpl
        def elision_edit_applied(self, edit: elision.AppliedEdit) -> None:
            heard.append(edit.call_id)

    listener = Listener()
    messages = reading(6).messages()
    plugins().manager.register(listener)
    try:
        with clearing(archive).session("run") as session:
            session.process(messages[:8])
            with locked(folder), pytest.warns(ElisionWarning):
                session.process(messages[:10])
            session.process(messages)
    finally:
        plugins().manager.unregister(listener)

    assert heard == [f"call_{number}" for number in range(1, 6)]


def test_what_was_taken_back_is_not_proposed_for_another_history(archive: Archive, folder: Path) -> None:
    messages, other = reading(6).messages(), reading(6, name="g").messages()
    chain = clearing(archive)
    with chain.session("run") as session:
        with locked(folder), pytest.warns(ElisionWarning):
            session.process(messages)
        view = session.process(other[:4])

    assert view.messages == other[:4]
    assert view.refusals == chain.process(other[:4]).refusals


def test_what_must_not_be_seen_is_redacted_also_while_the_archive_takes_nothing(archive: Archive, folder: Path) -> None:
    chain = clearing(archive, "history_processors: [{type: redact}, {type: last_n_observations, n: 1}]")
    with locked(folder), pytest.warns(ElisionWarning), chain.session("run") as session:
        views = [session.process(with_secret()[:stop]) for stop in range(1, 6)] + [session.process(with_secret())]

    assert [view for view in views if KEY in str(view.messages)] == []
    assert "region=eu" in contents(views[-1])[0]


READ_ONLY = """
import json, os, sys, warnings
import elision
warnings.simplefilter("always")
messages = json.load(sys.stdin)
elision.loads(sys.argv[1], archive="memory:").process(messages)  # imports what another user may not
if os.getuid() == 0:
    os.setuid(65534)
with elision.loads(sys.argv[1], archive=sys.argv[2]).session("run") as session:
    views = [session.process(messages[:stop]) for stop in range(1, len(messages) + 1)]
print(json.dumps([view.messages[:stop] == messages[:stop] for stop, view in enumerate(views, 1)]))
print(json.dumps([[failure.told for failure in view.failures] for view in views][-1]))
"""


def test_a_read_only_folder_is_one_error_line_and_the_agents_request_is_intact() -> None:
    with tempfile.TemporaryDirectory() as name:
        os.chmod(name, 0o555)  # noqa: S103 (no one may write)
        command = [sys.executable, "-c", READ_ONLY, CLEAR, f"{name}/archive"]
        done = subprocess.run(
            command, input=json.dumps(reading(4).messages()), capture_output=True, text=True, check=False
        )
        intact, failures = (json.loads(line) for line in done.stdout.splitlines())

    assert intact == [True] * 11
    assert failures == [
        f"{name}/archive/archive.db: Permission denied; name another folder; what it cannot keep stays in the request"
    ]
    assert done.stderr.count("ElisionWarning") == 1


def test_two_writers_at_once_lose_nothing(folder: Path) -> None:
    first, second = (clearing(Archive(SqliteStore(folder))) for _ in range(2))
    runs = {"one": (first, reading(6, "a").messages()), "two": (second, reading(6, "b").messages())}
    sessions = {name: chain.session(name) for name, (chain, _) in runs.items()}
    views: dict[str, SentView] = {}
    for stop in range(1, 16):
        for name, (_, messages) in runs.items():
            views[name] = sessions[name].process(messages[:stop])

    with open_archive(folder, environ={}) as archive:
        assert [lost(view, archive) for view in views.values()] == [{}, {}]
        assert {name: len(list(archive.records(session=name))) for name in runs} == {"one": 5, "two": 5}
        assert archive.verify().clean


WRITER = """
import json, sys
import elision
messages, name = json.load(sys.stdin), sys.argv[3]
with elision.loads(sys.argv[1], archive=sys.argv[2]).session(name) as session:
    for stop in range(1, len(messages) + 1):
        view = session.process(messages[:stop])
print(json.dumps([[edit.call_id, edit.ref] for edit in view.edits]))
"""


def test_several_processes_share_one_archive_and_each_finds_its_originals(folder: Path, tmp_path: Path) -> None:
    runs = {name: reading(12, name).messages() for name in "ab"}
    writers = {}
    for name, messages in runs.items():
        given = tmp_path / f"{name}.json"
        given.write_text(json.dumps(messages))
        with given.open() as source:
            command = [sys.executable, "-c", WRITER, CLEAR, str(folder), name]
            writers[name] = subprocess.Popen(command, stdin=source, stdout=subprocess.PIPE, text=True)
    with open_archive(folder, environ={}) as archive:
        for name, process in writers.items():
            edits = json.loads(process.communicate()[0])
            originals = {
                message["tool_call_id"]: message["content"] for message in runs[name] if "tool_call_id" in message
            }
            assert len(edits) == 11
            assert [archive.get(ref).content for _, ref in edits] == [originals[call_id] for call_id, _ in edits]
        assert archive.verify().clean
        assert len(list(archive.records())) == 22
