"""Calls of litellm against the loopback model server: run as a script.

It prints one JSON object: what each scenario below saw.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Mapping
from typing import Any

from elision.testing import ModelServer, call, failure, reply, thinking

ROUTES = {
    "openai/gpt-4.1": "openai",
    "deepseek/deepseek-v4-pro": "openai",
    "moonshot/kimi-k3.1-pro": "openai",
    "anthropic/claude-sonnet-4-5": "anthropic",
    "anthropic/claude-opus-5-5": "anthropic",
}
LONG = {
    "openai/gpt-4.1": "openai",
    "openai/gpt-5.2": "openai",
    "deepseek/deepseek-v4-pro": "openai",
    "anthropic/claude-opus-5": "anthropic",
}
TOOL = {"name": "ls", "parameters": {"type": "object", "properties": {"path": {"type": "string"}}}}
TOOLS = [{"type": "function", "function": TOOL}]
MARK = {"cache_control": {"type": "ephemeral"}}


def options(server: ModelServer, model: str, shape: Any) -> dict[str, Any]:
    return {
        "model": model,
        "api_base": server.base_url(shape),
        "api_key": "none",
        "num_retries": 0,
        "max_retries": 0,
    }


def loop(litellm: Any, model: str, shape: str, *, stream: bool) -> dict[str, Any]:
    """Three requests of an agent: two parallel calls, one call, an answer."""
    script = [
        reply(thinking("I look."), "Looking.", call("ls", path="a"), call("ls", path="é")),
        reply(thinking("Once more."), call("ls", path="c")),
        "Done.",
    ]
    more: dict[str, Any] = {"stream": True, "stream_options": {"include_usage": True}} if stream else {}
    mark = MARK if shape == "anthropic" else {}
    content = [{"type": "text", "text": "You fix bugs. " * 500, **mark}]
    messages: list[Any] = [{"role": "system", "content": content}, {"role": "user", "content": "Go."}]
    found: dict[str, Any] = {"texts": [], "reads": [], "cost": 0.0}
    with ModelServer(script) as server:
        for _ in script:
            sent = copy.deepcopy(messages)
            answer = litellm.completion(**options(server, model, shape), messages=sent, tools=TOOLS, **more)
            answer = litellm.stream_chunk_builder(list(answer)) if stream else answer
            message = answer.choices[0].message
            usage = answer.usage.model_dump()
            found["texts"].append(message.content or "")
            found["reads"].append((usage["prompt_tokens_details"] or {}).get("cached_tokens"))
            found["cost"] += litellm.completion_cost(answer, model=model)
            messages += taken_in(message.model_dump(exclude_none=True))
        found |= {"invalid": [each.message for each in server.invalid], "server_cost": server.cost()}
        found["server_reads"] = [each.read_tokens for each in server.usage]
    return found


def taken_in(message: dict[str, Any]) -> list[Any]:
    """The answer as a host keeps it, and the results of its calls."""
    kept = {key: message[key] for key in ("role", "content", "reasoning_content", "thinking_blocks") if key in message}
    calls = [{key: each[key] for key in ("id", "type", "function")} for each in message.get("tool_calls", ())]
    results = [{"role": "tool", "tool_call_id": each["id"], "content": "a.py " * 300} for each in calls]
    return [{"content": None, **kept, **({"tool_calls": calls} if calls else {})}, *results]


def raised(litellm: Any, model: str, shape: str, server: ModelServer, text: str = "Go.") -> str:
    try:
        litellm.completion(**options(server, model, shape), messages=[{"role": "user", "content": text}])
    except Exception as error:  # noqa: BLE001 (its class is what is asked for)
        return type(error).__name__
    return ""


def too_long(litellm: Any) -> dict[str, str]:
    found = {}
    for model, shape in LONG.items():
        with ModelServer(profile={"window": {"input_tokens": 500}}) as server:
            found[model] = raised(litellm, model, shape, server, "word " * 1000)
    return found


def failures(litellm: Any) -> dict[str, list[str]]:
    found = {}
    for model, shape in (("openai/gpt-4.1", "openai"), ("anthropic/claude-opus-5", "anthropic")):
        with ModelServer([failure(status) for status in (401, 429, 500, 503)]) as server:
            found[model] = [raised(litellm, model, shape, server) for _ in range(4)]
    return found


def responses(litellm: Any) -> dict[str, Any]:
    script = [reply(thinking("Hm."), "Look.", call("ls", path="a")), "Done."]
    with ModelServer(script) as server:
        told = {
            key: value for key, value in options(server, "openai/gpt-5.2", "responses").items() if "retries" not in key
        }
        told |= {"tools": [{"type": "function", **TOOL}], "include": ["reasoning.encrypted_content"], "store": False}
        items: list[Any] = [{"role": "user", "content": "Go. " * 1500}]
        first = litellm.responses(input=items, **told)
        items += [item.model_dump(exclude_none=True) for item in first.output]
        items.append({"type": "function_call_output", "call_id": "call_1", "output": "a.py"})
        second = list(litellm.responses(input=items, stream=True, **told))
        usage = second[-1].response.usage
        text = "".join(event.delta for event in second if event.type == "response.output_text.delta")
        invalid = [each.message for each in server.invalid]
        return {"text": text, "read": usage.input_tokens_details.cached_tokens, "invalid": invalid}


def main() -> None:
    import litellm

    litellm.suppress_debug_info = True
    loops = {
        f"{model} {'stream' if stream else 'whole'}": loop(litellm, model, shape, stream=stream)
        for model, shape in ROUTES.items()
        for stream in (False, True)
    }
    scenarios: Mapping[str, Callable[[Any], Any]] = {"too_long": too_long, "failures": failures, "responses": responses}
    print(json.dumps({"loops": loops, **{name: scenario(litellm) for name, scenario in scenarios.items()}}))


if __name__ == "__main__":
    main()
