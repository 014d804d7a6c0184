"""Asking a model while requests go on: a thread asks, and a later request takes in what came of it."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextvars import copy_context
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from elision.transport.usage import Usage

Told: TypeAlias = dict[str, str]
Going: TypeAlias = Callable[[], bool]


@dataclass(slots=True)
class _Job:
    """One question, by the key of its answer in the ledger."""

    key: bytes
    told: Told | None = None
    ended: bool = False


@dataclass(slots=True)
class Background:
    """What one session asks beside its requests: one question at a time.

    Where the session ends with its request (``lives`` is false), nobody could take in an answer later.
    """

    lives: bool = True
    used: list[Usage] = field(default_factory=list)
    """What the session's requests have used: what is asked beside them goes there as soon as it is paid."""
    _job: _Job | None = None
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def taken(self) -> tuple[bytes, Told] | None:
        """Return what came of the last question, once, and its key; nothing while it is being asked."""
        with self._lock:
            job = self._job
            if job is None or job.told is None:
                return None
            self._job = None
            return job.key, job.told

    def ask(self, key: bytes, asking: Callable[[Going], Told]) -> None:
        """Ask in a thread, unless something is being asked already."""
        with self._lock:
            if self._job is not None:
                return
            job = self._job = _Job(key)

        def work() -> None:
            told = asking(lambda: not job.ended)
            with self._lock:
                job.told = told

        threading.Thread(target=copy_context().run, args=(work,), name="elision-summary", daemon=True).start()

    def end(self) -> None:
        """Let go of what is being asked: nothing more is asked for it, and its answer is not taken in."""
        with self._lock:
            if self._job is not None:
                self._job.ended = True
                self._job = None
