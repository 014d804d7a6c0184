"""Plain files, and deletion that leaves its record."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path

import pytest

import elision
from elision.archive import Archive, Entry
from elision.archive.sqlite import SqliteStore

DAY = 86400.0


def aged(folder: Path, days: float, *entries: Entry) -> list[str]:
    """Store entries as if it were some days after the beginning of time."""
    with Archive(SqliteStore(folder), clock=lambda: days * DAY) as archive:
        return [ref.short for ref in archive.put_all(entries)]


def at(folder: Path, days: float) -> Archive:
    return Archive(SqliteStore(folder), clock=lambda: days * DAY)


def test_every_original_becomes_a_file_named_by_its_ref_and_every_record_a_line(
    archive: Archive, tmp_path: Path
) -> None:
    text, parts = archive.put_all(
        [Entry(content="\ud800 text\r\n", call_id="../../evil\0\n"), Entry(content=[{"type": "text", "text": "é"}])]
    )
    done = archive.export(tmp_path / "out")
    lines = [json.loads(line) for line in (tmp_path / "out" / "records.jsonl").read_bytes().splitlines()]

    assert (done.originals, done.records) == (2, 2)
    assert sorted(path.name for path in (tmp_path / "out" / "originals").iterdir()) == sorted(
        [f"{text}.txt", f"{parts}.json"]
    )
    exported = (tmp_path / "out" / "originals" / f"{text}.txt").read_bytes()
    assert hashlib.sha256(exported).hexdigest() == text.sha256
    assert json.loads((tmp_path / "out" / "originals" / f"{parts}.json").read_bytes()) == [
        {"type": "text", "text": "é"}
    ]
    assert lines == [record.as_dict() for record in archive.records()]


def test_names_of_files_come_from_hashes_whatever_the_database_says(
    archive: Archive, tmp_path: Path, tamper: Callable[..., None]
) -> None:
    archive.put_all([Entry(content="a"), Entry(content="b")])
    archive.close()
    tamper("UPDATE refs SET ref = '../../' || ref")
    archive.export(tmp_path / "out")
    found = [path.relative_to(tmp_path) for path in tmp_path.rglob("*.txt")]

    assert sorted(path.stem for path in found) == sorted(hashlib.sha256(text).hexdigest() for text in (b"a", b"b"))
    assert {str(path.parent) for path in found} == {"out/originals"}


def test_an_export_overwrites_nothing(archive: Archive, tmp_path: Path) -> None:
    archive.put_all([Entry(content="x")])
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "mine.txt").write_text("mine")

    with pytest.raises(elision.ArchiveError, match="it is not empty; name a new folder"):
        archive.export(tmp_path / "out")


def test_an_export_to_what_cannot_be_a_folder_is_one_error(archive: Archive, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")

    with pytest.raises(elision.ArchiveError, match="name a folder that can be written"):
        archive.export(tmp_path / "file")


def test_prune_deletes_what_is_old_and_leaves_a_record(folder: Path) -> None:
    old, new = aged(folder, 10, Entry(content="old " * 50)), aged(folder, 40, Entry(content="new"))
    with at(folder, 50) as archive:
        pruned = archive.prune(older_than_days=30)
        last = list(archive.records())[-1]

        assert (pruned.originals, pruned.bytes) == (1, 200)
        assert (last.operation, last.ref, last.reason) == ("prune", old[0], "older than 30 days")
        assert archive.get(new[0]).content == "new"
        with pytest.raises(elision.ArchiveError, match=rf"the bytes of {old[0]} were pruned on 1970-02-20"):
            archive.get(old[0])
        assert archive.verify().clean


def test_what_a_newer_record_or_a_kept_session_names_is_not_old(folder: Path) -> None:
    aged(folder, 1, Entry(content="again"), Entry(content="kept", session="run-1"), Entry(content="gone"))
    aged(folder, 49, Entry(content="again", call_id="call_2"))
    with at(folder, 50) as archive:
        archive.prune(older_than_days=30, keep_sessions=["run-1"])

        assert [archive.get(archive.ref(text)).content for text in ("again", "kept")] == ["again", "kept"]
        assert archive.stats().pruned == 1


def test_what_was_pruned_and_comes_again_has_its_old_ref(folder: Path) -> None:
    (ref,) = aged(folder, 1, Entry(content="x"))
    with at(folder, 50) as archive:
        archive.prune(older_than_days=30)
        (again,) = archive.put_all([Entry(content="x")])

        assert (again.short, archive.get(ref).content) == (ref, "x")
        assert archive.prune(older_than_days=30).originals == 0
        assert archive.verify().clean


def test_pruned_bytes_are_gone_from_the_disk(folder: Path) -> None:
    secret = "".join(hashlib.sha256(str(number).encode()).hexdigest() for number in range(300))
    aged(folder, 1, Entry(content=secret))
    with at(folder, 50) as archive:
        data = archive._store.blob(hashlib.sha256(secret.encode()).hexdigest())
        assert data is not None
        archive.prune(older_than_days=30)
        archive.close()

    assert data.data[200:260] not in b"".join(path.read_bytes() for path in folder.iterdir())


def test_pruning_many_takes_several_transactions_and_verifies(folder: Path) -> None:
    aged(folder, 1, *(Entry(content=str(number)) for number in range(1200)))
    with at(folder, 50) as archive:
        assert archive.prune(older_than_days=30).originals == 1200
        assert (archive.stats().originals, archive.stats().pruned) == (0, 1200)
        assert archive.verify().clean


@pytest.mark.parametrize("days", [-1, float("nan")])
def test_an_impossible_age_is_refused(archive: Archive, days: float) -> None:
    with pytest.raises(elision.ArchiveError, match="older_than_days must be 0 or more"):
        archive.prune(older_than_days=days)


def test_an_age_before_all_time_prunes_nothing(archive: Archive) -> None:
    archive.put_all([Entry(content="x")])

    assert archive.prune(older_than_days=1e12).originals == 0


def test_stats_count_what_is_there(archive: Archive) -> None:
    archive.put_all([Entry(content="x" * 1000, session="a", operation="clear", placeholder="gone"), Entry(content="y")])
    stats = archive.stats()

    assert (stats.originals, stats.bytes, stats.records, stats.writers, stats.sessions) == (2, 1001, 2, 1, 1)
    assert stats.stored_bytes < 100
    assert stats.by_operation == (("clear", 1, 996), ("", 1, 1))
