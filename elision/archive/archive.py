"""The archive: originals go in before they leave a view, and come back by their ref."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from types import MappingProxyType, TracebackType
from typing import Self

from elision.archive.content import TOO_DEEP, Blob, Content, Kind, Sealed, compressed, encode, name, text_name, unseal
from elision.archive.draft import Draft, draft
from elision.archive.entry import Entry, Original, Ref
from elision.archive.export import Exported, export
from elision.archive.memory import Recent
from elision.archive.pruning import Pruned, prune
from elision.archive.record import Record, storable
from elision.archive.store import Stats, Store, Writing
from elision.archive.verification import Verification, verify
from elision.errors import ArchiveError, nearest
from elision.redaction import Policy, redact_content, strictest

_REF = re.compile(r"[0-9a-f]{10,64}")
_REMEMBERED = 65_536
"""Edits, and texts of ours, that one archive remembers."""
_REMEMBERED_BYTES = 16_000_000
"""Bytes of redacted content that it remembers: redaction costs a hundred times what hashing does."""


class Archive:
    """Originals and audit records in a store; ``stored`` is the policy of what is kept of an original."""

    def __init__(self, store: Store, *, stored: Policy = "none", clock: Callable[[], float] = time.time) -> None:
        self._store = store
        self._clock = clock
        self.stored: Policy = stored
        self.on_trial = False
        """Whether a chain is only tried with it: no file is written beside it."""
        self._seen: tuple[object, Recent[str]] = (object(), Recent(_REMEMBERED))
        self._ours: Recent[bool] = Recent(_REMEMBERED)
        self._redacted: Recent[tuple[Kind, bytes]] = Recent(_REMEMBERED_BYTES, cost=lambda kept: len(kept[1]))

    @property
    def where(self) -> str:
        """Its name in messages."""
        return self._store.where

    @property
    def keeps(self) -> bool:
        """Whether originals can be put into it at all; if not, ``refusal`` says why."""
        return not self._store.refusal

    @property
    def refusal(self) -> str:
        """What ``put_all`` would raise in an archive that keeps nothing; empty in one that keeps."""
        return self._store.refusal

    @property
    def begun(self) -> bool:
        """Whether there is an archive at its place by now; a store that cannot tell has one."""
        return bool(getattr(self._store, "begun", True))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Let go of files; the next call opens them again."""
        self._store.close()

    def sealed(self, content: Content) -> Sealed:
        """Return what will be kept of ``content``, and its ref, for a placeholder to name and for an entry to hold.

        Nothing is stored.
        """
        sealed = self._seal(content)
        return replace(sealed, ref=self._store.free_ref(sealed.sha256))

    def ref(self, content: Content) -> str:
        """Return the ref that ``content`` has, or will have once it is put."""
        return self.sealed(content).ref

    def put_all(self, entries: Iterable[Entry], *, facts: Mapping[bytes, str] = MappingProxyType({})) -> list[Ref]:
        """Store the originals of one request, durably and in one transaction, with a record for each edit.

        An edit that is recorded already, and whose original is still there, is not written again.  ``facts`` go into
        the ledger; where another one stands there already, that one stays (see :meth:`facts`).
        Raises :class:`elision.ArchiveError` when anything fails; then nothing of it is stored.
        """
        drafts = [self._draft(entry) for entry in entries]
        if not drafts and not facts:
            return []
        seen = self._seen_by_now()
        found = [self._checked(each, seen.get(each.edit) or self._store.recorded(each.record)) for each in drafts]
        left = [each for each, ref in zip(drafts, found, strict=True) if not ref]
        refs = {each.edit: ref for each, ref in zip(drafts, found, strict=True)}
        refs |= self._write(left, {each.text for each in drafts if each.text}, seen, facts)
        for edit, ref in refs.items():
            seen.put(edit, ref)
        return [Ref(refs[each.edit], each.sealed.sha256) for each in drafts]

    def remember(self, texts: Iterable[str]) -> None:
        """Remember texts of ours that stand for nothing that was removed: reminders, notes."""
        names = {text_name(text) for text in texts}
        if names:
            self._write([], names, self._seen_by_now())

    def facts(self, keys: Sequence[bytes]) -> dict[bytes, str]:
        """Return what the ledger has under some keys: what held at prefixes of histories."""
        return self._store.facts(keys)

    def _write(
        self,
        drafts: list[Draft],
        texts: Collection[bytes],
        seen: Recent[str],
        facts: Mapping[bytes, str] = MappingProxyType({}),
    ) -> dict[bytes, str]:
        """Write edits, facts, and texts that are not known, in one transaction; in none if nothing is left to write."""
        unknown = [text for text in texts if not seen.get(text) and not self._store.knows_text(text)]
        refs: dict[bytes, str] = {}
        if drafts or unknown or facts:
            now = self._now()
            with self._store.transaction() as writing:
                refs = {each.edit: self._put(writing, each, now) for each in drafts}
                for text in unknown:
                    writing.remember(text)
                for key, fact in facts.items():
                    writing.record(key, fact, now)
        for text in texts:
            seen.put(text, "ours")
            self._ours.put(text, True)
        return refs

    def _put(self, writing: Writing, each: Draft, now: str) -> str:
        new: list[Blob] = []

        def blob() -> Blob:
            new.append(compressed(each.sealed))
            return new[0]

        ref = self._checked(each, writing.add(each.sealed.sha256, blob))
        # Where the bytes were there, another thread or process may have recorded the edit since it was looked for.
        if new or not self._store.recorded(each.record):
            writing.note(replace(each.record, time=now, ref=ref))
        return ref

    def _draft(self, entry: Entry) -> Draft:
        sealed = entry.content if isinstance(entry.content, Sealed) else self._seal(entry.content)
        if sealed.stored != self.stored:
            raise ArchiveError(
                f"{self.where}: the content of {sealed.sha256[:12]} was sealed with the stored policy "
                f"{sealed.stored!r}, and this archive has {self.stored!r}; seal it with this archive"
            )
        return draft(entry, sealed)

    def _checked(self, each: Draft, ref: str) -> str:
        if ref and each.promised not in ("", ref):
            raise ArchiveError(f"{self.where}: the ref {each.promised} means another original by now; ask for it again")
        return ref

    def _seen_by_now(self) -> Recent[str]:
        """Return what is known to be in the store; nothing is any more once something has been deleted there."""
        era = self._store.era()
        if self._seen[0] != era:
            self._seen = (era, Recent(_REMEMBERED))
        return self._seen[1]

    def is_ours(self, text: str) -> bool:
        """Whether Elision wrote exactly this text: it is known by its hash, never by its looks."""
        name = text_name(text)
        known = self._ours.get(name) or self._store.knows_text(name)
        if known:
            self._ours.put(name, True)
        return known

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
        if not isinstance(ref, str):
            raise ArchiveError(f"ref: this is of type {type(ref).__name__}; give that of a placeholder, as text")
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
        if not found and not self.begun:
            raise ArchiveError(
                f"{self.where}: there is no original {wanted}, because there is no archive; name the folder that a "
                "chain wrote to"
            )
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

    def _seal(self, content: Content) -> Sealed:
        """Return sealed content whose ref nobody has asked for."""
        kind, data = self._kept(content)
        chars = len(content) if isinstance(content, str) else len(data)
        return Sealed("", name(kind, data), kind, data, chars, self.stored)

    def _kept(self, content: Content) -> tuple[Kind, bytes]:
        """Encode what the stored policy leaves of content; what was redacted lately is not redacted again."""
        kind, data = encode(content)
        if self.stored == "none":
            return kind, data
        given = bytes.fromhex(name(kind, data))
        kept = self._redacted.get(given)
        if kept is None:
            try:
                kept = encode(redact_content(content, self.stored))
            except RecursionError:
                raise ArchiveError(TOO_DEEP) from None
            self._redacted.put(given, kept)
        return kept

    def _now(self) -> str:
        return _time(self._clock())


def _shown(ref: str) -> str:
    return repr(ref if len(ref) <= 80 else f"{ref[:80]}…")


def _time(seconds: float) -> str:
    try:
        return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="microseconds")
    except (OverflowError, ValueError, OSError):
        return ""
