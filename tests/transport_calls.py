"""Calls of ``elision.completion`` against the loopback server: run as a script, where litellm is imported already.

It prints one JSON object: what each scenario below saw.
"""

from __future__ import annotations

import asyncio
import copy
import json
import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import elision
from elision import Chain, Session
from elision.testing import ModelServer, call, conversation, failure, reply, result, thinking

ROUTES: Mapping[str, Any] = {
    "openai/gpt-4.1": "openai",
    "anthropic/claude-opus-5-5": "anthropic",
    "deepseek/deepseek-v4-pro": "openai",
    "moonshot/kimi-k3.1-pro": "openai",
}
TIGHT: Mapping[str, Any] = {
    "openai/gpt-4.1": "openai",
    "openai/gpt-5.2": "openai",
    "deepseek/deepseek-v4-pro": "openai",
    "moonshot/kimi-k3.1-pro": "openai",
    "dashscope/qwen3-max": "openai",
    "xai/grok-4": "openai",
    "anthropic/claude-sonnet-4-5": "anthropic",
}
TOOL = {"name": "read_file", "parameters": {"type": "object", "properties": {"path": {"type": "string"}}}}
TOOLS = [{"type": "function", "function": TOOL}]
TEXT = "text of the file\n" * 200
CLEARING = "history_processors: [{type: clear_tool_results, keep: 1, schedule: every_step}, {type: budget}]"


def chain(text: str = CLEARING, **options: Any) -> Chain:
    made = elision.loads(text, archive="memory:")
    return Chain(made.processors, **{"archive": "memory:", "schedule": "every_step", **options})


def at(server: ModelServer, shape: Any, **options: Any) -> dict[str, Any]:
    return {"api_base": server.base_url(shape), "api_key": "none", "num_retries": 0, "max_retries": 0, **options}


def asked(messages: list[Any], server: ModelServer, model: str, shape: Any, **options: Any) -> Any:
    return elision.completion(model, messages, **at(server, shape, **options))


def stored(message: Any) -> list[Any]:
    """An answer as a host keeps it that has no place for reasoning, and the results of its calls."""
    fields = message.model_dump(exclude_none=True)
    calls = [{key: each[key] for key in ("id", "type", "function")} for each in fields.get("tool_calls", ())]
    kept = {"role": "assistant", "content": fields.get("content"), "agent": "main"}
    results = [{"role": "tool", "tool_call_id": each["id"], "content": TEXT, "trace": 7} for each in calls]
    return [{**kept, **({"tool_calls": calls} if calls else {})}, *results]


def script(steps: int = 5) -> list[Any]:
    said = [reply(thinking(f"I look {n}."), "Looking.", call("read_file", path=f"{n}")) for n in range(steps)]
    return [*said, "Done."]


def loop(model: str, shape: Any, session: Session, server: ModelServer, *, stream: bool, steps: int = 5) -> list[Any]:
    messages: list[Any] = [{"role": "system", "content": "You fix bugs. " * 400}, {"role": "user", "content": "Go."}]
    for _ in range(steps + 1):
        before = copy.deepcopy(messages)
        more = {"stream": True} if stream else {}
        answer = asked(messages, server, model, shape, session=session, tools=TOOLS, **more)
        answer = sys.modules["litellm"].stream_chunk_builder(list(answer)) if stream else answer
        assert messages == before
        messages += stored(answer.choices[0].message)
    return messages


def loops() -> dict[str, Any]:
    found = {}
    for model, shape in ROUTES.items():
        for stream in (False, True):
            with ModelServer(script()) as server:
                session = chain().session()
                messages = loop(model, shape, session, server, stream=stream)
                found[f"{model} {'stream' if stream else 'whole'}"] = {
                    "said": messages[-1]["content"],
                    "invalid": [each.message for each in server.invalid],
                    "usage": [[each.input_tokens, each.cached_tokens, each.written_tokens] for each in session.usage],
                    "server": [[each.input_tokens, each.read_tokens, each.write_tokens] for each in server.usage],
                    "output": all(each.output_tokens > 0 for each in session.usage),
                    "costs": all(each.cost for each in session.usage),
                    "last": server.requests[-1]["messages"],
                    "factor": [each.factor for each in session.calibrations.values()],
                }
    return found


def overflows() -> dict[str, Any]:
    """A history that is too long for a window of 3,000 tokens, which nothing but the provider knows of."""
    found = {}
    for model, shape in TIGHT.items():
        with ModelServer(["Done.", "Again."], profile={"window": {"input_tokens": 3000}}) as server:
            session = chain("history_processors: []").session()
            answer = asked(reading(8), server, model, shape, session=session, tools=TOOLS)
            bodies = [len(json.dumps(each["messages"])) for each in server.requests]
            rules = [each.rule for each in server.invalid]
            said = answer.choices[0].message.content
            asked([*reading(9)], server, model, shape, session=session, tools=TOOLS)
            found[f"{model} again"] = len(server.requests)
            found[model] = {"said": said, "rules": rules, "smaller": bodies[1:] < bodies[:1], "requests": len(bodies)}
    return found


def reading(steps: int) -> list[Any]:
    built = conversation("openai").system("Rules.").user("Go.")
    for number in range(steps):
        built = built.step(call("read_file", path=f"{number}"), result(TEXT))
    return built.user("Well?").messages()


def hopeless() -> dict[str, Any]:
    found = {}
    long = [{"role": "system", "content": "rule " * 9000}, {"role": "user", "content": "Go."}]
    refusing = [failure(400, "prompt is too long: 900 tokens > 800 maximum")] * 9
    for name, messages, said in (("nothing to take", long, None), ("refused again", reading(8), refusing)):
        with ModelServer(said, profile={"window": {"input_tokens": 3000 if said is None else 90_000}}) as server:
            told = raised(messages, server, "openai/gpt-4.1", "openai", chain=chain(), tools=TOOLS)
            found[name] = [*told, len(server.requests)]
    with ModelServer(profile={"window": {"input_tokens": 3000}}) as server:
        found["no chain"] = [*raised(reading(8), server, "openai/gpt-4.1", "openai", tools=TOOLS), len(server.requests)]
    return found


def raised(messages: list[Any], server: ModelServer, model: str, shape: Any, **options: Any) -> list[str]:
    try:
        asked(messages, server, model, shape, **options)
    except Exception as error:  # noqa: BLE001 (its class is what is asked for)
        return [type(error).__name__, str(error)]
    return ["", ""]


def fallbacks() -> dict[str, Any]:
    marking = chain("history_processors: [{type: cache_control}]")
    messages = [{"role": "system", "content": "Rules. " * 900}, {"role": "user", "content": "Go."}]
    with ModelServer([failure(500)] * 3) as first, ModelServer(["Second."]) as second:
        other = {"model": "anthropic/claude-sonnet-4-5", "api_base": second.base_url("anthropic"), "api_key": "none"}
        answer = asked(messages, first, "openai/gpt-4.1", "openai", chain=marking, fallbacks=[other])
        bodies = [json.dumps(each.requests[-1]) for each in (first, second)]
        marks = ["cache_control" in each for each in bodies]
        invalid = [each.message for each in second.invalid]
        said = answer.choices[0].message.content
    small = "profile: {window: {input_tokens: 500}}\nhistory_processors: [{type: budget, reserve_tokens: 100}]"
    with ModelServer() as server:
        told = raised(messages, server, "openai/gpt-4.1", "openai", chain=elision.loads(small, archive="memory:"))
        sent = len(server.requests)
    return {"said": said, "marks": marks, "invalid": invalid, "over": [*told, sent]}


def owners() -> dict[str, Any]:
    found: dict[str, Any] = {}
    edits = {"edits": [{"type": "clear_tool_uses_20250919"}]}
    asks = {
        "context_management": {"context_management": edits},
        "truncation": {"truncation": "auto"},
        "window": {"context_window_fallback_dict": {"gpt-4.1": "gpt-5.2"}},
        "fallbacks": {"fallbacks": [7]},
        "slip": {"chian": "default"},
    }
    with ModelServer() as server:
        for name, options in asks.items():
            found[name] = raised(
                [{"role": "user", "content": "Go."}], server, "openai/gpt-4.1", "openai", chain=chain(), **options
            )
        found["sent"] = len(server.requests)
        asked(reading(1), server, "anthropic/claude-sonnet-4-5", "anthropic", tools=TOOLS, context_management=edits,
              chain=chain(owner="elision"))  # fmt: skip
        asked(reading(1), server, "anthropic/claude-sonnet-4-5", "anthropic", tools=TOOLS, context_management=edits,
              chain=chain(owner="provider"))  # fmt: skip
        found["kept"] = ["context_management" in each for each in server.requests]
        found["invalid"] = [each.message for each in server.invalid]
    return found


def dialects() -> dict[str, Any]:
    found = {}
    for shape in ("sweagent", "sweagent_text", "miniswe", "miniswe_text", "anthropic", "responses", "gemini", "openai"):
        built: Any = conversation(shape).system("Rules.").user("Go.")  # type: ignore[arg-type]
        for number in range(3):
            built = built.step("Looking.", call("bash", command=f"ls {number}"), result(TEXT))
        tools = [{"type": "function", "function": {"name": "bash", "parameters": {"type": "object"}}}]
        with ModelServer() as server:
            asked(built.messages(), server, "deepseek/deepseek-v4-pro", "openai", chain=chain(), tools=tools)
            invalid = [each.message for each in server.invalid]
            roles = [each["role"] for each in server.requests[-1]["messages"]]
        found[shape] = {"invalid": invalid, "roles": roles}
    broken = conversation("sweagent").user("Go.").step(call("bash", command="ls")).user("Stop.").messages()
    with ModelServer() as server:
        asked(broken, server, "openai/gpt-4.1", "openai", chain=chain())
        found["broken"] = {"invalid": [each.message for each in server.invalid], "roles": []}
    return found


def restarts() -> dict[str, Any]:
    """A process ends, and another goes on with the same archive."""
    with tempfile.TemporaryDirectory() as folder, ModelServer([*script(3)[:3], "Done."]) as server:
        messages: list[Any] = [{"role": "user", "content": "Go."}]
        for _ in range(3):
            kept = elision.Chain((), archive=str(Path(folder) / "archive"))
            answer = asked(messages, server, "deepseek/deepseek-v4-pro", "openai", chain=kept, tools=TOOLS)
            messages += stored(answer.choices[0].message)
        sent = server.requests[-1]["messages"]
    return {"reasoning": [each["reasoning_content"] for each in sent if each["role"] == "assistant"]}


def bare() -> dict[str, Any]:
    """Calls whose reasoning nobody has, and options that litellm may change."""
    messages = reading(2)
    headers, before = {"x-run": "7"}, copy.deepcopy(TOOLS)
    with ModelServer([failure(503), "Done."]) as server:
        answer = asked(
            messages, server, "deepseek/deepseek-v4-pro", "openai", tools=TOOLS, extra_headers=headers, num_retries=1
        )
        sent = server.requests[-1]["messages"]
        return {
            "said": answer.choices[0].message.content,
            "reasoning": [each.get("reasoning_content") for each in sent if each["role"] == "assistant"],
            "untouched": headers == {"x-run": "7"} and before == TOOLS and messages == reading(2),
            "requests": len(server.requests),
        }


def waiting() -> dict[str, Any]:
    async def run(server: ModelServer) -> list[str]:
        session = chain().session()
        first = await elision.acompletion(
            "openai/gpt-4.1", reading(2), session=session, tools=TOOLS, **at(server, "openai")
        )
        stream = await elision.acompletion(
            model="openai/gpt-4.1",
            messages=reading(2),
            session=session,
            tools=TOOLS,
            stream=True,
            **at(server, "openai"),
        )
        pieces = [chunk.choices[0].delta.content or "" async for chunk in stream if chunk.choices]
        return [first.choices[0].message.content, "".join(pieces), str(len(session.usage))]

    async def tight(server: ModelServer) -> str:
        answer = await elision.acompletion(
            "openai/gpt-4.1", reading(8), chain=chain(), tools=TOOLS, **at(server, "openai")
        )
        return str(answer.choices[0].message.content)

    with ModelServer(["One.", "Two."]) as server, ModelServer(profile={"window": {"input_tokens": 3000}}) as small:
        return {"said": asyncio.run(run(server)), "tight": asyncio.run(tight(small))}


def main() -> None:
    scenarios: list[Callable[[], dict[str, Any]]] = [
        loops, overflows, hopeless, fallbacks, owners, dialects, restarts, bare, waiting,
    ]  # fmt: skip
    print(json.dumps({scenario.__name__: scenario() for scenario in scenarios}, default=str))


if __name__ == "__main__":
    main()
