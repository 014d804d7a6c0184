"""Streamed answers, in every shape: which pieces the host gets, and what the session knows of their usage.

Run as a script; it prints one JSON object.
"""

from __future__ import annotations

import asyncio
import json
import warnings
from collections.abc import Mapping
from typing import Any

from transport_calls import at
from transport_troubles import GOOD, QUIET, Answering

import elision
from elision import Chain, Session
from elision.testing import ModelServer, reply, thinking

ROUTES: Mapping[str, Any] = {
    "openai/gpt-4.1": "openai",
    "openai/responses/gpt-5": "openai",
    "anthropic/claude-sonnet-4-5": "anthropic",
    "deepseek/deepseek-v4-pro": "openai",
    "moonshot/kimi-k3.1-pro": "openai",
    "dashscope/qwen3-max": "openai",
    "xai/grok-4": "openai",
}
ASKING: Mapping[str, Any] = {
    "not asked": {},
    "asked": {"stream_options": {"include_usage": True}},
    "something else asked": {"stream_options": {"include_obfuscation": False}},
    "refused": {"stream_options": {"include_usage": False}},
}
MESSAGES = [{"role": "user", "content": "Go."}]


def pieces(session: Session, server: ModelServer, model: str, options: dict[str, Any], *, waits: bool) -> list[Any]:
    told = {"session": session, "stream": True, **at(server, ROUTES[model]), **options}
    if not waits:
        return list(elision.completion(model, MESSAGES, **told))

    async def taken() -> list[Any]:
        return [piece async for piece in await elision.acompletion(model, MESSAGES, **told)]

    return asyncio.run(taken())


def streams() -> dict[str, Any]:
    found = {}
    for model in ROUTES:
        for asking, options in ASKING.items():
            for waits in (False, True):
                with ModelServer([reply(thinking("Hm."), "Looking now.")]) as server:
                    session = Chain((), archive="memory:").session()
                    got = pieces(session, server, model, options, waits=waits)
                    found[f"{model}, {asking}, {'async' if waits else 'sync'}"] = {
                        "text": "".join(piece.choices[0].delta.content or "" for piece in got if piece.choices),
                        "empty": sum(not piece.choices for piece in got),
                        "told": [piece.usage.prompt_tokens for piece in got if getattr(piece, "usage", None)],
                        "known": [each.input_tokens for each in session.usage],
                        "used": [each.input_tokens for each in server.usage],
                        "sent": server.requests[-1].get("stream_options"),
                    }
    return found


def silent() -> list[int]:
    """A provider that does not say what was used: litellm ends with a guess of its own."""
    with Answering(GOOD) as server:
        session = Chain((), archive="memory:").session()
        got = elision.completion("openai/gpt-4.1", MESSAGES, session=session, stream=True, api_base=server.url, **QUIET)
        return [sum(not piece.choices for piece in got), len(session.usage)]


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    print(json.dumps({"streams": streams(), "silent": silent()}))
