"""A summary that a model writes through litellm, against the loopback model server: run as a script.

It prints one JSON object: what the views of a good model, and of one that refuses, have.
"""

from __future__ import annotations

import json
import os
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


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    found = {"good": seen(reply("Done: seven files were read.")), "away": seen(*[failure(500)] * 4)}
    print(json.dumps(found))
