"""``image_parsing``: turn images that stand as base64 in markdown into image parts."""

from __future__ import annotations

import binascii
import re
from collections.abc import Iterator
from typing import ClassVar, Literal

from elision import Content, Edit, Image, Operation, PartView, Processor, Role, Stage, Text, View

_IMAGE = re.compile(r"(!\[[^\]]*\]\(data:)([^;]+);base64,([^)]+)(\))")


class ImageParsing(Processor):
    """Turn images that stand as base64 in markdown (``![alt](data:image/png;base64,…)``) into image parts.

    Cost: none; each message is changed when it comes in.

    ```yaml
    history_processors:
      - type: image_parsing
        allowed_mime_types: [image/png, image/jpeg, image/webp]
    ```

    Shape: text, image, text; the markdown around the image stays, as in SWE-agent.  What is not valid base64, or not of
    an allowed type, stays text.  Never touches assistant and system messages.  Source: SWE-agent's processor of the
    same name.
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
        for match in _IMAGE.finditer(piece.text):
            before, mime_type, data, after = match.groups()
            mime_type = "image/jpeg" if mime_type == "image/jpg" else mime_type
            text += piece.text[end : match.start()]
            if mime_type in self.allowed_mime_types and _is_base64(data):
                found += [Text(text + before), Image(f"data:{mime_type};base64,{data}")]
                text = after
            else:
                text += match.group()
            end = match.end()
        text += piece.text[end:]
        return [*found, Text(text)] if found else [piece]


def _is_base64(data: str) -> bool:
    try:
        binascii.a2b_base64("".join(data.split()), strict_mode=True)
    except (binascii.Error, ValueError):
        return False
    return True
