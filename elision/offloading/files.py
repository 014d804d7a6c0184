"""Files of offloaded results: named by their hash, whole or not there at all, and never written over."""

from __future__ import annotations

import errno
import os
import secrets
from contextlib import suppress
from hashlib import sha256
from typing import BinaryIO, NamedTuple

from elision.archive.sqlite_file import trouble
from elision.errors import ArchiveError
from elision.offloading.folder import opened
from elision.reducing.json_text import is_json

_NO_LINKS = frozenset({errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK})
"""What file systems answer that know no second name of a file: those of FAT, and of folders shared with a machine."""

NAME_CHARS = 32
"""Characters of a file's name: 128 bits of the sha256 of what is in it."""


class OffloadedFile(NamedTuple):
    """A file that is to be written."""

    folder: str
    name: str
    data: bytes

    @property
    def path(self) -> str:
        """Its path, as it is shown."""
        return f"{self.folder.rstrip('/')}/{self.name}"


def offloaded_file(folder: str, text: str) -> OffloadedFile:
    """Return the file that a text goes to; lone surrogates, which a text of a host can hold, come back from it."""
    data = text.encode("utf-8", "surrogatepass")
    kind = "json" if is_json(text) else "txt"
    return OffloadedFile(folder, f"{sha256(data).hexdigest()[:NAME_CHARS]}.{kind}", data)


def write(file: OffloadedFile) -> None:
    """Write a file, durably; raise :class:`ArchiveError` where that fails, or where other content has its name."""
    try:
        with opened(file.folder) as folder:
            if not _is_there(file, folder):
                _put(file, folder)
    except OSError as error:
        raise trouble(file.path, error) from error


def _is_there(file: OffloadedFile, folder: int) -> bool:
    """Whether the file is there, whole; raise where something else stands in its place."""
    try:
        descriptor = os.open(file.name, os.O_RDONLY | os.O_NONBLOCK | getattr(os, "O_NOFOLLOW", 0), dir_fd=folder)
    except FileNotFoundError:
        return False
    except OSError as error:
        raise _taken(file) from error
    with os.fdopen(descriptor, "rb") as found:
        try:
            same = os.fstat(descriptor).st_size == len(file.data) and found.read() == file.data
        except OSError:
            same = False
    if not same:
        raise _taken(file)
    return True


def _taken(file: OffloadedFile) -> ArchiveError:
    return ArchiveError(
        f"{file.path}: something else has this name, and nothing is written over; move it away, or name another folder"
    )


def _put(file: OffloadedFile, folder: int) -> None:
    """Write the file without its name, then give it that: a kill leaves no half of it."""
    if not _put_unnamed(file, folder):
        _put_named(file, folder)
    os.fsync(folder)
    if not _is_there(file, folder):
        raise ArchiveError(
            f"{file.path}: it was taken away as it was written; find out by whom, or name another folder"
        )


def _put_unnamed(file: OffloadedFile, folder: int) -> bool:
    """Write a file that has no name until it is whole; false where the system has none such."""
    unnamed = getattr(os, "O_TMPFILE", 0)
    if not unnamed or not os.path.isdir("/proc/self/fd"):
        return False
    try:
        new = os.open(".", os.O_WRONLY | unnamed, 0o600, dir_fd=folder)
    except OSError:
        return False
    with os.fdopen(new, "wb") as begun:
        _fill(begun, file.data)
        try:
            os.link(f"/proc/self/fd/{new}", file.name, dst_dir_fd=folder, follow_symlinks=True)
        except FileExistsError:
            return True
        except OSError:
            return False
    return True


def _put_named(file: OffloadedFile, folder: int) -> None:
    """Write a file under a name of its own, and give it the right one when it is whole."""
    part = f".{file.name}.{secrets.token_hex(8)}.part"
    with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600, dir_fd=folder), "wb") as begun:
        try:
            _fill(begun, file.data)
            _name(file, part, folder)
        finally:
            with suppress(OSError):
                os.unlink(part, dir_fd=folder)


def _fill(begun: BinaryIO, data: bytes) -> None:
    begun.write(data)
    begun.flush()
    os.fsync(begun.fileno())


def _name(file: OffloadedFile, part: str, folder: int) -> None:
    try:
        os.link(part, file.name, src_dir_fd=folder, dst_dir_fd=folder, follow_symlinks=False)
    except FileExistsError:
        return
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        if not _is_there(file, folder):
            os.rename(part, file.name, src_dir_fd=folder, dst_dir_fd=folder)
