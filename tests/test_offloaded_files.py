"""Files of offloaded results: whole or not there, never written over, and never anywhere but in their folder."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from forked import Python
from guarded import planned
from offload_runs import FOLDER, files, lines, offloading, paths, quietly, results, searching

import elision
from elision import SentView
from elision.testing import Conversation, call, conversation, result

LONG = lines(400)
NAME = f"{sha256(LONG.encode()).hexdigest()[:32]}.txt"
CHAIN = "history_processors: [{{type: offload, folder: {}}}]"


@pytest.fixture(autouse=True)
def working_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


def loaded(folder: str) -> elision.Chain:
    return elision.loads(CHAIN.format(json.dumps(folder)))


def spoilt(view: SentView) -> list[tuple[str, str]]:
    return [(failure.processor, failure.effect) for failure in view.failures]


# The folder, at the start.


@pytest.mark.parametrize(
    ("folder", "told"),
    [
        ("", "'' names no folder; name one, such as .elision/offloaded"),
        ("  ", "names no folder"),
        ("a\0b", r"'a\\x00b' names no folder"),
        ("a\nb", r"'a\\nb' names no folder"),
        ("~/offloaded", "tools that read files do not know ~; write the folder out"),
        ("x" * 201, "its name has 201 characters; 200 are allowed"),
        (".", "results have a folder of their own"),
        ("..", "results have a folder of their own"),
        ("/", "results have a folder of their own"),
        ("a.txt", "'a.txt' is a link or a file; results go only to real folders"),
        ("a.txt/b", "'a.txt' is a link or a file"),
        ("link", "'link' is a link or a file"),
        ("link/inner", "'link' is a link or a file"),
        ("dangling", "'dangling' is a link or a file"),
        ("open", "can be written by anybody; run chmod o-w on it"),
    ],
)
def test_a_folder_that_cannot_be_used_is_an_error_when_the_chain_is_made(
    folder: str, told: str, tmp_path: Path
) -> None:
    Path("a.txt").write_text("x")
    (tmp_path / "elsewhere").mkdir()
    Path("link").symlink_to(tmp_path / "elsewhere")
    Path("dangling").symlink_to("nowhere")
    Path("open").mkdir()
    Path("open").chmod(0o777)

    with pytest.raises(elision.ConfigError, match=told):
        loaded(folder)


@pytest.mark.parametrize("folder", ["out", "./out", "out/", "deep/er/out", "../beside", "ordner mit platz", "größe"])
def test_other_folders_are_made_when_the_first_file_is_written(folder: str) -> None:
    offload = elision.processor_types()["offload"](threshold_tokens=500, folder=folder)
    chain = elision.Chain([offload], archive="memory:")
    before = Path(folder).exists()
    view = chain.process(searching(LONG).messages())

    assert (before, files(folder)) == (False, [NAME])
    assert f"offloaded to {folder.rstrip('/')}/{NAME};" in results(view)[0]


def test_an_absolute_folder_may_be_reached_over_links_but_is_none(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "way").symlink_to(tmp_path / "real")
    (tmp_path / "real" / "link").symlink_to(tmp_path / "real")
    offload = elision.processor_types()["offload"](threshold_tokens=500, folder=f"{tmp_path}/way/out")
    elision.Chain([offload], archive="memory:").process(searching(LONG).messages())

    assert files(str(tmp_path / "real" / "out")) == [NAME]
    with pytest.raises(elision.ConfigError, match="is a link or a file"):
        loaded(f"{tmp_path}/way/link")


def test_a_folder_that_cannot_be_written_is_an_error_when_the_chain_is_made(working_directory: Path) -> None:
    working_directory.chmod(0o500)
    try:
        if os.geteuid() == 0:
            _as_nobody(working_directory)
        else:
            with pytest.raises(elision.ConfigError, match="cannot be written; mend its permissions"):
                loaded("out")
    finally:
        working_directory.chmod(0o700)


def _as_nobody(folder: Path) -> None:
    """Try it as a user who may not write here: root may everywhere."""
    for parent in (folder, *folder.parents):
        if parent.stat().st_uid == os.geteuid() and not parent.stat().st_mode & 0o001:
            parent.chmod(parent.stat().st_mode | 0o055)
    offload = elision.processor_types()["offload"]
    offload(folder="elsewhere").prepare()  # all that it needs is imported while that is allowed
    pid = os.fork()
    if pid == 0:
        told = ""
        try:
            os.setuid(65534)
            offload(folder="out").prepare()
        except ValueError as error:
            told = str(error)
        finally:
            os._exit("cannot be written; mend its permissions" not in told)

    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0


# The files.


def test_nothing_is_written_over_and_the_result_stays(recwarn: pytest.WarningsRecorder) -> None:
    chain = offloading()
    Path(FOLDER).mkdir(parents=True)
    Path(FOLDER, NAME).write_text("mine")
    view = quietly(chain, searching(LONG, lines(500)).messages())

    assert ["offloaded to" in text for text in results(view)] == [False, True]
    assert results(view)[0] == LONG
    assert Path(FOLDER, NAME).read_text() == "mine"
    assert spoilt(view) == [("files", "the result stays in the request")]
    assert "something else has this name, and nothing is written over" in view.failures[0].error
    assert [(each.rule, each.call_id) for each in view.refusals] == [("archived_first", "call_1")]


def test_a_file_that_is_there_with_the_same_content_is_kept() -> None:
    offloading(archive="one").process(searching(LONG).messages())
    before = Path(FOLDER, NAME).stat()
    view = offloading(archive="two").process(searching(LONG).messages())

    assert (Path(FOLDER, NAME).stat().st_ino, Path(FOLDER, NAME).stat().st_mtime_ns) == (
        before.st_ino,
        before.st_mtime_ns,
    )
    assert (len(view.edits), view.failures) == (1, ())


@pytest.mark.parametrize("kind", ["link", "dangling", "folder", "pipe"])
def test_what_stands_in_place_of_a_file_is_not_followed(kind: str, tmp_path: Path) -> None:
    target = tmp_path / "target"
    Path(FOLDER).mkdir(parents=True)
    if kind == "link":
        target.write_text(LONG)
    make: dict[str, Any] = {
        "link": lambda: Path(FOLDER, NAME).symlink_to(target),
        "dangling": lambda: Path(FOLDER, NAME).symlink_to(target),
        "folder": lambda: Path(FOLDER, NAME).mkdir(),
        "pipe": lambda: os.mkfifo(Path(FOLDER, NAME)),
    }
    make[kind]()
    view = quietly(offloading(), searching(LONG).messages())

    assert results(view) == [LONG]
    assert target.exists() == (kind == "link")
    assert files() == [NAME]


def test_a_folder_that_becomes_a_link_during_the_run_gets_no_more_files_and_the_run_goes_on(tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    messages = searching(LONG, lines(500)).messages()
    with offloading().session() as session:
        session.process(messages[:3])
        Path(FOLDER).rename("away")
        Path(FOLDER).symlink_to(elsewhere)
        view = quietly(session, messages)
        Path(FOLDER).unlink()
        again = session.process(messages)

    assert ["offloaded to" in text for text in results(view)] == [True, False]
    assert "is a link or a file" in view.failures[0].error
    assert list(elsewhere.iterdir()) == []
    assert ["offloaded to" in text for text in results(again)] == [True, True]


def test_a_result_of_a_step_that_is_not_complete_is_offloaded_for_this_request() -> None:
    run = conversation().user("Go.").step(call("search", q="a"), call("search", q="b"), result(LONG))
    with offloading().session() as session:
        early = session.process(run.messages())
        later = session.process(
            conversation()
            .user("Go.")
            .step(call("search", q="a"), call("search", q="b"), result(LONG), result("x"))
            .messages()
        )

    assert results(early)[:1] == results(later)[:1]
    assert paths(early) == [f"{FOLDER}/{NAME}"]


@pytest.mark.parametrize("name", ["../../../etc/evil\0\n", "a/b", "x" * 3000, "", "\ud800", "$(rm -rf .)"])
def test_a_hostile_name_or_call_id_or_argument_is_never_part_of_a_path(name: str, working_directory: Path) -> None:
    run = Conversation("openai").user("x").step(call(name or "f", call_id=name, path=name), result(LONG)).step("Done.")
    before = set(working_directory.parent.rglob("*"))
    view = quietly(offloading(table="none", archive="memory:"), run.messages())
    made = set(working_directory.parent.rglob("*")) - before

    assert files() == [NAME] if view.edits else results(view) == [LONG]
    assert {path.name for path in made} <= {".elision", "offloaded", ".gitignore", NAME}


def test_a_plugin_cannot_choose_the_name_of_a_file() -> None:
    plugin = planned(
        lambda view: [each.offload("../x/../out", reason="../../y") for each in view.observations],
        operation="offload",
        stage="entry",
    )
    elision.Chain([plugin], archive="memory:").process(searching(LONG).messages())

    assert files("../out") == [NAME]


# Crashes, and several at once.


def test_killed_at_random_points_nothing_is_lost_no_file_is_torn_and_the_view_is_valid_after_a_restart(
    tmp_path: Path,
) -> None:
    command = [sys.executable, str(Path(__file__).parent / "killed_offloads.py"), str(tmp_path), "16", "7"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    found = json.loads(done.stdout or "{}")

    assert done.returncode == 0, done.stderr
    assert found.pop("files") > 3
    assert found.pop("parts") <= 16
    assert found == {"torn": [], "lost": [], "unlike": [], "problems": []}


STOPPED = """
import os, sys
import elision
from elision.archive import Archive
os.environ["ELISION_ARCHIVE"] = ".elision"
sys.path.insert(0, {tests!r})
from offload_runs import lines, offloading, searching
Archive.put_all = lambda *given, **more: os._exit(9)
offloading().process(searching(lines(400)).messages())
"""


def test_killed_between_the_file_and_the_archive_the_view_is_the_same_after_a_restart(python: Python) -> None:
    code = STOPPED.format(tests=str(Path(__file__).parent))
    done = python("-c", code)
    between = files()
    chain, messages = offloading(), searching(LONG).messages()
    view = chain.process(messages)

    assert (done.returncode, between) == (9, [NAME])
    assert (files(), view.failures, paths(view)) == ([NAME], (), [f"{FOLDER}/{NAME}"])
    assert chain.opened_archive.get(view.edits[0].ref).content == LONG


FOUR = """
import os
for _ in range(4):
    if os.fork() == 0:
        break
else:
    codes = [os.waitstatus_to_exitcode(os.wait()[1]) for _ in range(4)]
    print(codes, flush=True)
    os._exit(0)
"""


def test_several_processes_at_once_write_the_same_content_once(python: Python) -> None:
    code = STOPPED.format(tests=str(Path(__file__).parent)).replace("Archive.put_all", "Archive.unused")
    done = python("-c", FOUR + code)

    assert done.stdout == "[0, 0, 0, 0]\n", done.stderr
    assert files() == [NAME]
    assert Path(FOLDER, NAME).read_text() == LONG


def test_the_archive_tells_git_too_where_the_first_file_was_written_before_it() -> None:
    Path(".elision").mkdir()
    offloading().process(searching(LONG).messages())

    assert Path(".elision", ".gitignore").read_text() == "*\n"
    assert offloading().opened_archive.verify().problems == ()
