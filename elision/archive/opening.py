"""From what a config says to an archive: a folder, ``memory:``, ``none``, or the scheme of a plugin."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from pathlib import Path

from elision.archive.archive import Archive
from elision.archive.nothing import NoStore
from elision.archive.sqlite import SqliteStore
from elision.archive.store import Store
from elision.errors import ConfigError, Problem
from elision.redaction import POLICIES, Policy

DEFAULT = ".elision"
VARIABLE = "ELISION_ARCHIVE"
_FORMS = "name a folder, memory: or none"
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):")


def open_archive(
    where: str | Path = DEFAULT, *, stored: Policy = "none", environ: Mapping[str, str] = os.environ
) -> Archive:
    """Open an archive, which touches nothing before it is used.

    ``where`` is a folder (made on first use, closed to others, with a ``.gitignore``), ``memory:``, ``none``, or a URL
    whose scheme a plugin offers (hook ``elision_archives``).  ``ELISION_ARCHIVE`` overrides it.  ``stored`` says what
    is kept of an original: ``none`` keeps all, ``secrets`` all but secrets, ``full`` nothing but its size.
    """
    if not isinstance(where, str | Path):
        raise _wrong(f"an archive is named by text or a path, this is of type {type(where).__name__}; {_FORMS}")
    place = environ.get(VARIABLE) or str(where)
    if stored not in POLICIES:
        raise _wrong(f"there is no redaction policy {stored!r}; policies: {', '.join(POLICIES)}")
    return Archive(_store(place), stored=stored)


def trial_archive(*, stored: Policy = "none", keeps: bool = True) -> Archive:
    """Return an empty archive for trying a chain, which leaves nothing anywhere."""
    archive = open_archive("memory:" if keeps else "none", stored=stored, environ={})
    archive.on_trial = True
    return archive


def _store(place: str) -> Store:
    if place == "none":
        return NoStore()
    if place == "memory:":
        return SqliteStore(None)
    scheme = _SCHEME.match(place)
    if scheme is None:
        return SqliteStore(_folder(place))
    return _opener(scheme[1].lower())(place)


def _folder(place: str) -> Path:
    if not place.strip() or "\0" in place:
        raise _wrong(f"{place!r} names no folder; {_FORMS}")
    try:
        return Path(place).expanduser()
    except RuntimeError as error:
        raise _wrong(f"{place!r}: {error}; write the folder out") from error


def _opener(scheme: str) -> Callable[[str], Store]:
    from elision.registry import plugins

    offered = plugins().archives()
    if scheme not in offered:
        known = ", ".join(["a folder", "memory:", "none", *(f"{name}:" for name in sorted(offered))])
        raise _wrong(f"there is no archive of the kind {scheme!r}; there are: {known}; a folder that has a colon: ./…")
    return offered[scheme]


def _wrong(message: str) -> ConfigError:
    return ConfigError([Problem("archive", 0, 0, "", message)])
