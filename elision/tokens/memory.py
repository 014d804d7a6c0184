"""Counts that were made before in this process, by the content of the text."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from hashlib import sha256
from threading import Lock

SHORT = 200
"""Characters up to which a text is kept itself, not its hash."""

ENTRIES = 65_536
"""Most counts that are kept; some 200 bytes each."""


class Memory:
    """Counts by key, for any number of threads; the one that was not asked for longest goes first."""

    def __init__(self, entries: int = ENTRIES) -> None:
        self._entries = entries
        self._counts: OrderedDict[bytes, int] = OrderedDict()
        self._lock = Lock()

    def __len__(self) -> int:
        return len(self._counts)

    def get(self, key: bytes) -> int | None:
        """Return a count, if it is there."""
        with self._lock:
            found = self._counts.get(key)
            if found is not None:
                self._counts.move_to_end(key)
            return found

    def put(self, key: bytes, tokens: int) -> None:
        """Keep a count."""
        with self._lock:
            self._counts[key] = tokens
            self._counts.move_to_end(key)
            if len(self._counts) > self._entries:
                self._counts.popitem(last=False)


def counted_once(family: str, text: str, count: Callable[[str], int], memory: Memory) -> int:
    """Count a text, or say what it counted before: the same text of one family is counted once."""
    text, data = mended(text)
    key = sha256(data).digest() + family.encode()
    found = memory.get(key)
    if found is None:
        found = count(text)
        memory.put(key, found)
    return found


def mended(text: str) -> tuple[str, bytes]:
    """Return a text and its UTF-8: halves of a surrogate pair that stand together are joined, one alone is U+FFFD."""
    try:
        return text, text.encode()
    except UnicodeEncodeError:
        whole = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
        return whole, whole.encode()
