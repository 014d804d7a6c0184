"""Runs that other processes go on with, on the same archive: run as a script; it prints what is known there."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

from transport_calls import TOOLS, asked, reading, stored

import elision
from elision import Chain, Session
from elision.testing import ModelServer, call, reply

BUDGET = "history_processors: [{type: budget, max_tokens: 90000}]"
TIGHT = {"window": {"input_tokens": 3000}}


def chain(folder: str) -> Chain:
    return Chain(elision.loads(BUDGET).processors, archive=str(Path(folder) / "archive"))


def seen(session: Session) -> dict[str, Any]:
    return {
        "usage": [[each.model, each.input_tokens, each.cached_tokens, each.output_tokens] for each in session.usage],
        "factors": {str(model): [each.factor, each.requests] for model, each in session.calibrations.items()},
    }


def answered() -> dict[str, Any]:
    """Two sessions, of which the second begins in the middle of the run, and one that has all of it."""
    said = [reply("Looking.", call("read_file", path=f"{number}")) for number in range(4)]
    with tempfile.TemporaryDirectory() as folder, ModelServer([*said, "Done.", "Done."]) as server:
        messages: list[Any] = [
            {"role": "system", "content": "You fix bugs. " * 400},
            {"role": "user", "content": "Go."},
        ]
        session = chain(folder).session()
        for number in range(5):
            if number == 2:
                before, session = seen(session), chain(folder).session()
            answer = asked(messages, server, "openai/gpt-4.1", "openai", session=session, tools=TOOLS)
            messages += stored(answer.choices[0].message)
        again = chain(folder).session()
        asked([*messages, {"role": "user", "content": "And?"}], server, "openai/gpt-4.1", "openai", session=again)
        return {"before": before, "after": seen(session), "again": seen(again), "server": len(server.usage)}


def refused() -> dict[str, Any]:
    """A provider has said how long a request may be; the process that goes on with the run knows."""
    with tempfile.TemporaryDirectory() as folder, ModelServer(["Done.", "Again."], profile=TIGHT) as server:
        messages, counts = reading(8), list[int]()
        for _ in range(2):
            session = chain(folder).session()
            asked(messages, server, "openai/gpt-4.1", "openai", session=session, tools=TOOLS)
            messages += [{"role": "assistant", "content": "Done."}, {"role": "user", "content": "And now?"}]
            counts.append(len(server.requests))
        return {"requests": counts, "rules": [each.rule for each in server.invalid]}


if __name__ == "__main__":
    print(json.dumps({"answered": answered(), "refused": refused()}))
