"""Content as bytes: encoded so that it comes back equal, named by its hash, compressed."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

import zstandard

from elision.errors import ArchiveError, ContentError
from elision.redaction import Policy

Content: TypeAlias = str | Sequence[Any] | Mapping[str, Any]
"""A text, or JSON-able parts.  Tuples come back as lists."""

Kind = Literal["text", "parts"]

ENCODING = "zstd"
TOO_DEEP = "archive: content is nested too deeply to be stored; flatten it"
_LEVEL = 3
_PARTS_MARK = b"\xff"
"""A byte that no text has in UTF-8: parts and a text of the same bytes have two names."""

_compressors = threading.local()


@dataclass(frozen=True, slots=True)
class Blob:
    """Encoded content: what a store keeps.  ``size`` is that of the content before compression."""

    sha256: str
    kind: Kind
    encoding: str
    size: int
    data: bytes


@dataclass(frozen=True, slots=True)
class Sealed:
    """Content as an archive would keep it: redacted by its stored policy, encoded and named, but not compressed yet."""

    ref: str
    """The ref that it has, or will have once it is put: what a placeholder can name beforehand."""
    sha256: str
    kind: Kind
    data: bytes = field(repr=False)
    chars: int
    """Characters of the text that was given; bytes of parts."""
    stored: Policy


def encode(content: Content) -> tuple[Kind, bytes]:
    """Encode content as bytes; lone surrogates, which a text of a host can hold, are kept."""
    if isinstance(content, str):
        return "text", content.encode("utf-8", "surrogatepass")
    try:
        given = list(content) if isinstance(content, tuple) else content
        _require_names(given)
        text = json.dumps(given, ensure_ascii=False, separators=(",", ":"))
    except RecursionError:
        raise ContentError(TOO_DEEP) from None
    except (TypeError, ValueError) as error:
        raise ContentError(f"archive: content cannot be stored as JSON ({error}); give text or plain parts") from error
    return "parts", text.encode("utf-8", "surrogatepass")


def name(kind: Kind, data: bytes) -> str:
    """Return the sha256 that names content: that of the bytes themselves for a text."""
    digest = hashlib.sha256(_PARTS_MARK if kind == "parts" else b"")
    digest.update(data)
    return digest.hexdigest()


def compressed(sealed: Sealed) -> Blob:
    """Return what a store keeps of sealed content."""
    return Blob(sealed.sha256, sealed.kind, ENCODING, len(sealed.data), _compressor().compress(sealed.data))


def unseal(blob: Blob) -> Content:
    """Return the content of a blob, after checking that it is what its name says."""
    data = unpacked(blob)
    text = data.decode("utf-8", "surrogatepass")
    if blob.kind == "text":
        return text
    content: Content = json.loads(text)
    return content


def unpacked(blob: Blob) -> bytes:
    """Return the bytes of a blob, after checking that they are what its name says."""
    if blob.encoding != ENCODING:
        raise ArchiveError(
            f"archive: {blob.sha256[:12]} is stored as {blob.encoding!r}; this version reads {ENCODING}; update Elision"
        )
    try:
        data = zstandard.ZstdDecompressor().decompress(blob.data, max_output_size=max(blob.size, 1))
    except (zstandard.ZstdError, TypeError, OverflowError, MemoryError) as error:
        raise _damaged(blob, str(error)) from error
    if len(data) != blob.size or name(blob.kind, data) != blob.sha256:
        raise _damaged(blob, "its bytes are not those that its name stands for")
    return data


def text_name(text: str) -> bytes:
    """Return the sha256 by which a text of ours is known."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()


def arguments_name(arguments: Mapping[str, Any] | str | None) -> str:
    """Return the sha256 of a call's arguments, the same for any order of their keys; empty for ``None``."""
    if arguments is None:
        return ""
    try:
        shown = json.dumps(arguments, sort_keys=True, separators=(",", ":"), default=repr)
    except (TypeError, ValueError):
        shown = repr(arguments)
    except RecursionError:
        shown = "nested too deeply"
    return hashlib.sha256(shown.encode("utf-8", "surrogatepass")).hexdigest()


def _damaged(blob: Blob, why: str) -> ArchiveError:
    return ArchiveError(
        f"archive: {blob.sha256[:12]} is damaged ({why}); it is never handed out; see what else is with "
        "`elision archive verify`, and restore the archive from a copy"
    )


def _compressor() -> zstandard.ZstdCompressor:
    """Return the compressor of this thread: making one costs more than a small text does."""
    found: zstandard.ZstdCompressor | None = getattr(_compressors, "one", None)
    if found is None:
        found = _compressors.one = zstandard.ZstdCompressor(level=_LEVEL)
    return found


def _require_names(value: Any) -> None:
    """Refuse keys that are not strings: JSON would turn them into strings without a word."""
    if isinstance(value, Mapping):
        for key, inner in value.items():
            if not isinstance(key, str):
                raise TypeError(f"the key {key!r} is not a string")
            _require_names(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            _require_names(inner)
