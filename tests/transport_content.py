"""Histories with nothing in some messages, sent by ``elision.completion``: run as a script.

It prints one JSON object: for each provider and history the rules that the server found broken, and what it got.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import elision
from elision.testing import ModelServer

ROUTES: Mapping[str, Any] = {
    "openai/gpt-4.1": "openai",
    "deepseek/deepseek-v4-pro": "openai",
    "hosted_vllm/some-model": "openai",
    "anthropic/claude-sonnet-4-5": "anthropic",
}
TOOL = {"name": "bash", "parameters": {"type": "object", "properties": {"command": {"type": "string"}}}}
TOOLS = [{"type": "function", "function": TOOL}]
CALL = {"id": "a", "type": "function", "function": {"name": "bash", "arguments": '{"command": "true"}'}}
ACTION = {"role": "assistant", "content": None, "tool_calls": [CALL]}
GO = {"role": "user", "content": "Go."}
BLANKS: tuple[Any, ...] = (None, "", " \n", [], [{"type": "text", "text": ""}])


def histories() -> dict[str, tuple[list[Any], Any]]:
    """Return the messages and tools by what is odd about them."""
    found: dict[str, tuple[list[Any], Any]] = {
        f"result {blank}": ([GO, ACTION, {"role": "tool", "tool_call_id": "a", "content": blank}], TOOLS)
        for blank in BLANKS
    }
    found |= {f"answer {blank}": ([GO, {"role": "assistant", "content": blank}, GO], None) for blank in BLANKS}
    found |= {f"question {blank}": ([GO, {"role": "user", "content": blank}], None) for blank in BLANKS}
    result = {"role": "tool", "tool_call_id": "a", "content": "ok"}
    found["begun by the assistant"] = ([ACTION, result, GO], TOOLS)
    found["begun by an orphan"] = ([result, {"role": "assistant", "content": "Done."}, GO], TOOLS)
    found["no tools"] = ([GO], [])
    found["no tools any more"] = ([GO, ACTION, result], [])
    return found


def main() -> None:
    """Send each history to each provider."""
    seen: dict[str, Any] = {}
    for model, shape in ROUTES.items():
        for name, (messages, tools) in histories().items():
            with ModelServer() as server:
                options = {"api_base": server.base_url(shape), "api_key": "k", "num_retries": 0, "max_retries": 0}
                chain = elision.loads("history_processors: []", archive="memory:")
                try:
                    elision.completion(model, messages, chain=chain, tools=tools, **options)
                except Exception as error:  # noqa: BLE001 (shown by the test)
                    seen[f"{model}: {name}"] = str(error)
                    continue
                body = server.requests[-1]
                seen[f"{model}: {name}"] = {"messages": body["messages"], "tools": body.get("tools")}
    print(json.dumps(seen))


if __name__ == "__main__":
    main()
