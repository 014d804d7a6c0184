"""The archive: originals go in before they leave a view, and come back by their ref."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Collection, Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Self

from elision.archive.content import Blob, Content, arguments_name, seal, text_name, unseal
from elision.archive.entry import Entry, Original, Ref
from elision.archive.export import Exported, export
from elision.archive.pruning import Pruned, prune
from elision.archive.record import Record, storable
from elision.archive.store import Stats, Store, Writing
from elision.archive.verification import Verification, verify
from elision.errors import ArchiveError, nearest
from elision.redaction import Policy, redact_content, strictest

_REF = re.compile(r"[0-9a-f]{10,64}")


class Archive:
    """Originals and audit records in a store; ``stored`` is the policy of what is kept of an original."""

    def __init__(self, store: Store, *, stored: Policy = "none", clock: Callable[[], float] = time.time) -> None:
        self._store = store
        self._clock = clock
        self.stored: Policy = stored

    @property
    def where(self) -> str:
        """Its name in messages."""
        return self._store.where

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Let go of files; the next call opens them again."""
        self._store.close()

    def ref(self, content: Content) -> str:
        """Return the ref that ``content`` has, or will have once it is put: what a placeholder can name beforehand."""
        return self._store.free_ref(self._sealed(content).sha256)

    def put_all(self, entries: Iterable[Entry]) -> list[Ref]:
        """Store the originals of one request, durably and in one transaction, with a record for each.

        Raises :class:`elision.ArchiveError` when anything fails; then nothing of it is stored.
        """
        sealed = [(entry, self._sealed(entry.content)) for entry in entries]
        if not sealed:
            return []
        now = self._now()
        with self._store.transaction() as writing:
            return [self._put(writing, entry, blob, now) for entry, blob in sealed]

    def _put(self, writing: Writing, entry: Entry, blob: Blob, now: str) -> Ref:
        ref = writing.add(blob)
        if entry.ref not in ("", ref):
            raise ArchiveError(f"{self.where}: the ref {entry.ref} means another original by now; ask for it again")
        writing.note(_record(entry, blob, ref, now, self.stored))
        if entry.placeholder:
            writing.remember(text_name(entry.placeholder))
        return Ref(ref, blob.sha256)

    def remember(self, texts: Iterable[str]) -> None:
        """Remember texts of ours that stand for nothing that was removed: reminders, notes."""
        names = [text_name(text) for text in texts]
        if names:
            with self._store.transaction() as writing:
                for name in names:
                    writing.remember(name)

    def is_ours(self, text: str) -> bool:
        """Whether Elision wrote exactly this text: it is known by its hash, never by its looks."""
        return self._store.knows_text(text_name(text))

    def get(self, ref: Ref | str) -> Original:
        """Return the original that a ref, or the beginning of a sha256, stands for; its hash is checked."""
        sha256 = ref.sha256 if isinstance(ref, Ref) else self._found(ref)
        blob, record = self._store.blob(sha256), self._store.newest_record(sha256)
        if blob is None:
            raise self._gone(str(ref), record)
        name = Ref(self._store.ref(sha256) or sha256, sha256)
        policy = strictest(self._store.view_policies(sha256))
        return Original(name, unseal(blob), record or Record(sha256=sha256, ref=name.short), policy)

    def _found(self, ref: str) -> str:
        wanted = ref.strip().lower()
        if not _REF.fullmatch(wanted):
            raise ArchiveError(
                f"{self.where}: {_shown(ref)} is no ref: a ref has 10 to 64 of the characters 0-9 and a-f; "
                "copy it from the placeholder"
            )
        found = self._store.resolve(wanted)
        if len(found) > 1:
            names = ", ".join(sha256[:20] for sha256 in found)
            raise ArchiveError(f"{self.where}: {wanted} is the beginning of several: {names}; give more of it")
        if not found:
            known = self._store.near(wanted)
            hint = nearest(wanted, known) if known else "check its spelling, or name another archive"
            raise ArchiveError(f"{self.where}: there is no original {wanted}; {hint}")
        return found[0]

    def _gone(self, ref: str, record: Record | None) -> ArchiveError:
        if record is not None and record.operation == "prune":
            return ArchiveError(f"{self.where}: the bytes of {ref} were pruned on {record.time[:10]} ({record.reason})")
        return ArchiveError(
            f"{self.where}: the bytes of {ref} are missing; see what else is with `elision archive verify`"
        )

    def records(self, *, session: str | None = None) -> Iterator[Record]:
        """Yield the audit records, or those of one session, in the order in which they were written."""
        return self._store.records(session=None if session is None else storable(session))

    def verify(self) -> Verification:
        """Check every hash chain, the hash of every original, and the store itself."""
        return verify(self._store)

    def stats(self) -> Stats:
        """Count what is there."""
        return self._store.stats()

    def export(self, folder: str | Path) -> Exported:
        """Write every original to a file named by its ref, and the records to ``records.jsonl``."""
        return export(self._store, Path(folder))

    def prune(self, *, older_than_days: float, keep_sessions: Collection[str] = ()) -> Pruned:
        """Delete the bytes of originals that no record of the last days and no kept session mentions.

        Their records stay, and a record of each deletion is added.
        """
        if not older_than_days >= 0:
            raise ArchiveError("prune: older_than_days must be 0 or more; give the age in days")
        now = self._clock()
        before = _time(now - older_than_days * 86400)
        reason = f"older than {older_than_days:g} days"
        return prune(self._store, before, [storable(each) for each in keep_sessions], now=_time(now), reason=reason)

    def _sealed(self, content: Content) -> Blob:
        return seal(redact_content(content, self.stored))

    def _now(self) -> str:
        return _time(self._clock())


def _record(entry: Entry, blob: Blob, ref: str, now: str, stored: Policy) -> Record:
    before = entry.chars_before
    after = entry.chars_after
    return Record(
        time=now,
        session=storable(entry.session),
        processor=storable(entry.processor),
        operation=storable(entry.operation),
        call_id=storable(entry.call_id),
        tool=storable(entry.tool),
        arguments_sha256=arguments_name(entry.arguments),
        classes=tuple(storable(each) for each in entry.classes),
        chars_before=before if before is not None else _chars(entry.content, blob),
        chars_after=after if after is not None else len(entry.placeholder),
        size=blob.size,
        sha256=blob.sha256,
        ref=ref,
        status=storable(entry.status),
        view_policy=entry.view_policy,
        stored_policy=stored,
        cache_segment=storable(entry.cache_segment),
        reason=storable(entry.reason),
    )


def _chars(content: Content, blob: Blob) -> int:
    return len(content) if isinstance(content, str) else blob.size


def _shown(ref: str) -> str:
    return repr(ref if len(ref) <= 80 else f"{ref[:80]}…")


def _time(seconds: float) -> str:
    try:
        return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="microseconds")
    except (OverflowError, ValueError, OSError):
        return ""
