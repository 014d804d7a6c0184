"""Runs for chains in shadow mode, and what they are compared with."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from offload_runs import lines

import elision
from elision import Chain
from elision.testing import Shape, call, conversation, result

CLEARING = """\
history_processors:
  - type: last_n_observations
    n: 3
  - type: cache_control
    last_n_messages: 2
classification: none
"""


def shadow(text: str = CLEARING, share: float | None = None) -> Chain:
    return replace(elision.loads(text, archive="memory:"), mode="shadow", share=share)


def live(text: str = CLEARING) -> Chain:
    return elision.loads(text, archive="memory:")


def run(steps: int = 12, shape: Shape = "anthropic", task: str = "Read the files.") -> list[Any]:
    made = conversation(shape).user(task)
    for number in range(steps):
        made = made.step(call("read_file", path=f"{number}.py"), result(f"{number}: {lines(40)}"))
    return made.messages()
