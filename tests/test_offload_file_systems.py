"""Where a file cannot be written, or not as usual."""

from __future__ import annotations

import errno
import os
import resource
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import Any, NoReturn

import pytest
from offload_runs import FOLDER, files, lines, offloading, paths, quietly, results, searching

import elision
from elision import ElisionWarning
from elision.testing import call, conversation, result

LONG = lines(400)
NAME = f"{sha256(LONG.encode()).hexdigest()[:32]}.txt"


@pytest.fixture(autouse=True)
def working_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@contextmanager
def full_disk() -> Iterator[None]:
    """Let this process write no more than 4 KB of a file."""
    before, most = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, most))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (before, most))


@pytest.mark.parametrize("number", [errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS])
@pytest.mark.parametrize("unnamed", [True, False])
def test_where_a_file_can_have_one_name_only_results_are_offloaded_all_the_same(
    monkeypatch: pytest.MonkeyPatch, number: int, unnamed: bool
) -> None:
    def no_link(*_: Any, **__: Any) -> NoReturn:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(os, "link", no_link)
    if not unnamed:
        monkeypatch.delattr(os, "O_TMPFILE", raising=False)
    (path,) = paths(offloading().process(searching(LONG).messages()))

    assert Path(path).read_text() == LONG
    assert Path(path).stat().st_mode & 0o777 == 0o600
    assert files() == [Path(path).name]


def test_where_the_file_cannot_get_its_name_the_result_stays_and_nothing_is_left_behind(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def failing(*_: Any, **__: Any) -> NoReturn:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    monkeypatch.setattr(os, "link", failing)
    view = quietly(offloading(), searching(LONG).messages())

    assert results(view) == [LONG]
    assert files() == []


def test_on_a_full_disk_the_result_stays_a_warning_says_so_and_the_next_request_tries_again() -> None:
    chain, messages = offloading(archive="memory:"), searching(LONG).messages()
    with chain.session() as session:
        with full_disk(), pytest.warns(ElisionWarning, match=f"{FOLDER}/{NAME}: .*; the result stays in the request"):
            view = session.process(messages)
        left = files()
        again = session.process(messages)

    assert (results(view), left) == ([LONG], [])
    assert (len(paths(again)), again.failures, again.refusals, files()) == (1, (), (), [NAME])


def test_where_the_archive_fails_the_result_stays_although_the_file_is_written() -> None:
    Path("archive").write_text("taken")
    view = quietly(offloading(archive="archive"), searching(LONG).messages())

    assert results(view) == [LONG]
    assert [failure.processor for failure in view.failures] == ["archive"]


def test_what_else_was_removed_in_the_request_stands_where_one_file_cannot_be_written() -> None:
    Path(FOLDER).mkdir(parents=True)
    Path(FOLDER, NAME).write_text("mine")
    chain = elision.loads(
        "{history_processors: [{type: offload, threshold_tokens: 500}, {type: last_n_observations, n: 1}]}"
    )
    view = quietly(chain, searching("short " * 90, LONG, "x", "y").messages())

    assert [edit.call_id for edit in view.edits] == ["call_1"]


def test_a_session_and_a_fresh_process_agree_where_a_file_can_never_be_written() -> None:
    Path(FOLDER).mkdir(parents=True)
    Path(FOLDER, NAME).write_text("mine")
    chain, messages = offloading(), searching(LONG, lines(500), LONG, lines(600)).messages()
    with chain.session() as session:
        for stop in range(1, len(messages) + 1):
            assert quietly(session, messages[:stop]).messages == quietly(chain, messages[:stop]).messages


def test_where_a_file_cannot_be_begun_without_a_name_it_has_one_that_goes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(os, "O_TMPFILE", raising=False)
    (path,) = paths(offloading().process(searching(LONG).messages()))

    assert Path(path).read_text() == LONG
    assert files() == [NAME]


def test_a_result_of_a_step_that_is_not_complete_stays_too_where_its_file_cannot_be_written() -> None:
    Path(FOLDER).mkdir(parents=True)
    Path(FOLDER, NAME).write_text("mine")
    run = conversation().user("Go.").step(call("search", q="a"), call("search", q="b"), result(LONG))
    view = quietly(offloading(), run.messages())

    assert results(view)[0] == LONG
    assert view.edits == ()
    assert [(each.processor, each.effect) for each in view.failures] == [("files", "the result stays in the request")]
