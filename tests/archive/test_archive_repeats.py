"""A host without a session gives the same edits again with every request: the archive does not grow with it."""

from __future__ import annotations

import shutil
import sqlite3
import subprocess
import sys
import threading
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import elision
from elision import redaction
from elision.archive import Archive, Entry, open_archive
from elision.archive.memory import Recent
from elision.archive.record import EDIT
from elision.archive.sqlite import SqliteStore

EDITED = Entry(
    content="The output.",
    placeholder="[gone]",
    session="run-42",
    processor="clear_tool_results",
    operation="clear",
    call_id="call_1",
    tool="bash",
    arguments={"command": "make"},
    classes=("dynamic",),
    status="ok",
    cache_segment="live_window",
    reason="older than 3 steps",
)
OTHERS: dict[str, Any] = {
    "content": "Another output.",
    "session": "run-43",
    "processor": "supersede",
    "operation": "supersede",
    "call_id": "call_2",
    "tool": "zsh",
    "arguments": {"command": "make test"},
    "classes": ("dynamic", "error"),
    "chars_before": 12,
    "chars_after": 7,
    "view_policy": "secrets",
    "reason": "superseded",
}


def count(archive: Archive) -> int:
    return len(list(archive.records()))


def test_the_same_edit_is_recorded_once(archive: Archive) -> None:
    first = archive.put_all([EDITED, EDITED])
    again = archive.put_all([EDITED])

    assert first == [again[0], again[0]]
    assert (count(archive), archive.stats().originals, archive.verify().clean) == (1, 1, True)


def test_what_is_there_is_not_written_again_so_no_lock_is_needed(folder: Path) -> None:
    with Archive(SqliteStore(folder, patience=0.05)) as archive:
        refs = archive.put_all([EDITED])
        archive.remember(["note"])
        with closing(sqlite3.connect(folder / "archive.db", isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            archive.remember(["note"])

            assert archive.put_all([EDITED]) == refs
            with pytest.raises(elision.ArchiveError, match="has kept it locked"):
                archive.put_all([replace(EDITED, call_id="call_2")])


def test_what_another_process_has_recorded_counts_too(archive: Archive, folder: Path) -> None:
    refs = archive.put_all([EDITED])
    with open_archive(folder, environ={}) as other:
        assert other.put_all([EDITED, replace(EDITED, call_id="call_2")]) == refs * 2
        assert count(other) == 2


def test_no_field_that_tells_edits_apart_is_without_a_case() -> None:
    named = {"arguments": "arguments_sha256", "content": "sha256"}

    assert {named.get(name, name) for name in OTHERS} == set(EDIT) - {"stored_policy"}


@pytest.mark.parametrize("name", OTHERS)
def test_edits_that_differ_in_one_field_have_a_record_each(archive: Archive, name: str) -> None:
    archive.put_all([EDITED])
    archive.put_all([replace(EDITED, **{name: OTHERS[name]})])

    assert count(archive) == 2


def test_another_stored_policy_is_another_edit(archive: Archive, folder: Path) -> None:
    archive.put_all([EDITED])
    with open_archive(folder, stored="secrets", environ={}) as other:
        other.put_all([EDITED])

    assert [record.stored_policy for record in archive.records()] == ["none", "secrets"]


def test_a_placeholder_of_an_edit_that_is_there_is_remembered_if_it_is_a_new_one(archive: Archive) -> None:
    archive.put_all([EDITED])
    archive.put_all([replace(EDITED, placeholder="[GONE]")])

    assert (count(archive), archive.is_ours("[gone]"), archive.is_ours("[GONE]")) == (1, True, True)


def test_what_another_process_has_pruned_is_stored_again(archive: Archive, folder: Path) -> None:
    (ref,) = archive.put_all([EDITED])
    archive.put_all([EDITED])
    with open_archive(folder, environ={}) as other:
        assert other.prune(older_than_days=0).originals == 1
    archive.put_all([EDITED])

    assert archive.get(ref).content == "The output."
    assert archive.verify().clean


@pytest.mark.parametrize("closed", [True, False])
def test_after_its_folder_was_deleted_everything_is_stored_again(
    archive: Archive, folder: Path, *, closed: bool
) -> None:
    archive.put_all([EDITED])
    archive.put_all([EDITED])
    if closed:
        archive.close()
    shutil.rmtree(folder)
    (ref,) = archive.put_all([EDITED])

    with open_archive(folder, environ={}) as again:
        assert (again.get(ref).content, again.is_ours("[gone]")) == ("The output.", True)


def test_bytes_that_are_there_are_not_compressed_again(archive: Archive) -> None:
    (ref,) = archive.put_all([EDITED])
    with archive._store.transaction() as writing:
        assert writing.add(ref.sha256, lambda: pytest.fail("it was compressed again")) == ref.short


def test_sealed_content_is_put_as_it_is(archive: Archive, folder: Path) -> None:
    sealed = archive.sealed("The output.")
    assert not folder.exists()

    (ref,) = archive.put_all([replace(EDITED, content=sealed)])
    (record,) = archive.records()

    assert (ref.short, ref.sha256, sealed.kind, sealed.data) == (sealed.ref, sealed.sha256, "text", b"The output.")
    assert (archive.get(ref).content, record.chars_before, record.ref) == ("The output.", 11, sealed.ref)
    assert archive.put_all([EDITED]) == [ref]
    assert count(archive) == 1


def test_sealed_parts_come_back_equal(archive: Archive) -> None:
    (ref,) = archive.put_all([Entry(content=archive.sealed([{"type": "text", "text": "é\ud800"}]))])

    assert archive.get(ref).content == [{"type": "text", "text": "é\ud800"}]


def test_sealing_redacts_by_the_stored_policy() -> None:
    with open_archive("memory:", stored="secrets", environ={}) as archive:
        sealed = archive.sealed("DB_PASSWORD=hunter2hunter2")
        (ref,) = archive.put_all([Entry(content=sealed)])
        (record,) = archive.records()

        assert sealed.data == b"DB_PASSWORD=[removed: credential]"
        assert (archive.get(ref).content, record.chars_before) == ("DB_PASSWORD=[removed: credential]", 26)


def test_what_was_redacted_lately_is_not_scanned_again(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> Any:
        raise ImportError("detect_secrets")

    with open_archive("memory:", stored="secrets", environ={}) as archive:
        first = archive.sealed("DB_PASSWORD=hunter2hunter2")
        monkeypatch.setattr(redaction, "Window", fail)

        assert archive.sealed("DB_PASSWORD=hunter2hunter2") == first


def test_what_was_sealed_for_another_stored_policy_is_refused() -> None:
    careless = open_archive("memory:", environ={}).sealed("DB_PASSWORD=hunter2hunter2")
    with open_archive("memory:", stored="secrets", environ={}) as archive:
        with pytest.raises(elision.ArchiveError) as caught:
            archive.put_all([Entry(content=careless)])
        assert count(archive) == 0
        assert str(caught.value) == (
            f"memory:: the content of {careless.sha256[:12]} was sealed with the stored policy 'none', "
            "and this archive has 'secrets'; seal it with this archive"
        )


@pytest.mark.parametrize("stored", ["none", "secrets"])
def test_nested_content_that_is_too_deep_is_one_error(stored: redaction.Policy) -> None:
    deep: list[Any] = []
    for _ in range(100_000 if stored == "none" else 5_000):
        deep = [deep]

    with (
        open_archive("memory:", stored=stored, environ={}) as archive,
        pytest.raises(elision.ArchiveError, match="nested too deeply"),
    ):
        archive.sealed(deep)


def test_an_archive_says_beforehand_whether_it_keeps(archive: Archive) -> None:
    nothing = open_archive("none", environ={})
    with pytest.raises(elision.ArchiveError) as caught:
        nothing.put_all([EDITED])

    assert (archive.keeps, archive.refusal) == (True, "")
    assert (nothing.keeps, nothing.refusal) == (False, str(caught.value))


def test_a_text_that_another_process_has_written_meanwhile_is_known(archive: Archive, folder: Path) -> None:
    assert archive.is_ours("[gone]") is False

    with open_archive(folder, environ={}) as other:
        other.put_all([EDITED])
    assert archive.is_ours("[gone]") is True


def test_a_text_of_ours_that_is_remembered_needs_no_store(archive: Archive, folder: Path) -> None:
    archive.put_all([EDITED])
    archive.close()
    (folder / "archive.db").write_bytes(b"no database " * 500)

    assert archive.is_ours("[gone]") is True
    with pytest.raises(elision.ArchiveError, match="it is no database"):
        archive.is_ours("[other]")


def test_threads_that_put_the_same_edit_at_once_record_it_once(folder: Path) -> None:
    archives = [open_archive(folder, environ={}) for _ in range(3)]
    ready = threading.Barrier(6)

    def write(archive: Archive) -> None:
        ready.wait()
        archive.put_all([EDITED])

    threads = [threading.Thread(target=write, args=(archive,)) for archive in archives * 2]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert (count(archives[0]), archives[0].verify().clean) == (1, True)


FIRST_USE = """
import sys, threading
from elision.archive import Entry, open_archive
shared = open_archive(sys.argv[1], environ={})
wrong = []
def work(number):
    archive = shared if number % 2 else open_archive(sys.argv[1], environ={})
    try:
        archive.put_all([Entry(content="same", placeholder="[same]"), Entry(content=f"{sys.argv[2]} {number}")])
        assert archive.is_ours("[same]")
    except Exception as error:
        wrong.append(error)
print("ready", flush=True)
sys.stdin.readline()
threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
for thread in threads: thread.start()
for thread in threads: thread.join()
print(wrong)
"""


def test_two_processes_with_many_threads_each_can_make_the_archive_at_once(folder: Path) -> None:
    commands = [[sys.executable, "-c", FIRST_USE, str(folder), name] for name in ("a", "b")]
    running = [
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) for command in commands
    ]
    for process in running:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    for process in running:
        assert process.stdin is not None
        process.stdin.write("\n")
        process.stdin.flush()
    said = [process.communicate()[0] for process in running]

    assert said == ["[]\n", "[]\n"]
    with open_archive(folder, environ={}) as archive:
        assert (count(archive), archive.verify().clean) == (17, True)


def test_threads_that_meet_a_locked_archive_have_an_error_each(folder: Path) -> None:
    said: list[str] = []
    with Archive(SqliteStore(folder, patience=0.05)) as archive:
        archive.put_all([EDITED])

        def write(number: int) -> None:
            try:
                archive.put_all([Entry(content=str(number))])
            except elision.ArchiveError as error:
                said.append(str(error))

        with closing(sqlite3.connect(folder / "archive.db", isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            threads = [threading.Thread(target=write, args=(number,)) for number in range(6)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        archive.put_all([Entry(content="after")])

        assert len(said) == 6
        assert {line.partition(": ")[2].partition(";")[0] for line in said} == {
            "another process has kept it locked for too long"
        }
        assert count(archive) == 2


def test_a_gitignore_that_a_full_disk_left_empty_is_filled(archive: Archive, folder: Path) -> None:
    folder.mkdir(parents=True)
    (folder / ".gitignore").touch()
    archive.put_all([EDITED])

    assert (folder / ".gitignore").read_text() == "*\n"


def test_what_was_not_asked_for_lately_is_forgotten() -> None:
    recent: Recent[int] = Recent(10)
    for number in range(100):
        recent.put(bytes([number]), number)
        recent.get(b"\0")

    assert (recent.get(b"\0"), recent.get(bytes([50])), recent.get(bytes([99]))) == (0, None, 99)
