"""Images and files by what the provider charges for them: their size is read, their bytes are never counted as text."""

from __future__ import annotations

import base64
import binascii
import re
import struct
from dataclasses import dataclass
from typing import TypeAlias

Blob: TypeAlias = str | bytes | bytearray | memoryview

PAGE_TOKENS = 3_000
"""Estimate for a page of a document (Anthropic, "PDF support": 1,500 to 3,000 for its text, and its picture)."""

PAGE_BYTES = 50_000
"""Estimate for the size of a page."""

MOST_PAGES = 100
"""Most pages that a provider takes in one document (Anthropic)."""

BYTES_PER_TOKEN = 500
"""Estimate for sound and film: Gemini charges 32 tokens for a second, which is some 16 KB as MP3."""

_HEAD = 64
_HEAD_OF_JPEG = 131_072
_DATA_URL = re.compile(r"data:([^,;]{0,100})[^,]{0,200};base64,", re.IGNORECASE)
_MOST_SIDE = 16_384
"""Longest side that is believed: no provider takes one that is longer, and a header that is cut or made up says any."""

_NO_SIZE = frozenset({0xC4, 0xC8, 0xCC})


@dataclass(frozen=True, slots=True)
class Medium:
    """What a blob is: an image with its size if that can be read, or so many bytes of a document, text or other."""

    kind: str
    size: tuple[int, int] | None = None
    bytes: int = 0

    @property
    def estimate(self) -> int:
        """Tokens of a document, or of anything but an image and a text."""
        if self.kind == "document":
            return PAGE_TOKENS * min(MOST_PAGES, max(1, -(-self.bytes // PAGE_BYTES)))
        return max(1, self.bytes // BYTES_PER_TOKEN)


def data_url(text: str) -> tuple[str, str] | None:
    """Return the media type and the base64 of a ``data:`` URL, or ``None`` where it is none."""
    found = _DATA_URL.match(text, 0, 400)
    return (found[1].lower(), text[found.end() :]) if found else None


def image_size(url: str) -> tuple[int, int] | None:
    """Return width and height of the image in a ``data:`` URL, or ``None`` where they cannot be read."""
    found = data_url(url)
    return _read(found[1])[1] if found else None


def medium_of(blob: Blob, media_type: str = "") -> Medium:
    """Say what a blob is, by its first bytes and then by its media type."""
    kind, size = _read(blob)
    length = len(blob) * 3 // 4 - blob[-2:].count("=") if isinstance(blob, str) else len(blob)
    if kind is None:
        main, _, sub = media_type.lower().partition("/")
        known = "document" if "pdf" in sub or "document" in sub else "other"
        kind = {"image": "image", "text": "text"}.get(main, "text" if sub == "json" else known)
    return Medium(kind, size, length)


def decoded_text(blob: Blob) -> str:
    """Return the text of a text file."""
    return _bytes_of(blob, len(blob)).decode("utf-8", "replace")


def _read(blob: Blob) -> tuple[str | None, tuple[int, int] | None]:
    head = _bytes_of(blob, _HEAD)
    if head.startswith(b"\xff\xd8\xff"):
        return "image", _believed(_jpeg_size(_bytes_of(blob, _HEAD_OF_JPEG)))
    if head.startswith(b"%PDF-"):
        return "document", None
    for reader in (_png_size, _gif_size, _webp_size):
        try:
            size = reader(head)
        except (struct.error, IndexError):
            return "image", None
        if size is not None:
            return "image", _believed(size)
    return None, None


def _believed(size: tuple[int, int] | None) -> tuple[int, int] | None:
    return size if size and min(size) > 0 and max(size) <= _MOST_SIDE else None


def _png_size(head: bytes) -> tuple[int, int] | None:
    if not head.startswith(b"\x89PNG\r\n\x1a\n"):
        return None
    width, height = struct.unpack_from(">II", head, 16)
    return width, height


def _gif_size(head: bytes) -> tuple[int, int] | None:
    if not head.startswith((b"GIF87a", b"GIF89a")):
        return None
    width, height = struct.unpack_from("<HH", head, 6)
    return width, height


def _webp_size(head: bytes) -> tuple[int, int] | None:
    if not (head.startswith(b"RIFF") and head[8:12] == b"WEBP"):
        return None
    if head[12:16] == b"VP8X":
        return int.from_bytes(head[24:27], "little") + 1, int.from_bytes(head[27:30], "little") + 1
    if head[12:16] == b"VP8L":
        (bits,) = struct.unpack_from("<I", head, 21)
        return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
    width, height = struct.unpack_from("<HH", head, 26)
    return width & 0x3FFF, height & 0x3FFF


def _jpeg_size(data: bytes) -> tuple[int, int] | None:
    """Find the frame among the segments: a marker, the length, and what it is about."""
    place = 2
    while place + 9 <= len(data) and data[place] == 0xFF:
        marker = data[place + 1]
        if marker == 0xFF:
            place += 1
        elif 0xC0 <= marker <= 0xCF and marker not in _NO_SIZE:
            height, width = struct.unpack_from(">HH", data, place + 5)
            return width, height
        elif 0xD0 <= marker <= 0xD9 or marker == 0x01:
            place += 2
        else:
            place += 2 + max(2, int.from_bytes(data[place + 2 : place + 4], "big"))
    return None


def _bytes_of(blob: Blob, length: int) -> bytes:
    """Return the first bytes of a blob; of base64 also in its form for URLs, and in lines."""
    if not isinstance(blob, str):
        return bytes(blob[:length])
    text = "".join(blob[: length * 3 // 2 + 4].split()).translate({ord("-"): "+", ord("_"): "/"})
    try:
        return base64.b64decode(text[: len(text) // 4 * 4])[:length]
    except (binascii.Error, ValueError):
        return b""
