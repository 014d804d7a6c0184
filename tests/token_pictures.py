"""Images made of their headers, as base64, in the shapes of each wire."""

from __future__ import annotations

import base64
import struct
from collections.abc import Callable
from typing import Any


def png(width: int, height: int) -> bytes:
    """Return the beginning of a PNG."""
    return b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR" + struct.pack(">II", width, height) + b"\x08\x02\x00\x00\x00"


def gif(width: int, height: int) -> bytes:
    """Return the beginning of a GIF."""
    return b"GIF89a" + struct.pack("<HH", width, height) + b"\xf7\x00\x00"


def jpeg(width: int, height: int) -> bytes:
    """Return the beginning of a JPEG whose frame stands behind a picture of its own in the Exif data."""
    exif = b"Exif\x00\x00" + jpeg_frame(160, 120) + bytes(30_000)
    return b"\xff\xd8\xff\xe1" + struct.pack(">H", len(exif) + 2) + exif + b"\xff" + jpeg_frame(width, height)


def jpeg_frame(width: int, height: int) -> bytes:
    """Return a frame of a JPEG."""
    return b"\xff\xc2\x00\x11\x08" + struct.pack(">HH", height, width) + b"\x03" + bytes(9)


def webp(width: int, height: int) -> bytes:
    """Return the beginning of a WebP in its extended form."""
    sizes = (width - 1).to_bytes(3, "little") + (height - 1).to_bytes(3, "little")
    return b"RIFF\x00\x00\x00\x00WEBPVP8X\x0a\x00\x00\x00\x00\x00\x00\x00" + sizes


def webp_lossless(width: int, height: int) -> bytes:
    """Return the beginning of a lossless WebP."""
    return b"RIFF\x00\x00\x00\x00WEBPVP8L\x00\x00\x00\x00/" + struct.pack("<I", (width - 1) | (height - 1) << 14)


def webp_lossy(width: int, height: int) -> bytes:
    """Return the beginning of a lossy WebP."""
    return b"RIFF\x00\x00\x00\x00WEBPVP8 \x00\x00\x00\x00\x00\x00\x00\x9d\x01\x2a" + struct.pack("<HH", width, height)


KINDS: dict[str, Callable[[int, int], bytes]] = {
    "png": png,
    "gif": gif,
    "jpeg": jpeg,
    "webp": webp,
    "webp lossless": webp_lossless,
    "webp lossy": webp_lossy,
}


def encoded(data: bytes, size: int = 0) -> str:
    """Return base64, filled up to a size."""
    return base64.b64encode(data + bytes(range(251)) * (max(0, size - len(data)) // 251)).decode()


def messages(data: str, media_type: str = "image/png") -> dict[str, dict[str, Any]]:
    """Return a message with one image in each dialect, and for what it is opaque."""
    source = {"type": "base64", "media_type": media_type, "data": data}
    url = f"data:{media_type};base64,{data}"
    return {
        "openai": {"role": "user", "content": [{"type": "image_url", "image_url": {"url": url}}]},
        "anthropic": {"role": "user", "content": [{"type": "image", "source": source}]},
        "responses": {"role": "user", "content": [{"type": "input_image", "image_url": url}]},
        "gemini": {"role": "user", "parts": [{"inlineData": {"mimeType": media_type, "data": data}}]},
    }
