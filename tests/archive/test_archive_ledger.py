"""The ledger of an archive: facts by key, the first of which stays."""

from __future__ import annotations

import json
import sqlite3
import stat
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

import elision
from elision.archive import Archive, Entry, open_archive

KEYS = [bytes([number]) * 32 for number in range(3)]
FACT = '{"model":"a"}'


def recorded(archive: Archive, *facts: str) -> dict[bytes, str]:
    found = dict(zip(KEYS, facts, strict=False))
    archive.put_all([Entry(content="The output.")], facts=found)
    return found


def test_facts_come_back_by_their_keys_in_another_process_too(archive: Archive, folder: Path) -> None:
    facts = recorded(archive, FACT, '{"model":"\\ud800"}')
    with open_archive(folder, environ={}) as other:
        assert archive.facts(KEYS) == other.facts(KEYS) == facts
        assert other.facts([]) == {}


def test_facts_go_in_without_originals(archive: Archive) -> None:
    archive.put_all([], facts={KEYS[0]: FACT})

    assert archive.facts(KEYS[:1]) == {KEYS[0]: FACT}


def test_the_first_fact_under_a_key_stays(archive: Archive, folder: Path) -> None:
    recorded(archive, FACT)
    with open_archive(folder, environ={}) as other:
        recorded(other, '{"model":"b"}')

    assert archive.facts(KEYS) == {KEYS[0]: FACT}


def test_many_keys_are_looked_up_at_once(archive: Archive) -> None:
    many = {number.to_bytes(32, "big"): str(number) for number in range(1200)}
    archive.put_all([], facts=many)

    assert archive.facts([*many, b"x" * 32]) == many


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE facts SET fact = '{}'",
        "DELETE FROM facts",
        "REPLACE INTO facts SELECT key, '{}', time, sha256 FROM facts",
    ],
)
def test_facts_are_append_only(archive: Archive, folder: Path, statement: str) -> None:
    recorded(archive, FACT)
    archive.close()
    with (
        closing(sqlite3.connect(folder / "archive.db")) as connection,
        pytest.raises(sqlite3.IntegrityError, match="facts are append-only"),
    ):
        connection.execute(statement)


def test_a_fact_that_was_changed_is_found(archive: Archive, tamper: Callable[..., None]) -> None:
    recorded(archive, FACT, FACT)
    archive.close()
    tamper(f"UPDATE facts SET fact = '{{}}' WHERE key = x'{KEYS[1].hex()}'")  # noqa: S608 (our own key)
    verified = archive.verify()

    assert verified.facts == 2
    assert verified.problems == (
        "fact 010101010101: it was changed after it was recorded: its hash is not that of its text",
    )


def test_facts_are_counted_and_exported_and_stay_when_originals_are_pruned(archive: Archive, tmp_path: Path) -> None:
    recorded(archive, FACT)
    done = archive.export(tmp_path / "out")
    (line,) = (tmp_path / "out" / "ledger.jsonl").read_text().splitlines()
    archive.prune(older_than_days=0)

    assert (done.facts, archive.stats().facts, archive.facts(KEYS)) == (1, 1, {KEYS[0]: FACT})
    assert json.loads(line) | {"time": ""} == {"key": KEYS[0].hex(), "time": "", "fact": FACT}
    assert archive.verify().clean


def test_an_archive_of_the_version_before_gets_a_ledger_when_it_is_opened(archive: Archive, folder: Path) -> None:
    (ref,) = archive.put_all([Entry(content="The output.")])
    archive.close()
    with closing(sqlite3.connect(folder / "archive.db", isolation_level=None)) as connection:
        connection.execute("DROP TABLE facts")
        connection.execute("PRAGMA user_version = 1")
    with open_archive(folder, environ={}) as opened:
        assert opened.get(ref).content == "The output."
        recorded(opened, FACT)

        assert opened.facts(KEYS) == {KEYS[0]: FACT}
        assert opened.verify().clean
    assert stat.S_IMODE((folder / "archive.db").stat().st_mode) == 0o600


def test_an_archive_that_keeps_nothing_has_no_facts_and_takes_none() -> None:
    nothing = open_archive("none", environ={})

    assert nothing.facts(KEYS) == {}
    with pytest.raises(elision.ArchiveError, match="nothing is kept"):
        nothing.put_all([], facts={KEYS[0]: FACT})


def test_a_put_that_fails_records_no_fact(archive: Archive, folder: Path) -> None:
    archive.put_all([Entry(content="before")])
    with closing(sqlite3.connect(folder / "archive.db", isolation_level=None)) as other:
        other.execute("CREATE TRIGGER refuses BEFORE INSERT ON records BEGIN SELECT RAISE(ABORT, 'no'); END")
    with pytest.raises(elision.ArchiveError):
        recorded(archive, FACT)

    assert archive.facts(KEYS) == {}
