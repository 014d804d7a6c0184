"""``image_parsing``: turn images that stand as base64 in markdown into image parts."""

from __future__ import annotations

import binascii
from collections.abc import Iterator
from typing import ClassVar, Literal, NamedTuple

from elision import Content, Edit, Image, Operation, PartView, Processor, Role, Stage, Text, View

_BASE64 = ";base64,"
_DATA = "](data:"
_LONGEST_MIME_TYPE = 100
_LONGEST_ALT_TEXT = 1000


class ImageParsing(Processor):
    """Turn images that stand as base64 in markdown (``![alt](data:image/png;base64,…)``) into image parts.

    Cost: none; each message is changed when it comes in.

    ```yaml
    history_processors:
      - type: image_parsing
        allowed_mime_types: [image/png, image/jpeg, image/webp]
    ```

    Shape: text, image, text; the markdown around the image stays, as in SWE-agent.  What is not valid base64, or not of
    an allowed type, stays text; so does an image with an alt text of more than 1000 characters.  Never touches
    assistant and system messages.  Source: SWE-agent's processor of the same name.
    """

    stage: ClassVar[Stage] = "entry"
    operation: ClassVar[Operation] = "convert"
    touches: ClassVar[frozenset[Role]] = frozenset({"user"})
    cost: ClassVar[str] = "none"

    type: Literal["image_parsing"] = "image_parsing"
    allowed_mime_types: frozenset[str] = frozenset({"image/png", "image/jpeg", "image/webp"})
    """Types that become images; ``image/jpg`` counts as ``image/jpeg``."""

    def plan(self, view: View) -> Iterator[Edit]:
        """Propose image parts for the messages that have come in."""
        for message in view.messages:
            for part in message.parts:
                if part.role in {"user", "tool"} and "base64," in part.text:
                    yield from self._convert(part)

    def _convert(self, part: PartView) -> Iterator[Edit]:
        content = part.content
        pieces = [piece for found in content for piece in self._split(found)]
        if len(pieces) > len(content) or any(isinstance(p, Image) and p not in content for p in pieces):
            yield part.replace(pieces, reason="images in markdown")

    def _split(self, piece: Content) -> list[Content]:
        if not isinstance(piece, Text):
            return [piece]
        found: list[Content] = []
        text, end = "", 0
        for match in _in_markdown(piece.text):
            mime_type = "image/jpeg" if match.mime_type == "image/jpg" else match.mime_type
            text += piece.text[end : match.start]
            if mime_type in self.allowed_mime_types and _is_base64(match.data):
                found += [Text(text + match.before), Image(f"data:{mime_type};base64,{match.data}")]
                text = ")"
            else:
                text += piece.text[match.start : match.end]
            end = match.end
        text += piece.text[end:]
        return [*found, Text(text)] if found else [piece]


class _Match(NamedTuple):
    start: int
    end: int
    before: str
    mime_type: str
    data: str


def _in_markdown(text: str) -> Iterator[_Match]:
    """Find images from ``;base64,`` outwards, with a bounded look back, so that the search is linear."""
    end, at = 0, text.find(_BASE64)
    while at >= 0:
        upto = at + len(_BASE64)
        data = text.rfind(_DATA, max(end, at - _LONGEST_MIME_TYPE - len(_DATA)), at)
        mime_type = text[data + len(_DATA) : at]
        if data >= 0 and mime_type and not set(mime_type) & set(";\n("):
            oldest = max(end, data - _LONGEST_ALT_TEXT - len("!["))
            start = text.find("![", max(oldest, text.rfind("]", oldest, data) + 1), data)
            close = text.find(")", upto) if start >= 0 else upto
            if close < 0:
                return
            if close > upto:
                yield _Match(start, close + 1, text[start : data + len(_DATA)], mime_type, text[upto:close])
                end = upto = close + 1
        at = text.find(_BASE64, upto)


def _is_base64(data: str) -> bool:
    try:
        binascii.a2b_base64("".join(data.split()), strict_mode=True)
    except (binascii.Error, ValueError):
        return False
    return True
