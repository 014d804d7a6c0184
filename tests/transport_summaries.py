"""Models that are asked for summaries beside the requests of a run: what they cost, and how they are reached.

Run as a script; it prints one JSON object: what each scenario below saw.
"""

from __future__ import annotations

import json
import os
import tempfile
import threading
import warnings
from collections import Counter
from pathlib import Path
from typing import Any

from transport_calls import TOOLS, at, stored

import elision
from elision import Session
from elision.testing import Asked, ModelServer, call, reply, thinking
from elision.testing.server.answering import Answer

WRITER, AGENT = "openai/gpt-4.1-mini", "openai/gpt-4.1"
STEPS = 8
WRITES = "Below is a part of"
PROBES = "Below are a summary"


class Noting(ModelServer):
    """A server that notes the keys that come with requests."""

    def __init__(self, *said: Any, **options: Any) -> None:
        super().__init__(*said, **options)
        self.keys: list[str] = []

    def answer(self, path: str, headers: dict[str, str], raw: bytes | None) -> Any:
        self.keys.append(headers.get("x-api-key") or headers.get("authorization", ""))
        return super().answer(path, headers, raw)


def model(asked: Asked) -> Any:
    """Answer as the agent's model, as the one that writes summaries, and as the one that says what they lack."""
    if asked.user.startswith(PROBES):
        return "1"
    if not asked.tools:
        return "Done: some files were read." if "empty" not in asked.model else reply()
    return reply(
        thinking(f"I look {asked.number}."), "I must not use port 8431.", call("read_file", path=f"{asked.number}")
    )


def chain(more: str = "", archive: str = "memory:", writer: str = WRITER) -> elision.Chain:
    options = f"trigger_steps: 5, keep_last_steps: 2, keep_first_steps: 0, summarizer: llm, model: {writer}{more}"
    return elision.loads(f"history_processors: [{{type: summarize, {options}}}]", archive=archive)


def begun() -> list[Any]:
    return [{"role": "system", "content": "You fix bugs. " * 400}, {"role": "user", "content": "Go."}]


def run(session: Session, server: ModelServer, messages: list[Any], steps: int = STEPS, **options: Any) -> list[Any]:
    """Go on with a run for so many steps."""
    shape = options.pop("shape", "openai")
    for _ in range(steps):
        answer = elision.completion(
            options.get("model", AGENT), messages, session=session, tools=TOOLS,
            **{**at(server, shape), **{name: value for name, value in options.items() if name != "model"}},
        )  # fmt: skip
        messages += stored(answer.choices[0].message)
    return messages


def bill(session: Session) -> dict[str, Any]:
    return {
        "purposes": Counter(each.purpose for each in session.usage),
        "tokens": [sum(each.input_tokens for each in session.usage), sum(each.output_tokens for each in session.usage)],
        "cost": sum(each.cost or 0 for each in session.usage),
    }


def billed(server: ModelServer) -> dict[str, Any]:
    used = server.usage
    return {
        "models": Counter(each.model for each in used),
        "tokens": [sum(each.input_tokens for each in used), sum(each.output_tokens for each in used)],
        "cost": server.cost(),
    }


def bills() -> dict[str, Any]:
    """Whole runs: what the session says that they cost, and what the provider says."""
    found = {}
    for name, more in {"waited for": "", "probed": ", probe: true", "in the background": ", background: true"}.items():
        with ModelServer(model) as server, chain(more).session() as session:
            messages = begun()
            for _ in range(STEPS):
                messages = run(session, server, messages, 1)
                for thread in threading.enumerate():
                    if thread.name == "elision-summary":
                        thread.join(60)
            found[name] = [bill(session), billed(server)]
    return found


def useless() -> dict[str, Any]:
    """A model that says nothing has been paid for all the same."""
    with ModelServer(model) as server, chain(writer="openai/empty").session() as session:
        run(session, server, begun())
        return {"bill": bill(session), "billed": billed(server)}


def sent_elsewhere() -> dict[str, Any]:
    """The host sends its requests itself; what Elision asks for is Elision's to tell."""
    with ModelServer(model) as server, chain().session() as other:
        messages = run(other, server, begun())
        more = f", model_kwargs: {{api_base: '{server.base_url('openai')}', api_key: none}}"
        with chain(more).session() as session:
            session.process(messages, model=AGENT)
            return bill(session)


def goes_on() -> dict[str, Any]:
    """Another process goes on with a run, and others begin as it did."""
    found: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as folder, ModelServer(model) as server:
        archive = str(Path(folder) / "archive")
        for name in ("", "run-7"):
            messages = begun()
            with chain(", probe: true", archive).session(name) as session:
                run(session, server, messages)
                before = bill(session)
            with chain(", probe: true", archive).session(name) as session:
                run(session, server, messages, 1)
                after = bill(session)
            with chain(", probe: true", archive).session("" if not name else "run-8") as session:
                run(session, server, begun(), 1)
                fresh = bill(session)
            found[name or "unnamed"] = {"before": before, "after": after, "fresh": fresh}
    return found


def ways() -> dict[str, Any]:
    """Where the request for a summary goes, and with what key."""
    found: dict[str, Any] = {}
    for name in ("OPENAI_API_BASE", "OPENAI_API_KEY", "ANTHROPIC_API_BASE", "ANTHROPIC_API_KEY", "SUMMARY_KEY"):
        os.environ.pop(name, None)
    other = "anthropic/claude-sonnet-4-5"
    with Noting(model) as agents, Noting(model) as writers:
        here, there = writers.base_url("openai"), writers.base_url("anthropic")
        cases: dict[str, Any] = {
            "as the call": ("", WRITER, {}),
            "its own address": (f", model_kwargs: {{api_base: '{here}', api_key: none}}", WRITER, {}),
            "its own key": (", model_kwargs: {api_key: os.environ/SUMMARY_KEY}", WRITER, {"SUMMARY_KEY": "s-2"}),
            "another provider": ("", other, {"ANTHROPIC_API_BASE": there, "ANTHROPIC_API_KEY": "a-3"}),
            "its own address, no key": (f", model_kwargs: {{api_base: '{here}'}}", WRITER, {"OPENAI_API_KEY": "o-4"}),
            "no such variable": (", model_kwargs: {api_key: os.environ/SUMMARY_KEY}", WRITER, {}),
        }
        for name, (more, writer, environ) in cases.items():
            os.environ.update(environ)
            before = len(agents.requests), len(writers.requests)
            with chain(more, writer=writer).session() as session:
                messages = run(session, agents, begun(), 6, api_key="k-1")
                failures = [each.error for each in session.process(messages, model=AGENT).failures]
            took = [
                [server.keys[place] for place, body in enumerate(server.requests) if place >= start and is_ours(body)]
                for server, start in zip((agents, writers), before, strict=True)
            ]
            found[name] = {"agents": took[0], "writers": took[1], "failures": failures}
            for variable in environ:
                del os.environ[variable]
    return found


class Refusing(Noting):
    """A server that quotes the key of whoever asks for a summary."""

    def answer(self, path: str, headers: dict[str, str], raw: bytes | None) -> Any:
        if raw and is_ours(json.loads(raw)):
            self.keys.append("refused")
            said = f"Incorrect API key provided: {headers.get('authorization', '').removeprefix('Bearer ')}"
            return Answer(401, {"error": {"message": said, "type": "invalid_request_error"}})
        return super().answer(path, headers, raw)


def quoted() -> dict[str, Any]:
    """A server quotes the key that it refuses."""
    key = "plain-key-of-mine"
    os.environ["SUMMARY_KEY"] = key
    more = ", model_kwargs: {api_key: os.environ/SUMMARY_KEY}"
    with tempfile.TemporaryDirectory() as folder, Refusing(model) as server:
        with chain(more, str(Path(folder) / "archive")).session() as session:
            messages = run(session, server, begun(), 6)
            failures = [each.error for each in session.process(messages, model=AGENT).failures]
        files = [path for path in Path(folder).rglob("*") if path.is_file() and key.encode() in path.read_bytes()]
        refused = server.keys.count("refused")
    leaks = [path.name for path in files] + [each for each in failures if key in each]
    return {"requests": refused, "failures": failures, "leaks": leaks}


def is_ours(body: dict[str, Any]) -> bool:
    return not body.get("tools")


def arguments() -> dict[str, Any]:
    """What else a chain says of how the model is asked."""
    more = ", model_kwargs: {temperature: 0.2, max_completion_tokens: 9000}"
    with ModelServer(model) as server, chain(more).session() as session:
        run(session, server, begun(), 6)
        sent = [body for body in server.requests if is_ours(body)]
    return {name: [body.get(name) for body in sent] for name in ("temperature", "max_completion_tokens", "max_tokens")}


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    scenarios = [bills, useless, sent_elsewhere, goes_on, ways, quoted, arguments]
    print(json.dumps({scenario.__name__: scenario() for scenario in scenarios}))
