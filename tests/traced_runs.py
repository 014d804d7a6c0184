"""Runs with a canary in one result, and chains that remove it, for tests of the trace."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

import elision
from elision.testing import Conversation, Shape, call, conversation, result

ID = "ORDER-4711-x"
FILLER = "a line of output that is read once\n" * 20
READ, WRITE = call("read_file", path="a.py"), call("write_file", path="b.py", content="x")


def long(canary: str, where: str = "middle") -> str:
    """A result with a canary at its head, middle or tail."""
    return {
        "head": f"{canary}\n{FILLER}{FILLER}",
        "middle": f"{FILLER}{canary}\n{FILLER}",
        "tail": f"{FILLER}{FILLER}{canary}",
    }[where]


def run(*steps: Sequence[Any], shape: Shape = "openai", then: int = 4) -> Conversation:
    """Some steps, and then a few more that read other files."""
    found = conversation(shape).system("You fix bugs.").user("Fix a.py.")
    for step in [*steps, *((call("read_file", path=f"{number}.py"), result(FILLER)) for number in range(then))]:
        found = found.step(*step)
    return found


def last(n: int = 2, **keys: Any) -> elision.Chain:
    options = {"history_processors": [{"type": "last_n_observations", "n": n}], **keys}
    return elision.loads(json.dumps(options))


def chain_of(*processors: elision.Processor, **keys: Any) -> elision.Chain:
    return elision.Chain(processors, **keys)


def told(place: elision.TracedPlace) -> list[tuple[int, str, str]]:
    return [(event.step, event.stage, event.what) for event in place.events]


def cut(text: str) -> str:
    return f"{text[:100]}\n[cut]\n{text[-100:]}"


def cutting(view: elision.View) -> Iterable[elision.Edit]:
    return [each.replace(cut(each.text), reason="too long") for each in view.observations if len(each.text) > 500]
