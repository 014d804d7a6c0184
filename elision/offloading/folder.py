"""The folder of offloaded results: opened without following a link, and closed to others."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import PurePosixPath
from typing import Annotated, TypeAlias

from pydantic import AfterValidator

from elision.errors import ArchiveError

_LONGEST = 200
"""Characters of a folder's name, at most: each note has it."""

_IGNORE_ALL = b"*\n"


def offload_folder_problem(folder: str) -> str:
    """Say why results cannot be offloaded to a folder, which need not be there yet; nothing where they can."""
    wrong = _ill_named(folder)
    if wrong:
        return f"folder: {wrong}"
    try:
        with _reached(folder, make=False) as (descriptor, whole):
            if whole:
                _require_closed(descriptor, folder)
            if not os.access(".", os.W_OK | os.X_OK, dir_fd=descriptor):
                return f"folder: {folder!r} cannot be written; mend its permissions, or name another folder"
    except ArchiveError as error:
        return f"folder: {error}"
    except OSError as error:
        return f"folder: {folder!r}: {error.strerror or error}; name another folder"
    return ""


@contextmanager
def opened(folder: str) -> Iterator[int]:
    """Open the folder, which is made if it is missing, closed to others and ignored by git."""
    with _reached(folder, make=True) as (descriptor, _):
        _require_closed(descriptor, folder)
        yield descriptor


@contextmanager
def _reached(folder: str, *, make: bool) -> Iterator[tuple[int, bool]]:
    """Open the folder, or what is there of the way to it, and say whether that is all of it.

    From the working directory on no link is followed; of an absolute path the last folder is no link.
    """
    path = PurePosixPath(folder)
    steps = [path.name] if path.is_absolute() else [part for part in path.parts if part != "."]
    descriptor = _start(path.parent, make=make) if path.is_absolute() else os.open(".", _FOLDER)
    try:
        for place, name in enumerate(steps):
            try:
                inner = _entered(name, descriptor, make=make)
            except FileNotFoundError:
                yield descriptor, False
                return
            except NotADirectoryError:
                there = "/".join(steps[: place + 1]) if not path.is_absolute() else folder
                raise ArchiveError(
                    f"{there!r} is a link or a file; results go only to real folders; take it away, or name another"
                ) from None
            os.close(descriptor)
            descriptor = inner
        yield descriptor, True
    finally:
        os.close(descriptor)


_FOLDER = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0)
_NO_LINK = _FOLDER | getattr(os, "O_NOFOLLOW", 0)


def _start(parent: PurePosixPath, *, make: bool) -> int:
    """Open the folder above an absolute one; where it is not made, the nearest one that there is."""
    if make:
        os.makedirs(parent, mode=0o700, exist_ok=True)
    while not os.path.isdir(parent) and parent.parent != parent and not os.path.lexists(parent):
        parent = parent.parent
    return os.open(parent, _FOLDER)


def _entered(name: str, above: int, *, make: bool) -> int:
    try:
        return _no_link(name, above)
    except FileNotFoundError:
        if not make:
            raise
    with suppress(FileExistsError):
        os.mkdir(name, 0o700, dir_fd=above)
        os.fsync(above)
    inner = _no_link(name, above)
    try:
        _ignore(inner)
    except BaseException:
        os.close(inner)
        raise
    return inner


def _no_link(name: str, above: int) -> int:
    try:
        return os.open(name, _NO_LINK, dir_fd=above)
    except OSError as error:
        if stat.S_ISLNK(os.stat(name, dir_fd=above, follow_symlinks=False).st_mode):
            raise NotADirectoryError(error.errno, error.strerror) from None
        raise


def _ignore(descriptor: int) -> None:
    with suppress(FileExistsError):
        ignored = os.open(".gitignore", os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600, dir_fd=descriptor)
        try:
            os.write(ignored, _IGNORE_ALL)
        finally:
            os.close(ignored)


def _require_closed(descriptor: int, folder: str) -> None:
    mode = os.fstat(descriptor).st_mode
    if mode & stat.S_IWOTH:
        raise ArchiveError(f"{folder!r} can be written by anybody; run chmod o-w on it, or name another folder")


def _named(folder: str) -> str:
    wrong = _ill_named(folder)
    if wrong:
        raise ValueError(wrong)
    return folder


OffloadFolder: TypeAlias = Annotated[str, AfterValidator(_named)]
"""The path of a folder for offloaded results; its name is checked when the option is read."""


def _ill_named(folder: str) -> str:
    if not folder.strip() or any(not letter.isprintable() for letter in folder):
        return f"{folder!r:.80} names no folder; name one, such as .elision/offloaded"
    if folder.startswith("~"):
        return f"{folder!r:.80}: tools that read files do not know ~; write the folder out"
    if len(folder) > _LONGEST:
        return f"its name has {len(folder)} characters; {_LONGEST} are allowed; name a shorter one"
    if PurePosixPath(folder).name in ("", ".."):
        return f"{folder!r:.80}: results have a folder of their own; name one, such as .elision/offloaded"
    return ""
