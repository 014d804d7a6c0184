"""What the order of a chain's processors lets one expect that is probably not meant, though it can be run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from elision.config.problems import Severity
from elision.processor import Processor


def order_advice(processors: Sequence[Processor]) -> Iterator[tuple[int, str, Severity]]:
    """Yield the index of each processor that should stand elsewhere, what to do, and how much it matters."""
    types = [processor.type_name for processor in processors]
    for index, processor in enumerate(processors):
        for name, why in processor.usually_after.items():
            if name in types[index + 1 :]:
                yield index, f"{types[index]} should stand after {name} ({why}); move it down", "warning"
        later = [each.type_name for each in processors[index + 1 :] if each.stage != "request"]
        if processor.stage == "request" and not processor.last and later:
            told = f"{types[index]} is asked for each request, after {' and '.join(dict.fromkeys(later))}"
            yield index, f"{told}, wherever it stands; move it down, so that the file says so", "note"
