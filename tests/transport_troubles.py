"""Calls of ``elision.completion`` where a provider, or a caller, does what it should not: run as a script.

It prints one JSON object: what each scenario below saw.
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

import elision
from elision import Chain
from elision.testing import ModelServer, call, conversation, failure, result

TOOL = {"name": "read_file", "parameters": {"type": "object", "properties": {"path": {"type": "string"}}}}
TOOLS = [{"type": "function", "function": TOOL}]
SHAPES: dict[str, Any] = {
    "openai/gpt-4.1": "openai",
    "openai/responses/gpt-5": "openai",
    "deepseek/deepseek-v4-flash": "openai",
    "anthropic/claude-sonnet-4-5": "anthropic",
}
QUIET = {"api_key": "sk-of-openai", "num_retries": 0, "max_retries": 0}
TOO_LONG = {
    "message": "This model's maximum context length is 9000 tokens. However, your messages resulted in 12000 tokens.",
    "code": "context_length_exceeded",
    "type": "invalid_request_error",
}
PER_MINUTE = "Request too large for gpt-4.1 on tokens per min (TPM): Limit {}, Requested {}. Reduce your message size."


def seen_in_trouble() -> dict[str, Any]:
    """Run all scenarios in a process of its own, which shows each warning as users see it."""
    done = subprocess.run(
        [sys.executable, __file__],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "ELISION_ARCHIVE": "memory:", "ELISION_PLUGINS": "", "PYTHONWARNINGS": ""},
    )
    assert done.returncode == 0, done.stderr
    seen: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return {**seen, "stderr": done.stderr}


class Answering:
    """A server that gives the same bodies whatever is asked, one after the other; the last one for ever."""

    def __init__(self, *answers: tuple[int, str, bytes]) -> None:
        self.requests: list[Any] = []
        taken, served = self.requests, iter([*answers, *[answers[-1]] * 9])

        class Handler(BaseHTTPRequestHandler):
            def log_message(self, *_: Any) -> None:
                """Say nothing."""

            def do_POST(self) -> None:
                taken.append(json.loads(self.rfile.read(int(self.headers["content-length"]))))
                status, kind, body = next(served)
                self.send_response(status)
                self.send_header("content-type", kind)
                self.send_header("content-length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}/v1"

    def __enter__(self) -> Self:
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()


def events(*bodies: dict[str, Any]) -> tuple[int, str, bytes]:
    told = "".join(f"data: {json.dumps(body)}\n\n" for body in bodies)
    return 200, "text/event-stream", f"{told}data: [DONE]\n\n".encode()


def chunk(**delta: Any) -> dict[str, Any]:
    choice = {"index": 0, "delta": delta, "finish_reason": None if delta else "stop"}
    return {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [choice]}


GOOD = events(chunk(role="assistant", content=""), chunk(content="Do"), chunk(content="ne."), chunk())


def refusal(status: int, body: Any) -> tuple[int, str, bytes]:
    return status, "application/json", json.dumps(body).encode()


def reading(steps: int = 6) -> list[Any]:
    built = conversation("openai").user("Go.")
    for number in range(steps):
        built = built.step(call("read_file", path=f"{number}"), result("text of the file\n" * 200))
    return built.user("Well?").messages()


def chain(text: str = "history_processors: []") -> Chain:
    return elision.loads(text, archive="memory:")


def said(stream: Any) -> str:
    return "".join(each.choices[0].delta.content or "" for each in stream if each.choices)


def streams() -> dict[str, Any]:
    """A stream whose first event is an error: too long, or of another kind."""
    found: dict[str, Any] = {}

    async def waited(url: str) -> str:
        more = {"stream": True, "chain": chain(), "tools": TOOLS, "api_base": url, **QUIET}
        answer = await elision.acompletion("openai/gpt-4.1", reading(), **more)
        return "".join([each.choices[0].delta.content or "" async for each in answer if each.choices])

    for name, first in (("too long", {"error": TOO_LONG}), ("failed", {"error": {"message": "No.", "code": 500}})):
        with Answering(events(chunk(role="assistant", content=""), first), GOOD) as server:
            where = {"api_base": server.url, "tools": TOOLS, **QUIET}
            more = {"fallbacks": ["openai/gpt-4o"]} if name == "failed" else {}
            text = said(elision.completion("openai/gpt-4.1", reading(), stream=True, chain=chain(), **where, **more))
            found[name] = [text, [len(json.dumps(each["messages"])) for each in server.requests]]
    with Answering(GOOD) as server:
        session = chain("history_processors: [{type: budget}]").session()
        where = {"api_base": server.url, "session": session, **QUIET}
        found["no usage"] = [said(elision.completion("openai/gpt-4.1", reading(), stream=True, **where))]
        found["no usage"] += [len(session.usage), len(session.calibrations)]
    with Answering(events({"error": TOO_LONG}), GOOD) as server:
        found["waited"] = [asyncio.run(waited(server.url)), len(server.requests)]
    return found


def bodies() -> dict[str, Any]:
    """Refusals whose words litellm leaves out of its error, and limits of tokens in a minute."""
    good = done()
    told = {
        "a text for an error": refusal(400, {"error": "the model is loaded with context length of only 4096 tokens"}),
        "a form of its own": refusal(400, {"detail": {"error": "maximum context length is 8192 tokens"}}),
        "a proxy": (413, "text/html", b"<html>413 Request Entity Too Large</html>"),
        "over all of a minute": refusal(429, {"error": {"message": PER_MINUTE.format(3000, 4500)}}),
        "not alone too large": refusal(429, {"error": {"message": PER_MINUTE.format(30000, 450)}}),
    }
    found = {}
    for name, answer in told.items():
        with Answering(answer, good) as server:
            try:
                given = elision.completion(
                    "openai/gpt-4.1", reading(), chain=chain(), tools=TOOLS, api_base=server.url, **QUIET
                )
                found[name] = [given.choices[0].message.content, len(server.requests)]
            except Exception as error:  # noqa: BLE001 (its class is what is asked for)
                found[name] = [type(error).__name__, len(server.requests)]
    return found


def retries() -> dict[str, Any]:
    """How often requests go out where two more may."""
    found = {}
    for name, first in (("too long", refusal(400, {"error": TOO_LONG})), ("failed", refusal(500, {"error": {}}))):
        for count in (1, 9):
            with Answering(*[first] * count, done()) as server:
                where = {"api_base": server.url, "tools": TOOLS, "chain": chain(), **QUIET, "num_retries": 2}
                said = raised("openai/gpt-4.1", reading(), **where)
                found[f"{name} {count}"] = [said.partition(":")[0], len(server.requests)]
    return found


def done() -> tuple[int, str, bytes]:
    usage = {"prompt_tokens": 100, "completion_tokens": 5, "total_tokens": 105}
    choices = [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "Done."}}]
    whole = {"id": "c", "object": "chat.completion", "created": 1, "model": "m", "choices": choices, "usage": usage}
    return refusal(200, whole)


@contextmanager
def noted() -> Iterator[list[dict[str, Any]]]:
    """The arguments that litellm is given; nothing is sent."""
    library, taken = sys.modules["litellm"], list[dict[str, Any]]()
    kept = library.completion

    def completion(**arguments: Any) -> Any:
        taken.append(arguments)
        raise RuntimeError("nothing is sent")

    library.completion = completion
    try:
        yield taken
    finally:
        library.completion = kept


def keys() -> dict[str, Any]:
    """What key each of the models gets."""
    found = {}
    for name, options in {"bare": {}, "at one address": {"api_base": "http://127.0.0.1:9/v1"}}.items():
        with noted() as taken:
            others = [
                "openai/gpt-4o",
                "anthropic/claude-sonnet-4-5",
                {"model": "gemini/gemini-2.5-pro", "api_key": "g"},
            ]
            raised("gpt-4.1", fallbacks=others, **options, **QUIET)
            found[name] = [each.get("api_key") for each in taken]
    with noted() as taken:
        headers = {"Authorization": "Bearer sk-of-openai", "X-Trace": "1"}
        others = [{"model": "openai/gpt-4o", "api_base": "http://127.0.0.2:9/v1"}, "anthropic/claude-sonnet-4-5"]
        raised("gpt-4.1", fallbacks=others, extra_headers=headers, **QUIET)
        found["elsewhere"] = [[each.get("api_key"), each.get("extra_headers")] for each in taken]
    found["wrong"] = [
        raised("gpt-4.1", fallbacks=wrong) for wrong in ([{"api_key": "sk-secret"}], {"model": "m"}, "gpt-4o")
    ]
    return found


def raised(model: Any, messages: Any = None, **options: Any) -> str:
    try:
        elision.completion(model, [{"role": "user", "content": "Go."}] if messages is None else messages, **options)
    except Exception as error:  # noqa: BLE001 (it is what is asked for)
        return f"{type(error).__name__}: {error}"
    return ""


def calls() -> dict[str, Any]:
    """Calls as other providers, and models that are cut off, leave them in a history."""
    given = {
        "cut off": [("c1", '{"path": "a.p')],
        "no object": [("c1", "[1]"), ("c2", "null"), ("c3", ""), ("c4", '{"a": NaN}')],
        "a mapping": [("c1", {"path": "é"})],
        "empty ids": [("", "{}"), ("", "{}")],
        "no ids": [(None, "{}"), (None, "{}")],
        "the same id": [("c1", "{}"), ("c1", "{}")],
        "Gemini's id": [("call__thought__" + "A" * 1400, "{}")],
    }
    found: dict[str, Any] = {}
    histories = {name: stepping(step) for name, step in given.items()}
    for model, shape in SHAPES.items():
        with ModelServer() as server:
            where = {"api_base": server.base_url(shape), "tools": TOOLS, "chain": chain(), **QUIET}
            told = [raised(model, messages, **where) for messages in histories.values()]
            found[model] = [*filter(None, told), len(server.usage)]
    for name, messages in histories.items():
        with noted() as taken:
            raised("gpt-4.1", messages, chain=chain())
            raised("gemini/gemini-2.5-pro", messages, chain=chain())
        found[name] = [each["messages"][1]["tool_calls"] for each in taken]
    return found


def stepping(step: list[tuple[Any, Any]]) -> list[Any]:
    asked = [{"id": id_, "type": "function", "function": {"name": "ls", "arguments": said}} for id_, said in step]
    answers = [{"role": "tool", "tool_call_id": id_, "content": f"{n}"} for n, (id_, _) in enumerate(step)]
    messages = [{"role": "user", "content": "Go."}, {"role": "assistant", "content": None, "tool_calls": asked}]
    return [*messages, *answers, {"role": "user", "content": "Well?"}]


def owners() -> dict[str, Any]:
    asks = {"context_management": {"edits": [{"type": "clear_tool_uses_20250919"}]}}
    with noted() as taken:
        raised("anthropic/claude-sonnet-4-5", **asks)
        owning = Chain((), archive="memory:", owner="elision")
        raised("openrouter/x", chain=owning, extra_body={"transforms": ["middle-out"], "top_k": 1})
        return {"no chain": taken[0].get("context_management"), "in a body": taken[1].get("extra_body")}


def callers() -> list[str]:
    made = chain()
    return [
        raised("gpt-4.1", "Go."),
        raised("gpt-4.1", 7),
        raised("gpt-4.1", chain=7),
        raised("gpt-4.1", session=7),
        raised("gpt-4.1", session=made.session(), chain=chain()),
    ]


def unhindered() -> dict[str, Any]:
    """An answer that cannot be taken in is the host's all the same, and is asked for once."""
    session = chain().session()
    session.record = lambda _: 1 / 0  # type: ignore[method-assign]
    with ModelServer(["One.", failure(500)]) as server, warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        where = {"api_base": server.base_url("openai"), "session": session, "fallbacks": ["openai/gpt-4o"]}
        answer = elision.completion("openai/gpt-4.1", [{"role": "user", "content": "Go."}], **where, **QUIET)
        mine = [str(each.message) for each in told if issubclass(each.category, elision.ElisionWarning)]
        return {"said": answer.choices[0].message.content, "requests": len(server.requests), "told": mine}


def main() -> None:
    scenarios: list[Callable[[], Any]] = [streams, bodies, retries, keys, calls, owners, callers, unhindered]
    print(json.dumps({scenario.__name__: scenario() for scenario in scenarios}, default=str))


if __name__ == "__main__":
    main()
