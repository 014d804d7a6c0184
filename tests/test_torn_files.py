"""Recorded histories whose writer was cut off: what is complete is read, and what is set aside is said."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import elision
from elision import ElisionWarning
from elision.documents import read_runs
from elision.testing import call, conversation, result

RUN = conversation().user("Go, 日本.").step(call("ls", path="a"), result('x "[{,'))
MESSAGES: list[Any] = RUN.step(call("ls", path="b"), result("y")).step("Done.").messages()
LINES = [json.dumps(each, ensure_ascii=False) for each in MESSAGES]


def read(path: Path, data: str | bytes) -> list[Any]:
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    (run,) = read_runs(path)
    return list(run.messages)


def lines(*records: str) -> str:
    return "".join(f"{each}\n" for each in records)


@pytest.mark.parametrize(
    ("data", "kept"),
    [
        (lines(*LINES[:4]) + LINES[4][:40], MESSAGES[:4]),
        (lines(*LINES[:5]).encode() + '{"role": "user", "content": "日'.encode()[:-1], MESSAGES[:5]),
        (lines(*LINES[:2], LINES[2][:30] + LINES[3], *LINES[4:]), MESSAGES[:2] + MESSAGES[3:]),
        (lines(*LINES[:2], LINES[2][:30], *LINES[3:]), MESSAGES[:2] + MESSAGES[3:]),
    ],
    ids=["torn last line", "cut in a character", "the next record glued to it", "torn in the middle"],
)
def test_of_torn_json_lines_every_complete_record_is_read(tmp_path: Path, data: str | bytes, kept: list[Any]) -> None:
    with pytest.warns(ElisionWarning, match=r"run\.jsonl: damaged.*: line \d \(.*\); the rest is read"):
        found = read(tmp_path / "run.jsonl", data)

    assert found == kept


@pytest.mark.parametrize(
    "data",
    [
        "\n".join(LINES),
        lines(*LINES) + "\0" * 4096,
        lines(*LINES[:2], "\0" * 100, *LINES[2:]),
        lines(*LINES[:2]) + "\0" * 100 + lines(*LINES[2:]),
        json.dumps(MESSAGES) + "\0" * 100,
    ],
    ids=["no newline", "NUL at the end", "NUL line", "NUL before a record", "NUL behind JSON"],
)
def test_a_record_that_is_complete_counts_whatever_blanks_are_around_it(tmp_path: Path, data: str) -> None:
    assert read(tmp_path / "run.jsonl", data) == MESSAGES


@pytest.mark.parametrize("indent", [None, 2])
def test_a_trajectory_that_is_cut_anywhere_gives_the_messages_that_are_complete(
    tmp_path: Path, indent: int | None
) -> None:
    whole = {"trajectory": [{"action": "ls"}], "history": MESSAGES, "info": {"exit_status": None, "n": [1, 2]}}
    text = json.dumps(whole, ensure_ascii=False, indent=indent)
    counts = []
    for cut in range(text.index('"history"') + 90, len(text) - 1, 7):
        with pytest.warns(ElisionWarning, match="the file ends too early"):
            found = read(tmp_path / "run.traj", text[:cut])
        counts.append(len(found))
        assert found == MESSAGES[: len(found)]

    assert counts == sorted(counts)
    assert {1, len(MESSAGES)} <= set(counts)


def test_a_trajectory_of_a_run_that_has_not_ended_needs_no_info(tmp_path: Path) -> None:
    assert read(tmp_path / "run.traj", json.dumps({"trajectory": [], "history": MESSAGES})) == MESSAGES


@pytest.mark.parametrize(
    "data",
    [
        '[{"role" "user"}, {"role": "user", "content": "x"}]',
        LINES[0][:20],
        lines(LINES[0], "a", "b"),
        '{"history": [{"role": "us',
        json.dumps(MESSAGES, ensure_ascii=False).encode("utf-16"),
    ],
    ids=["wrong in the middle", "nothing complete", "mostly something else", "no message yet", "not UTF-8"],
)
def test_what_is_no_history_that_was_cut_off_is_an_error_as_ever(tmp_path: Path, data: str | bytes) -> None:
    with pytest.raises(elision.InputError, match=r"not JSON|not a text file"):
        read(tmp_path / "run.json", data)
