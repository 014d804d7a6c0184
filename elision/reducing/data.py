"""Data in a text that no model reads: binary, and base64."""

from __future__ import annotations

import binascii
import re

_SHORTEST = 512
"""Characters from which on a run of base64 is data; a key or a hash is shorter."""

_SAMPLE = 4096
_BINARY_SHARE = 0.1
_UNREADABLE = re.compile("[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f-\x9f\ufffd\ud800-\udfff]")
_NULS = re.compile("\x00{16,}")
_RUN = re.compile(
    r"(?:data:(?P<type>[\w.+-]+/[\w.+-]+)[^,\s\"]{0,80},)?"
    r"(?P<data>(?:(?:[A-Za-z0-9+/_-]|\\/){60,}+(?:\r?\n|\\r\\n|\\n)?)++[A-Za-z0-9+/_-]*+={0,2})"
)
_LETTERS = re.compile(r"[A-Z]"), re.compile(r"[a-z]"), re.compile(r"[0-9]")
_LINE_ENDS = ("\r\n", "\n", "\\r\\n", "\\n")
_LINE_END = re.compile(r"\r?\n|\\r\\n|\\n")
_FEW = 4
"""Different characters that a line drawn of one or two has."""

_HEX = re.compile(r"[0-9a-fA-F]+")
_MAGIC = (
    (b"\x89PNG", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF8", "image/gif"),
    (b"%PDF", "application/pdf"),
    (b"PK\x03\x04", "application/zip"),
    (b"\x1f\x8b", "application/gzip"),
    (b"\x7fELF", "application/x-elf"),
)


def is_binary(text: str) -> bool:
    """Whether a text holds bytes that are no text, by its beginning, middle and end."""
    middle = len(text) // 2
    sample = text[:_SAMPLE] + text[middle : middle + _SAMPLE] + text[-_SAMPLE:]
    return len(_UNREADABLE.findall(sample)) > _BINARY_SHARE * len(sample)


def binary_note(text: str, way_back: str) -> str:
    """Return what stands for a text that is binary."""
    head = text[:16].encode("latin-1", "replace")
    return _note(f"binary data{_kind(head)}, {len(text)} chars", way_back)


def without_nuls(text: str, way_back: str) -> str:
    """Return a text with notes in place of the holes that a log has which was cut off while it was written."""
    return _NULS.sub(lambda match: _note(f"{len(match[0])} NUL chars", way_back), text) if "\x00" in text else text


def without_base64(text: str, way_back: str) -> str:
    """Return a text with notes in place of long runs of base64; in a JSON string they are JSON still."""

    def noted(match: re.Match[str]) -> str:
        data = match["data"]
        form = _form(data) if len(data) >= _SHORTEST else ""
        if not form:
            return match[0]
        line_end = next((end for end in _LINE_ENDS if data.endswith(end)), "")
        said = f" {match['type']}" if match["type"] else _kind(_decoded(data[:64]))
        return _note(f"{form}{said}, {len(data)} chars", way_back) + line_end

    return _RUN.sub(noted, text)


def _note(what: str, way_back: str) -> str:
    return f"[{what} left out{f'; {way_back}' if way_back else ''}]"


def _form(data: str) -> str:
    """Say what a run is: base64 has letters of both cases and digits, and lines of one width; nothing for others."""
    lines = _LINE_END.split(data[:_SAMPLE])
    if len({len(line) for line in lines[:-1]}) > 1:
        return ""
    start = "".join(lines)
    if len(set(start)) > _FEW and _HEX.fullmatch(start):
        return "hex"
    return "base64" if all(letters.search(start) for letters in _LETTERS) else ""


def _decoded(data: str) -> bytes:
    given = re.sub(r"\\/", "/", data).replace("-", "+").replace("_", "/")
    try:
        return binascii.a2b_base64(given[: len(given) // 4 * 4])
    except (binascii.Error, ValueError):
        return b""


def _kind(head: bytes) -> str:
    if head[:4] == b"RIFF" and head[8:12] == b"WEBP":
        return " image/webp"
    return next((f" {kind}" for magic, kind in _MAGIC if head.startswith(magic)), "")
