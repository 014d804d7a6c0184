"""``image_limit``: only the newest images of results stay."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import ClassVar, Literal, NamedTuple

from pydantic import NonNegativeInt, PositiveInt

from elision import (
    Address,
    Content,
    Edit,
    Image,
    Observation,
    Operation,
    PartView,
    Processor,
    Schedule,
    Stage,
    Text,
    View,
    image_size,
)

_DATA = re.compile(r"data:([\w.+-]{1,20}/[\w.+-]{1,40});base64,")


class ImageLimit(Processor):
    """Put a note where older images of results stand, so that the newest ones stay.

    Cost: rewrites the cached prefix from the oldest newly removed image, each time the schedule comes due.

    ```yaml
    history_processors:
      - type: image_limit
        keep_images: 5
    ```

    Without ``keep_images`` as many stay as the profile of the model allows in one request, all if it names no limit;
    what is over that goes at once, unless ``schedule`` says otherwise, for the request would be refused.  Where the
    provider takes large images in requests of few images only (Claude: over 2,000 pixels with at most 20), so many go
    that there are few, or none is large; the size of an image at a URL is not known, and is taken for small.  Shape:
    ``[image removed: image/png, 12 KB; ref …]`` in the place of each image; the texts of the result stay.
    Never touches the results of the newest step, texts, images in messages of the user (they count towards the limits
    of the request), and what the classification table protects.  Raises nothing.  Source: the limits in the profiles
    (docs/profiles.md).
    """

    stage: ClassVar[Stage] = "history"
    operation: ClassVar[Operation] = "clear"
    scheduled: ClassVar[bool] = True
    cost: ClassVar[str] = "rewrites the cached prefix when its schedule comes due"

    type: Literal["image_limit"] = "image_limit"
    keep_images: NonNegativeInt | None = None
    """Newest images of results that stay; as many as the model takes if not given."""
    max_total_bytes: PositiveInt | None = None
    """Bytes of all images of the request, as base64 or URL, over which the oldest go."""
    schedule: Schedule | None = None
    """When images are removed; as the chain says if not given."""

    @property
    def waits(self) -> bool:
        """Whether removal waits: what only the provider's limits take out does not."""
        limits = (self.keep_images, self.max_total_bytes, self.schedule)
        return any(given is not None for given in limits)

    @property
    def own_schedule(self) -> Schedule | None:
        """The option ``schedule``."""
        return self.schedule

    def plan(self, view: View) -> Iterator[Edit]:
        """Propose notes for the images that are too many."""
        limits = [view.profile.images.max_images if self.keep_images is None else None, _most_by_size(view)]
        most = min((limit for limit in limits if limit is not None), default=None)
        for observation, kept in view.older_images(self.keep_images, most=most, most_chars=self.max_total_bytes):
            gone = observation.images - kept
            if gone > 0:
                yield observation.replace(_without_first(observation, gone), reason="older than the images that stay")


def _most_by_size(view: View) -> int | None:
    """Return how many images the request may have because one of them is large; ``None`` where none is."""
    limits = view.profile.images
    if limits.many is None or limits.many_edge is None:
        return None
    images = view.index(lambda part: _edges(view, part)).by_key
    standing = [(address, key) for key, found in images.items() if isinstance(key, _Edge) for address in found]
    large = [address for address, edge in standing if edge.pixels > limits.many_edge]
    if not large:
        return None
    if not all(_may_go(view, address) for address in large):
        return limits.many
    # Where the newest large one goes too, as many may stay as stand behind it, and as cannot go.
    last = max(large)
    return max(limits.many, sum(address > last or not _may_go(view, address) for address, _ in standing))


def _may_go(view: View, address: Address) -> bool:
    part = view.part(address)
    return isinstance(part, Observation) and part.step != view.moment.newest_step and part.allows("clear")


class _Edge(NamedTuple):
    """The longer side of an image, 0 where it is not known, and which image of its part it is."""

    pixels: int
    number: int


def _edges(view: View, part: PartView) -> Iterator[_Edge]:
    """Yield the longer side of each image.

    The images of a message of the user stand beside its texts: they count with the first of these.
    """
    found: Sequence[object] = part.content
    if not part.is_result:
        message = view.message(part.address.position)
        found = message.message.parts if message.parts[0].address == part.address else ()
    for number, piece in enumerate(found):
        if isinstance(piece, Image):
            yield _Edge(max(image_size(piece.url) or (0, 0)), number)


def _without_first(observation: Observation, gone: int) -> Iterator[Content]:
    for piece in observation.content:
        if isinstance(piece, Image) and gone > 0:
            gone -= 1
            yield Text(_note(piece, observation.ref))
        else:
            yield piece


def _note(image: Image, ref: str) -> str:
    found = _DATA.match(image.url)
    size = len(image.url) - found.end() if found else 0
    told = f": {found[1]}, {_size(size * 3 // 4)}" if found else ""
    return f"[image removed{told}; ref {ref}]"


def _size(count: int) -> str:
    return f"{count} bytes" if count < 1024 else f"{count // 1024} KB"
