"""Where an archive is, and what its folder looks like."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

import elision
from elision.archive import Entry, open_archive
from elision.registry import plugins


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_the_default_is_a_folder_in_the_working_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with open_archive(environ={}) as archive:
        monkeypatch.chdir("/")
        archive.put_all([Entry(content="x")])

    assert (tmp_path / ".elision" / "archive.db").is_file()


def test_the_folder_is_closed_to_others_and_ignored_by_git(folder: Path) -> None:
    before = os.umask(0)
    try:
        with open_archive(folder, environ={}) as archive:
            archive.put_all([Entry(content="x")])
            files = {path.name: mode(path) for path in folder.iterdir() if path.name != ".gitignore"}
    finally:
        os.umask(before)

    assert mode(folder) == 0o700
    assert (folder / ".gitignore").read_text() == "*\n"
    assert set(files.values()) == {0o600}


def test_a_folder_that_holds_other_things_gets_no_gitignore_and_keeps_its_mode(tmp_path: Path) -> None:
    (tmp_path / "main.py").write_text("")
    before = mode(tmp_path)
    with open_archive(tmp_path, environ={}) as archive:
        archive.put_all([Entry(content="x")])

    assert not (tmp_path / ".gitignore").exists()
    assert mode(tmp_path) == before


def test_opening_and_reading_touch_nothing(folder: Path) -> None:
    with open_archive(folder, environ={}) as archive:
        archive.is_ours("x")
        archive.ref("x")
        archive.stats()

    assert not folder.exists()


def test_the_environment_overrides_what_the_config_says(tmp_path: Path) -> None:
    with open_archive("none", environ={"ELISION_ARCHIVE": str(tmp_path / "other")}) as archive:
        archive.put_all([Entry(content="x")])

    assert (tmp_path / "other" / "archive.db").exists()


def test_an_empty_variable_overrides_nothing() -> None:
    assert open_archive("memory:", environ={"ELISION_ARCHIVE": ""}).where == "memory:"


def test_two_archives_in_memory_share_nothing() -> None:
    first, second = open_archive("memory:", environ={}), open_archive("memory:", environ={})
    first.put_all([Entry(content="x")])
    first.close()

    assert (first.stats().originals, second.stats().originals) == (1, 0)


def test_a_home_folder_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))

    assert open_archive("~/archives", environ={}).where == str(tmp_path / "archives" / "archive.db")


@pytest.mark.parametrize("where", ["s3://bucket/prefix", "file:///x", "S3:bucket"])
def test_a_scheme_that_nobody_offers_names_what_exists(where: str) -> None:
    with pytest.raises(elision.ConfigError) as caught:
        open_archive(where, environ={})

    assert str(caught.value) == (
        f"archive: there is no archive of the kind '{where.partition(':')[0].lower()}'; "
        "there are: a folder, memory:, none; a folder that has a colon: ./…"
    )


@pytest.mark.parametrize("where", ["", "  ", "a\0b"])
def test_what_names_no_folder_is_a_config_error(where: str) -> None:
    with pytest.raises(elision.ConfigError, match="names no folder"):
        open_archive(where, environ={})


def test_an_unknown_stored_policy_is_a_config_error() -> None:
    with pytest.raises(elision.ConfigError, match="there is no redaction policy 'pii'; policies: none, secrets, full"):
        open_archive("memory:", stored="pii", environ={})  # type: ignore[arg-type]


def test_a_plugin_can_offer_a_scheme(monkeypatch: pytest.MonkeyPatch) -> None:
    opened = open_archive("memory:", environ={})._store
    monkeypatch.setitem(plugins().__dict__, "_archives", {"acme": lambda url: opened})
    archive = open_archive("acme://bucket", environ={})
    (ref,) = archive.put_all([Entry(content="x")])

    assert opened.blob(ref.sha256) is not None
