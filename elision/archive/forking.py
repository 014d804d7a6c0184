"""Connections to SQLite must not cross a fork: they are closed before it, and opened again on either side."""

from __future__ import annotations

import os
import threading
from functools import cache
from typing import Protocol
from weakref import WeakSet


class Closable(Protocol):
    """Something that holds a connection under a lock."""

    lock: threading.RLock

    def close(self) -> None:
        """Close the connection; the next use opens it again."""


_open: WeakSet[Closable] = WeakSet()
_held = threading.local()


def close_before_forks(store: Closable) -> None:
    """Close the connection of ``store`` before each fork of this process."""
    _watch()
    _open.add(store)


@cache
def _watch() -> None:
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(before=_close, after_in_parent=_release, after_in_child=_release)


def _close() -> None:
    _held.stores = list(_open)
    for store in _held.stores:
        store.lock.acquire()
        store.close()


def _release() -> None:
    for store in _held.stores:
        store.lock.release()
    _held.stores = []
