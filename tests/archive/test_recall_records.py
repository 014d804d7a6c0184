"""A record of a result in JSON is brought back by its number, exactly as it stands there."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import elision
from elision import Archive, ArchiveError, handle_recall, open_archive, recall
from elision.archive import Entry
from elision.cli import cli

TEXT = '{"page": 1, "items": [ {"id": 1.50, "t": "a\\u00e9"} ,{"id":  2},\n[3], "four", 5e400 ], "more": [1, 2]}'
RECORDS = ['{"id": 1.50, "t": "a\\u00e9"}', '{"id":  2}', "[3]", '"four"', "5e400"]


@pytest.fixture
def archive() -> Iterator[Archive]:
    with open_archive("memory:", environ={}) as opened:
        yield opened


def put(archive: Archive, content: Any, **facts: Any) -> str:
    (ref,) = archive.put_all([Entry(content=content, **facts)])
    return ref.short


@pytest.mark.parametrize("number", range(1, 6))
def test_each_record_comes_back_as_it_is_written(archive: Archive, number: int) -> None:
    found = recall(put(archive, TEXT), record=number, archive=archive)

    assert (found.text, found.records) == (RECORDS[number - 1], f"{number} of 5")


@pytest.mark.parametrize(("asked", "which"), [("2:3", (1, 3)), ("4:", (3, 5)), (":2", (0, 2)), ("3", (2, 3))])
def test_a_range_of_records_comes_one_after_the_other(archive: Archive, asked: str, which: tuple[int, int]) -> None:
    found = recall(put(archive, TEXT), records=asked, archive=archive)

    assert found.text == "\n".join(RECORDS[slice(*which)])


def test_lines_of_json_are_records(archive: Archive) -> None:
    ref = put(archive, '{"a": 1}\r\n\n{"a": 2}\n{"a": 3}')

    assert recall(ref, record=2, archive=archive).text == '{"a": 2}'


def test_the_records_of_a_result_of_parts_are_those_of_its_longest_text_with_records(archive: Archive) -> None:
    parts = [{"type": "text", "text": "[1, 2]"}, {"type": "text", "text": TEXT}, {"type": "image_url"}]

    assert recall(put(archive, parts), record=2, archive=archive).text == RECORDS[1]


def test_a_pattern_and_lines_are_looked_for_in_the_record(archive: Archive) -> None:
    ref = put(archive, json.dumps([{"a": 1}, {"a": "x\ny"}], indent=1))
    found = recall(ref, record=2, grep='"a"', archive=archive)

    assert found.text == '2:  "a": "x\\ny"\n'


def test_records_are_redacted_as_the_view_was(archive: Archive) -> None:
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    ref = put(archive, json.dumps([{"token": secret, "id": 7}, {"id": 8}]), view_policy="secrets")

    assert secret not in recall(ref, record=1, archive=archive).text
    assert secret in recall(ref, record=1, raw=True, archive=archive).text


@pytest.mark.parametrize(
    ("content", "asked", "message"),
    [
        (TEXT, {"record": 6}, "record: there is no 6; the original has the records 1:5"),
        (TEXT, {"record": 0}, "record: there is no 0; the original has the records 1:5"),
        (TEXT, {"records": "x"}, "records: 'x' is no range; write 10:20, 10:, :20 or 7"),
        (TEXT, {"record": 1, "records": "2"}, "record: 'records' is given, too; give one of them"),
        (
            "no JSON",
            {"record": 1},
            "record: the original has no records: it is no JSON with a list in it, nor lines of JSON; ask for lines",
        ),
    ],
)
def test_what_is_wrong_is_said(archive: Archive, content: str, asked: dict[str, Any], message: str) -> None:
    ref = put(archive, content)

    with pytest.raises(ArchiveError) as raised:
        recall(ref, archive=archive, **asked)
    assert str(raised.value) == message


def test_the_tool_brings_a_record_back_and_says_which(archive: Archive) -> None:
    ref = put(archive, TEXT)

    assert handle_recall({"ref": ref, "record": 2}, archive).startswith('{"id":  2}\n[recall')
    assert handle_recall({"ref": ref, "record": "2"}, archive) == handle_recall({"ref": ref, "record": 2}, archive)
    assert "[3]" in handle_recall({"ref": ref, "records": "2:4"}, archive)
    assert "there is no 9" in handle_recall({"ref": ref, "record": 9}, archive)


@pytest.mark.parametrize("style", ["openai", "responses", "anthropic", "gemini"])
def test_the_schema_of_the_tool_has_records(style: str) -> None:
    assert '"record"' in json.dumps(elision.recall_tool_schema(style))
    assert '"records"' in json.dumps(elision.recall_tool_schema(style))


def test_the_command_line_prints_a_record(tmp_path: Path) -> None:
    with open_archive(tmp_path / "a", environ={}) as archive:
        ref = put(archive, TEXT)
    one, two = (
        CliRunner().invoke(cli, ["recall", ref, *asked, "--archive", str(tmp_path / "a")])
        for asked in (["--record", "2"], ["--records", "2:3"])
    )

    assert (one.stdout, two.stdout) == (RECORDS[1], "\n".join(RECORDS[1:3]))
    assert "record 2 of 5" in one.stderr
