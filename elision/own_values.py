"""A profile of the user's own, which holds for whatever is decided and counted while it is in force."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from elision.profiles.reading import ReadProfile


@dataclass(frozen=True, slots=True, eq=False)
class OwnProfile:
    """The user's own values, with the profiles that they extend, the most general first."""

    read: tuple[ReadProfile, ...]


_IN_FORCE: ContextVar[OwnProfile | None] = ContextVar("elision_own_profile", default=None)


def in_force() -> OwnProfile | None:
    """Return the user's own profile that holds here; nothing where there is none."""
    return _IN_FORCE.get()


@contextmanager
def own_profile(found: OwnProfile | None) -> Iterator[None]:
    """Have the user's own values win over those of every model."""
    token = _IN_FORCE.set(found)
    try:
        yield
    finally:
        _IN_FORCE.reset(token)


def load_own(source: str | Path | Mapping[str, Any] | None) -> OwnProfile | None:
    """Load the user's own values: the name of a profile, the path of a file, or its content."""
    from elision.profiles.loading import load_profile

    return None if source is None else OwnProfile(load_profile(source))
