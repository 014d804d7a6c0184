"""Compare two wheels: the same files with the same content, metadata included."""

from __future__ import annotations

import sys
from zipfile import ZipFile


def contents(path: str) -> dict[str, int]:
    """Return the checksum of each file in a wheel; RECORD only repeats the others."""
    with ZipFile(path) as wheel:
        return {entry.filename: entry.CRC for entry in wheel.infolist() if not entry.filename.endswith("/RECORD")}


left, right = map(contents, sys.argv[1:3])
differing = sorted(name for name in left.keys() | right.keys() if left.get(name) != right.get(name))
if differing:
    sys.exit("the wheel from the sdist and the one from the tree differ in: " + ", ".join(differing))
print(f"{len(left)} files, the same from the sdist as from the tree")
