"""A summary that a model writes through litellm, against the loopback model server: run as a script.

It prints one JSON object: what the views of a good model have, of one that refuses, and of one that takes its time.
"""

from __future__ import annotations

import json
import os
import threading
import warnings
from typing import Any

from summary_runs import begun, chain, reads, summaries

from elision.testing import ModelServer, failure, reply

OPTIONS = "trigger_steps: 8, keep_last_steps: 2, summarizer: llm, model: openai/gpt-4.1, timeout_seconds: 30"


def seen(*replies: Any) -> dict[str, Any]:
    run = reads(begun(), 1, 8).messages()
    with ModelServer(list(replies)) as server:
        os.environ |= {"OPENAI_API_BASE": server.base_url("openai"), "OPENAI_API_KEY": "none"}
        view = chain(OPTIONS).process(run)
        asked = len(server.requests)
    return {
        "summaries": summaries(view),
        "failures": [failed.error for failed in view.failures],
        "unchanged": view.messages == run,
        "asked": asked,
    }


def seen_meanwhile() -> dict[str, Any]:
    """Send requests while the model is asked, and one when it has answered."""
    run, answered = reads(begun(), 1, 10).messages(), threading.Event()

    def held(_: Any) -> Any:
        answered.wait(60)
        return reply("Done: seven files were read.")

    with ModelServer(held) as server:
        os.environ |= {"OPENAI_API_BASE": server.base_url("openai"), "OPENAI_API_KEY": "none"}
        with chain(OPTIONS + ", background: true").session() as session:
            before = [session.process(run[:stop]) for stop in (18, 20)]
            answered.set()
            for thread in threading.enumerate():
                if thread.name == "elision-summary":
                    thread.join(60)
            after = session.process(run)
        return {
            "unchanged": [view.messages == run[: len(view.messages)] for view in before],
            "summaries": summaries(after),
            "asked": len(server.requests),
            "invalid": len(server.invalid),
        }


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    found = {
        "good": seen(reply("Done: seven files were read.")),
        "away": seen(*[failure(500)] * 4),
        "meanwhile": seen_meanwhile(),
    }
    print(json.dumps(found))
