"""The tables of an archive in SQLite, and the triggers that make them append-only."""

from __future__ import annotations

from elision.archive.record import FIELDS

APPLICATION_ID = 0x456C6973
VERSION = 2

DIGESTS = frozenset({"previous", "hash", "sha256", "arguments_sha256"})
"""Columns of records that hold a hash: kept as bytes, which halves them."""

_NUMBERS = frozenset({"sequence", "chars_before", "chars_after", "size"})


def _column(name: str) -> str:
    kind = "BLOB" if name in DIGESTS else "INTEGER" if name in _NUMBERS else "TEXT"
    return f"{name} {kind} NOT NULL"


TABLES = (
    """CREATE TABLE blobs (number INTEGER PRIMARY KEY AUTOINCREMENT, sha256 BLOB NOT NULL UNIQUE, kind TEXT NOT NULL,
    encoding TEXT NOT NULL, size INTEGER NOT NULL, data BLOB NOT NULL)""",
    "CREATE TABLE refs (ref TEXT PRIMARY KEY, sha256 BLOB NOT NULL UNIQUE) WITHOUT ROWID",
    f"""CREATE TABLE records (number INTEGER PRIMARY KEY, {", ".join(map(_column, FIELDS))},
    UNIQUE (writer, sequence))""",
    "CREATE INDEX records_by_content ON records (sha256, session, call_id, view_policy)",
    "CREATE INDEX records_by_session ON records (session)",
    "CREATE INDEX records_of_prune ON records (number) WHERE operation = 'prune'",
    "CREATE TABLE tombstones (blob INTEGER PRIMARY KEY, sha256 BLOB NOT NULL, record BLOB NOT NULL UNIQUE)",
    "CREATE TABLE texts (sha256 BLOB PRIMARY KEY) WITHOUT ROWID",
)

LEDGER = (
    """CREATE TABLE facts (key BLOB PRIMARY KEY, fact TEXT NOT NULL, time TEXT NOT NULL, sha256 BLOB NOT NULL)
    WITHOUT ROWID""",
)
"""Tables that came with version 2."""

_KEPT = ("blobs", "refs", "records", "tombstones", "texts", "facts")
_UNIQUE = {
    "blobs": "number = NEW.number OR sha256 = NEW.sha256",
    "refs": "ref = NEW.ref OR sha256 = NEW.sha256",
    "records": "number = NEW.number OR (writer = NEW.writer AND sequence = NEW.sequence)",
    "tombstones": "blob = NEW.blob OR record = NEW.record",
    "texts": "sha256 = NEW.sha256",
    "facts": "key = NEW.key",
}
"""What REPLACE would delete without firing a DELETE trigger."""


def _refuse(table: str, what: str) -> str:
    return f"BEGIN SELECT RAISE(ABORT, '{table} are append-only: no {what}'); END"


def _no_replace(table: str, same: str) -> str:
    taken = f"EXISTS (SELECT 1 FROM {table} WHERE {same})"  # noqa: S608 (our own names)
    return f"CREATE TRIGGER {table}_no_replace BEFORE INSERT ON {table} WHEN {taken} {_refuse(table, 'REPLACE')}"


TRIGGERS = {
    **{
        f"{table}_no_update": f"CREATE TRIGGER {table}_no_update BEFORE UPDATE ON {table} {_refuse(table, 'UPDATE')}"
        for table in _KEPT
    },
    **{
        f"{table}_no_delete": f"CREATE TRIGGER {table}_no_delete BEFORE DELETE ON {table} {_refuse(table, 'DELETE')}"
        for table in _KEPT
        if table != "blobs"
    },
    **{f"{table}_no_replace": _no_replace(table, same) for table, same in _UNIQUE.items()},
    "blobs_no_delete": "CREATE TRIGGER blobs_no_delete BEFORE DELETE ON blobs WHEN NOT EXISTS "
    "(SELECT 1 FROM tombstones WHERE blob = OLD.number AND sha256 = OLD.sha256) "
    "BEGIN SELECT RAISE(ABORT, 'blobs are append-only: only prune deletes, after its tombstone'); END",
    "tombstones_need_a_record": "CREATE TRIGGER tombstones_need_a_record BEFORE INSERT ON tombstones WHEN NOT EXISTS "
    "(SELECT 1 FROM records WHERE hash = NEW.record AND sha256 = NEW.sha256 AND operation = 'prune') "
    "BEGIN SELECT RAISE(ABORT, 'a tombstone needs its record'); END",
}

UPGRADES = {1: (*LEDGER, *(statement for name, statement in TRIGGERS.items() if name.startswith("facts_")))}
"""What makes the next version of an archive's tables, by the version that they have."""

FAULTS = {
    "SELECT lower(hex(sha256)), count(*) FROM records r WHERE operation != 'prune' AND sha256 != x'' "
    "AND NOT EXISTS (SELECT 1 FROM blobs b WHERE b.sha256 = r.sha256) "
    "AND NOT EXISTS (SELECT 1 FROM tombstones t WHERE t.sha256 = r.sha256) GROUP BY sha256": "original {0}: its bytes "
    "are missing and no tombstone says why ({1} record(s) name it)",
    "SELECT lower(hex(sha256)) FROM blobs b WHERE NOT EXISTS (SELECT 1 FROM records r "
    "WHERE r.sha256 = b.sha256 AND r.operation != 'prune')": "original {0}: no record names it: records are missing",
    "SELECT lower(hex(sha256)) FROM blobs b WHERE NOT EXISTS (SELECT 1 FROM refs f "
    "WHERE f.sha256 = b.sha256)": "original {0}: it has no ref",
    "SELECT ref, lower(hex(sha256)) FROM refs "
    "WHERE substr(lower(hex(sha256)), 1, length(ref)) != ref": "ref {0}: it leads to {1}, which does not begin with it",
    "SELECT lower(hex(sha256)) FROM tombstones t WHERE NOT EXISTS (SELECT 1 FROM records r "
    "WHERE r.hash = t.record AND r.sha256 = t.sha256 AND r.operation = 'prune')": "tombstone of {0}: its record "
    "is missing",
}
"""Questions to the database that must have no answer, and what an answer means."""
