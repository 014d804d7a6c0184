"""Every edit leaves a record that nobody can change unseen."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from elision.archive import Archive, Entry, open_archive
from elision.archive.record import record_hash

FACTS = Entry(
    content="The output.",
    placeholder="[gone]",
    session="run-42",
    processor="clear_tool_results",
    operation="clear",
    call_id="call_\ud800\0\n/../",
    tool="bash",
    arguments={"command": "make", "cwd": "/x"},
    classes=("dynamic", "error"),
    status="error",
    view_policy="secrets",
    cache_segment="live_window",
    reason="older than 3 steps",
)
SECOND, THIRD = (replace(FACTS, call_id=call_id) for call_id in ("call_2", "call_3"))


def test_a_record_says_who_removed_what_and_why(archive: Archive) -> None:
    (ref,) = archive.put_all([FACTS])
    (record,) = archive.records()
    said = record.as_dict()

    assert {name: said[name] for name in ("session", "processor", "operation", "tool", "status", "reason")} == {
        "session": "run-42",
        "processor": "clear_tool_results",
        "operation": "clear",
        "tool": "bash",
        "status": "error",
        "reason": "older than 3 steps",
    }
    assert (said["classes"], said["ref"], said["sha256"]) == (["dynamic", "error"], ref.short, ref.sha256)
    assert (said["chars_before"], said["chars_after"], said["size"]) == (11, 6, 11)
    assert (said["view_policy"], said["stored_policy"], said["cache_segment"]) == ("secrets", "none", "live_window")
    assert said["call_id"] == "call_\\ud800\0\n/../"


def test_arguments_are_kept_as_a_hash_that_the_order_of_keys_does_not_change(archive: Archive) -> None:
    archive.put_all(
        [
            Entry(content="x", arguments={"a": 1, "b": 2}, call_id="a"),
            Entry(content="x", arguments={"b": 2, "a": 1}, call_id="b"),
            Entry(content="x", arguments='{"a": 1'),
            Entry(content="x"),
        ]
    )
    first, second, text, none = [record.arguments_sha256 for record in archive.records()]

    assert (len(first), first == second, text != first, none) == (64, True, True, "")


def test_records_are_linked_and_hash_to_what_they_say(archive: Archive) -> None:
    archive.put_all([FACTS, SECOND])
    archive.put_all([THIRD])
    records = list(archive.records())

    assert [record.sequence for record in records] == [1, 2, 3]
    assert [record.previous for record in records] == ["", records[0].hash, records[1].hash]
    assert [record.hash for record in records] == [record_hash(record) for record in records]


def test_a_new_writer_begins_at_the_newest_record_there_is(archive: Archive, folder: Path) -> None:
    archive.put_all([FACTS])
    with open_archive(folder, environ={}) as second:
        second.put_all([SECOND])
    records = list(archive.records())

    assert [record.sequence for record in records] == [1, 1]
    assert records[0].writer != records[1].writer
    assert records[1].previous == records[0].hash


def test_records_of_one_session(archive: Archive) -> None:
    archive.put_all([Entry(content="x", session="a"), Entry(content="x", session="b\ud800")])

    assert [record.session for record in archive.records(session="b\ud800")] == ["b\\ud800"]


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE records SET reason = 'none'",
        "UPDATE records SET number = number + 100",
        "DELETE FROM records",
        "DELETE FROM records WHERE sequence = 1",
        "INSERT OR REPLACE INTO records SELECT * FROM records LIMIT 1",
        "UPDATE OR REPLACE records SET sequence = 1",
        "UPDATE blobs SET data = x''",
        "DELETE FROM blobs",
        "REPLACE INTO blobs SELECT * FROM blobs LIMIT 1",
        "REPLACE INTO blobs (sha256, kind, encoding, size, data) SELECT sha256, kind, encoding, size, x'' FROM blobs",
        "INSERT INTO tombstones SELECT number, sha256, x'00' FROM blobs",
        "INSERT INTO tombstones SELECT b.number, b.sha256, r.hash FROM blobs b, records r",
        "UPDATE refs SET ref = ref || 'x'",
        "REPLACE INTO refs SELECT 'other', sha256 FROM refs",
        "DELETE FROM refs",
        "DELETE FROM texts",
        "UPDATE texts SET sha256 = x''",
    ],
)
def test_the_database_refuses_to_change_what_is_written(archive: Archive, folder: Path, statement: str) -> None:
    archive.put_all([FACTS])
    with (
        closing(sqlite3.connect(folder / "archive.db")) as stranger,
        pytest.raises(sqlite3.IntegrityError, match=r"append-only|needs its record"),
    ):
        stranger.execute(statement)

    assert archive.verify().clean


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        ("UPDATE records SET reason = 'harmless' WHERE sequence = 2", "it was changed after it was written"),
        ("UPDATE records SET classes = 'static' WHERE sequence = 2", "it was changed after it was written"),
        ("UPDATE records SET size = 'big' WHERE sequence = 2", "it was changed after it was written"),
        ("UPDATE records SET reason = CAST(x'ff' AS TEXT) WHERE sequence = 2", "it was changed after it was written"),
        ("UPDATE records SET hash = x'00' WHERE sequence = 2", "record 3 of writer"),
        ("DELETE FROM records WHERE sequence = 2", "it follows record 1: records are missing"),
        ("DELETE FROM records WHERE sequence = 1", "the records before it are missing"),
        ("DELETE FROM records WHERE sequence = 3", "the newest when it was written is missing"),
        ("UPDATE blobs SET data = x'28b52ffd'", "is damaged"),
        ("UPDATE blobs SET data = (SELECT data FROM blobs b WHERE b.number != blobs.number)", "is damaged"),
        ("UPDATE blobs SET kind = 'parts'", "is damaged"),
        ("UPDATE blobs SET encoding = 'rot13'", "is stored as 'rot13'"),
        ("DELETE FROM blobs WHERE number = 1", "its bytes are missing and no tombstone says why (3 record(s) name it)"),
        ("DELETE FROM refs", "it has no ref"),
        ("UPDATE refs SET ref = '../../evil' || ref", "which does not begin with it"),
        ("INSERT INTO tombstones SELECT number, sha256, sha256 FROM blobs", "its record is missing"),
        ("DELETE FROM records WHERE reason = 'last'", "no record names it"),
    ],
)
def test_verify_finds_what_was_changed_behind_its_back(
    archive: Archive, folder: Path, tamper: Callable[..., None], statement: str, said: str
) -> None:
    archive.put_all([FACTS, SECOND, THIRD])
    with open_archive(folder, environ={}) as other:
        other.put_all([Entry(content="Another output.", reason="last")])
    archive.close()
    tamper(statement)
    problems = archive.verify().problems

    assert [problem for problem in problems if said in problem], problems


def test_verify_notices_that_triggers_were_dropped(archive: Archive, folder: Path) -> None:
    archive.put_all([FACTS])
    with closing(sqlite3.connect(folder / "archive.db")) as stranger:
        stranger.execute("DROP TRIGGER records_no_update")

    assert archive.verify().problems == ("trigger records_no_update: it is missing: anything may have been changed",)


def test_a_damaged_original_is_never_handed_out(archive: Archive, tamper: Callable[..., None]) -> None:
    ref, _ = archive.put_all([FACTS, Entry(content="Another.")])
    archive.close()
    tamper("UPDATE blobs SET data = (SELECT data FROM blobs b WHERE b.number != blobs.number)")

    with pytest.raises(Exception, match="is damaged"):
        archive.get(ref)


def test_broken_pages_are_found_and_nothing_raises(archive: Archive, folder: Path) -> None:
    archive.put_all([Entry(content=f"{number} " * 500) for number in range(200)])
    archive.close()
    path = folder / "archive.db"
    data = bytearray(path.read_bytes())
    for at in range(4096 * 8, len(data), 4096 * 3):
        data[at : at + 200] = b"\xa5" * 200
    path.write_bytes(data)
    verified = archive.verify()

    assert verified.problems


def test_an_archive_that_was_never_written_is_clean_and_empty(archive: Archive, folder: Path) -> None:
    assert (archive.verify().clean, archive.stats().records, list(archive.records())) == (True, 0, [])
    assert not folder.parent.exists()
