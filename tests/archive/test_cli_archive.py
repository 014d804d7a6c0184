"""``elision recall`` and ``elision archive`` on the command line."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from elision.archive import Archive, Entry
from elision.cli import cli

TEXT = "one\r\ntwo\x1b[0m\nexport DB_PASSWORD=hunter2hunter2\n"


def run(*arguments: object, env: dict[str, str] | None = None) -> Result:
    return CliRunner().invoke(cli, [str(argument) for argument in arguments], env=env, prog_name="elision")


@pytest.fixture
def ref(archive: Archive) -> str:
    (ref,) = archive.put_all([Entry(content=TEXT, view_policy="secrets", operation="clear", session="s", tool="bash")])
    return ref.short


def test_recall_prints_the_exact_bytes_with_raw_and_the_views_without(folder: Path, ref: str) -> None:
    raw, seen = run("recall", ref, "--raw", "--archive", folder), run("recall", ref, "--archive", folder)

    assert (raw.stdout_bytes, raw.stderr) == (TEXT.encode(), "")
    assert seen.stdout_bytes == TEXT.replace("hunter2hunter2", "[removed: credential]").encode()
    assert seen.stderr == f"recall {ref}: redacted (secrets)\n"


def test_recall_of_lines_and_matches(folder: Path, ref: str) -> None:
    assert run("recall", ref, "--lines", "2:2", "--archive", folder).stdout == "two\x1b[0m\n"
    assert run("recall", ref, "--grep", "^o", "--archive", folder).stdout_bytes == b"1:one\r\n"


def test_recall_of_one_page(folder: Path, ref: str) -> None:
    result = run("recall", ref, "--page", 2, "--page-chars", 6, "--raw", "--archive", folder)

    assert result.stdout_bytes == b"two\x1b[0"
    assert "page 2 of" in result.stderr


def test_recall_as_json(folder: Path, ref: str) -> None:
    found = json.loads(run("recall", ref, "--raw", "--json", "--archive", folder).stdout)

    assert (found["text"], found["ref"], found["total_lines"], found["policy"]) == (TEXT, ref, 3, "none")


def test_the_archive_is_that_of_the_environment_unless_one_is_named(folder: Path, ref: str, tmp_path: Path) -> None:
    named = {"ELISION_ARCHIVE": str(folder)}

    assert run("recall", ref, env=named).exit_code == 0
    assert run("recall", ref, "--archive", tmp_path / "empty", env=named).exit_code == 1


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["recall", "0" * 12], "there is no original 000000000000"),
        (["recall", "nonsense"], "'nonsense' is no ref"),
        (["recall", "REF", "--lines", "9:"], "lines: there is no 9:; the original has the lines 1:3"),
        (["recall", "REF", "--grep", "("], "grep: '(' is not a regular expression"),
        (["recall", "REF", "--archive", "s3://x"], "archive: there is no archive of the kind 's3'"),
        (["archive", "export", "FILE"], "name a folder that can be written"),
    ],
)
def test_what_is_wrong_is_one_line(folder: Path, ref: str, tmp_path: Path, arguments: list[str], said: str) -> None:
    (tmp_path / "file").write_text("")
    given = [{"REF": ref, "FILE": tmp_path / "file"}.get(argument, argument) for argument in arguments]
    result = run(*given, env={"ELISION_ARCHIVE": str(folder)} if "--archive" not in given else {})

    assert (result.exit_code, result.stdout, result.stderr.count("\n")) == (1, "", 1)
    assert said in result.stderr


def test_verify_says_that_it_is_clean(folder: Path, ref: str) -> None:
    result = run("archive", "verify", "--archive", folder)

    assert (result.exit_code, result.stdout) == (0, f"{folder / 'archive.db'}: 1 originals, 1 records: clean\n")


def test_verify_names_each_problem_and_exits_with_1(folder: Path, ref: str, archive: Archive) -> None:
    archive.close()
    with closing(sqlite3.connect(folder / "archive.db")) as stranger:
        stranger.execute("DROP TRIGGER blobs_no_update")
        stranger.execute("UPDATE blobs SET data = x'00'")
        stranger.commit()
    result = run("archive", "verify", "--archive", folder)
    found = json.loads(run("archive", "verify", "--json", "--archive", folder).stdout)

    assert result.exit_code == 1
    assert result.stdout.splitlines() == [
        *found["problems"],
        f"{folder / 'archive.db'}: 1 originals, 1 records: 2 problem(s)",
    ]


def test_stats_as_a_table_and_as_json(folder: Path, ref: str) -> None:
    table = run("archive", "stats", "--archive", folder).stdout
    found = json.loads(run("archive", "stats", "--json", "--archive", folder).stdout)

    assert (found["originals"], found["by_operation"]) == (
        1,
        [{"operation": "clear", "records": 1, "chars": len(TEXT)}],
    )
    assert "originals" in table
    assert "clear" in table


def test_export_writes_files(folder: Path, ref: str, tmp_path: Path) -> None:
    result = run("archive", "export", tmp_path / "out", "--archive", folder)

    assert (result.exit_code, result.stdout) == (0, f"{tmp_path / 'out'}: 1 originals, 1 records\n")
    assert (tmp_path / "out" / "originals" / f"{ref}.txt").read_bytes() == TEXT.encode()


def test_prune_deletes_only_what_is_asked_for(folder: Path, ref: str) -> None:
    kept = run("archive", "prune", "--older-than-days", 0, "--keep-session", "s", "--archive", folder)
    young = run("archive", "prune", "--older-than-days", 30, "--archive", folder)
    gone = run("archive", "prune", "--older-than-days", 0, "--json", "--archive", folder)

    assert "pruned 0 originals" in kept.stdout
    assert "pruned 0 originals" in young.stdout
    assert json.loads(gone.stdout) == {"originals": 1, "bytes": len(TEXT)}
    assert "were pruned on" in run("recall", ref, "--archive", folder).stderr


def test_prune_without_an_age_is_a_usage_error(folder: Path) -> None:
    assert run("archive", "prune", "--archive", folder).exit_code == 2


@pytest.mark.parametrize(
    "arguments",
    [
        ["recall", "0" * 12],
        ["archive", "verify"],
        ["archive", "verify", "--json"],
        ["archive", "stats"],
        ["archive", "export", "OUT"],
        ["archive", "prune", "--older-than-days", "0"],
    ],
)
@pytest.mark.parametrize("where", ["MISSING", "FOLDER", "memory:", "none"])
def test_where_there_is_no_archive_it_is_told_and_nothing_is_made(
    tmp_path: Path, arguments: list[str], where: str
) -> None:
    (tmp_path / "folder").mkdir()
    place = {"MISSING": str(tmp_path / "mistyped"), "FOLDER": str(tmp_path / "folder")}.get(where, where)
    given = [{"OUT": str(tmp_path / "out")}.get(argument, argument) for argument in arguments]
    result = run(*given, "--archive", place)

    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr == (
        f"{place.removesuffix(':')}: there is no archive; name the folder that a chain wrote to "
        "(archive: in its file, .elision in its working directory)\n"
    )
    assert list(tmp_path.rglob("*")) == [tmp_path / "folder"]
