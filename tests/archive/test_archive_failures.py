"""What goes wrong with a disk is one error line, and nothing is half-written."""

from __future__ import annotations

import json
import os
import resource
import sqlite3
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

import elision
from elision.archive import Archive, Entry, open_archive
from elision.archive.sqlite import SqliteStore

TESTS = Path(__file__).parents[1]


def test_killed_at_random_points_no_writer_loses_or_tears_what_it_was_told_is_stored(tmp_path: Path) -> None:
    command = [sys.executable, str(TESTS / "killed_writers.py"), str(tmp_path), "30", "7"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    found = json.loads(done.stdout)

    assert [found[name] for name in ("lost", "torn", "repeated", "problems", "errors")] == [[]] * 5
    assert found["records"] >= found["acknowledged"] > 100


KILLED = """
import os, signal, sys
from elision.archive import Entry, open_archive
archive = open_archive(sys.argv[1], environ={})
archive.put_all([Entry(content="whole")])
with archive._store.transaction() as writing:
    from elision.archive.content import compressed
    from elision.archive.record import Record
    half = archive.sealed("half" * 100000)
    writing.note(Record(sha256=half.sha256, ref=writing.add(half.sha256, lambda: compressed(half))))
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_what_was_not_committed_when_a_process_died_is_not_there(archive: Archive, folder: Path) -> None:
    subprocess.run([sys.executable, "-c", KILLED, str(folder)], check=False)

    assert [archive.get(record.ref).content for record in archive.records()] == ["whole"]
    assert (archive.verify().clean, archive.stats().originals) == (True, 1)


FULL = """
import resource, sys
from elision.archive import Entry, open_archive
from elision.errors import ArchiveError
archive = open_archive(sys.argv[1], environ={})
stored = 0
try:
    for number in range(10000):
        text = "".join(map(str, range(number, number + 400)))
        archive.put_all([Entry(content=f"{number}-{part}-{text}") for part in "ab"])
        stored += 2
except ArchiveError as error:
    print(stored, error)
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
archive.put_all([Entry(content="there is space again")])
print(len(list(archive.records())), archive.verify().clean)
"""


def test_a_full_disk_is_one_error_and_what_was_stored_before_stays(tmp_path: Path) -> None:
    def little_space() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, resource.RLIM_INFINITY))

    done = subprocess.run(
        [sys.executable, "-c", FULL, str(tmp_path / "full")],
        preexec_fn=little_space,
        capture_output=True,
        text=True,
        check=True,
    )
    refused, after = done.stdout.splitlines()
    stored, _, said = refused.partition(" ")

    assert "archive.db: " in said
    assert ("the disk is full; free some space" in said) or ("check the disk and its free space" in said)
    assert after == f"{int(stored) + 1} True"


def test_a_database_that_may_not_grow_says_that_the_disk_is_full(archive: Archive) -> None:
    archive.put_all([Entry(content="first")])
    opened = archive._store._now_open  # type: ignore[attr-defined]
    opened.connection.execute("PRAGMA max_page_count = 30")

    with pytest.raises(elision.ArchiveError, match=r"archive\.db: the disk is full; free some space"):
        archive.put_all([Entry(content=os.urandom(300_000).hex())])
    assert [record.sequence for record in archive.records()] == [1]
    assert archive.put_all([Entry(content="second")])
    assert archive.verify().clean


def test_a_file_in_the_place_of_the_folder_is_one_error(tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("a file")
    with open_archive(tmp_path / "taken", environ={}) as archive:
        with pytest.raises(elision.ArchiveError, match=r"taken/archive\.db: .*; name another folder"):
            archive.put_all([Entry(content="x")])
        assert archive.is_ours("x") is False


READ_ONLY = """
import os, sys
from elision.archive import Entry, open_archive
from elision.errors import ArchiveError
if os.getuid() == 0:
    os.setuid(65534)
for folder in sys.argv[1:]:
    try:
        open_archive(folder, environ={}).put_all([Entry(content="x")])
    except ArchiveError as error:
        print(error)
"""


@pytest.fixture
def anyones() -> Iterator[Path]:
    """A folder that a process without rights of root reaches too."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        yield folder


def test_a_folder_that_cannot_be_written_is_one_error(anyones: Path) -> None:
    with open_archive(anyones / "old", environ={}) as archive:
        archive.put_all([Entry(content="x")])
    for path in [*(anyones / "old").iterdir(), anyones / "old", anyones]:
        path.chmod(0o555 if path.is_dir() else 0o444)
    command = [sys.executable, "-c", READ_ONLY, str(anyones / "new"), str(anyones / "old")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    anyones.chmod(0o755)
    (anyones / "old").chmod(0o755)
    new, old = done.stdout.splitlines()

    assert new == f"{anyones / 'new' / 'archive.db'}: Permission denied; name another folder"
    assert old.startswith(f"{anyones / 'old' / 'archive.db'}: it cannot be ")
    assert done.stderr == ""


def test_a_database_that_another_process_keeps_locked_is_one_error_and_then_works_again(folder: Path) -> None:
    with Archive(SqliteStore(folder, patience=0.05)) as archive:
        archive.put_all([Entry(content="before")])
        with closing(sqlite3.connect(folder / "archive.db", isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            with pytest.raises(elision.ArchiveError, match="another process has kept it locked for too long"):
                archive.put_all([Entry(content="refused")])
            assert archive.get(archive.ref("before")).content == "before"
        archive.put_all([Entry(content="after")])

        assert len(list(archive.records())) == 2
        assert archive.verify().clean


@pytest.mark.parametrize("data", [b"this is a text file\n" * 500, b"\0" * 5000])
def test_what_is_no_database_is_one_error(archive: Archive, folder: Path, data: bytes) -> None:
    folder.mkdir(parents=True)
    (folder / "archive.db").write_bytes(data)

    with pytest.raises(elision.ArchiveError, match="move it away"):
        archive.put_all([Entry(content="x")])
    assert archive.verify().problems
    assert (folder / "archive.db").read_bytes() == data


def test_the_database_of_another_program_is_left_alone(archive: Archive, folder: Path) -> None:
    folder.mkdir(parents=True)
    with closing(sqlite3.connect(folder / "archive.db")) as other:
        other.execute("CREATE TABLE theirs (a)")

    with pytest.raises(elision.ArchiveError, match="the database of another program; name another folder"):
        archive.put_all([Entry(content="x")])


def test_an_archive_of_a_newer_version_is_left_alone(archive: Archive, folder: Path) -> None:
    archive.put_all([Entry(content="x")])
    archive.close()
    with closing(sqlite3.connect(folder / "archive.db")) as other:
        other.execute("PRAGMA user_version = 99")

    with pytest.raises(elision.ArchiveError, match="a newer Elision wrote this archive"):
        archive.stats()


def test_a_folder_that_is_deleted_meanwhile_is_made_again(archive: Archive, folder: Path) -> None:
    archive.put_all([Entry(content="gone")])
    for path in folder.iterdir():
        path.unlink()
    folder.rmdir()
    (ref,) = archive.put_all([Entry(content="new")])

    with open_archive(folder, environ={}) as again:
        assert again.get(ref).content == "new"
        assert again.verify().clean


def test_many_threads_share_one_archive(archive: Archive) -> None:
    def write(name: int) -> None:
        for number in range(20):
            (ref,) = archive.put_all([Entry(content=f"{name}/{number}", session=str(name))])
            assert archive.get(ref).content == f"{name}/{number}"

    threads = [threading.Thread(target=write, args=(name,)) for name in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert [len(list(archive.records(session=str(name)))) for name in range(6)] == [20] * 6
    assert archive.verify().clean


FORKS = """
import os, sys
from elision.archive import Entry, open_archive
archive = open_archive(sys.argv[1], environ={})
archive.put_all([Entry(content="parent")])
children = []
for number in range(4):
    pid = os.fork()
    if pid == 0:
        for each in range(10):
            archive.put_all([Entry(content=f"{number} {each}")])
        sys.exit(0)
    children.append(pid)
    archive.put_all([Entry(content=f"parent {number}")])
print([os.waitpid(pid, 0)[1] for pid in children])
archive.put_all([Entry(content="last")])
found = archive.verify()
print(found.records, found.problems, len({record.writer for record in archive.records()}))
"""


def test_an_archive_that_is_open_when_a_process_forks_works_on_both_sides(folder: Path) -> None:
    done = subprocess.run([sys.executable, "-c", FORKS, str(folder)], capture_output=True, text=True, check=False)

    assert done.stdout.splitlines()[0] == "[0, 0, 0, 0]", done.stderr
    assert done.stdout.splitlines()[1].startswith("46 () ")


def test_without_an_archive_nothing_may_be_removed() -> None:
    with open_archive("none", environ={}) as archive:
        with pytest.raises(elision.ArchiveError, match="archive: none: nothing is kept, so nothing may be removed"):
            archive.put_all([Entry(content="x")])
        with pytest.raises(elision.ArchiveError, match="nothing may be removed"):
            archive.remember(["x"])
        assert (archive.is_ours("x"), archive.verify().clean, archive.stats().where) == (False, True, "none")
