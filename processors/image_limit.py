"""``image_limit``: only the newest images of results stay."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import ClassVar, Literal

from pydantic import NonNegativeInt, PositiveInt

from elision import Content, Edit, Image, Observation, Operation, Processor, Schedule, Stage, Text, View

_DATA = re.compile(r"data:([\w.+-]{1,20}/[\w.+-]{1,40});base64,")


class ImageLimit(Processor):
    """Put a note where older images of results stand, so that the newest ones stay.

    Cost: rewrites the cached prefix from the oldest newly removed image, each time the schedule comes due.

    ```yaml
    history_processors:
      - type: image_limit
        keep_images: 5
    ```

    Without ``keep_images`` as many stay as the profile of the model allows in one request, all if it names no limit.
    Shape: ``[image removed: image/png, 12 KB; ref …]`` in the place of each image; the texts of the result stay.
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
    def own_schedule(self) -> Schedule | None:
        """The option ``schedule``."""
        return self.schedule

    def plan(self, view: View) -> Iterator[Edit]:
        """Propose notes for the images that are too many."""
        most = view.profile.images.max_images if self.keep_images is None else None
        for observation, kept in view.older_images(self.keep_images, most=most, most_chars=self.max_total_bytes):
            gone = observation.images - kept
            if gone > 0:
                yield observation.replace(_without_first(observation, gone), reason="older than the images that stay")


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
