"""Long unbroken runs, cut so that a tokenizer takes linear time on any text."""

from __future__ import annotations

import re
from collections.abc import Iterator

WINDOW = 2048
"""Characters without a break after which a run is cut."""

UNCUT = 2 * WINDOW
"""Characters up to which a text is never cut."""

# A tokenizer first splits a text into pieces, and its time is more than linear in the length of a piece only.  No piece
# holds both a digit and a letter, nor a space behind a letter; line breaks and slashes may follow signs without end.
_SPACE = r"\t-\r \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"
_UNBROKEN = re.compile(rf"[^0-9{_SPACE}]+|[{_SPACE}]+|[\r\n/]+")

# Between a letter or number and one of these signs every vocabulary begins a new piece.  An apostrophe is none of them.
_SIGNS = r"!-&(-/:-@\[-`{-~\u2010-\u2018\u201a-\u2027\u3001-\u3003\u3008-\u3011\uff01-\uff06\uff08-\uff0f\uff1a-\uff20"
_BORDER = re.compile(rf"[^\W_](?=[{_SIGNS}])")


def pieces(text: str) -> Iterator[str]:
    """Yield a text whole, or cut within runs of more than ``WINDOW`` characters.

    A cut is made at the border of two pieces of the tokenizer, which leaves the count exact; in a run that has no
    border (spaces, one word without end) it is made after a fixed number of characters, and may cost a token or two.
    """
    start = 0
    for probe in range(0, len(text) - WINDOW, WINDOW) if len(text) > UNCUT else ():
        stop = probe + WINDOW
        if _UNBROKEN.fullmatch(text, probe, stop):
            border = _BORDER.search(text, probe, stop)
            cut = border.end() if border else stop - (text[stop - 1] == "\r")
            yield text[start:cut]
            start = cut
    yield text[start:]
