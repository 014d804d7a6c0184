"""OpenAI's Responses: ``/v1/responses``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import count
from typing import Any, ClassVar

from elision.profiles import Profile
from elision.testing.parts import CallPart, ThinkingPart, arguments
from elision.testing.server import responses_checks as checks
from elision.testing.server.chat import UNREADABLE
from elision.testing.server.content import cache_key, exactly, has_lone_surrogate, request_ttl, ttl_of, words_of
from elision.testing.server.incoming import Events, Incoming, Memory, Written, output_tokens, pieces, reasoning_tokens
from elision.testing.server.prefix_cache import Block
from elision.testing.server.refused import Body, Refusals, Refused, openai_error
from elision.testing.server.responses_checks import items_of, kind_of
from elision.testing.server.script import Asked, Reply, WireShape
from elision.testing.server.signatures import Issued, Judged
from elision.testing.server.usage import Usage, responses_usage
from elision.tokens import count_system, count_tools

_OWN = ("function_call", "reasoning", "custom_tool_call")


class ResponsesShape:
    """Responses."""

    name: ClassVar[WireShape] = "responses"

    def refusals(self, incoming: Incoming, memory: Memory) -> Refusals:
        """Yield what is wrong with a request, the gravest first."""
        body, profile = incoming.body, incoming.profile
        if has_lone_surrogate(body):
            yield Refused("surrogates", UNREADABLE)
            return
        yield from checks.structure(body, profile)
        yield from checks.pairing(body)
        yield from checks.reasoning(body, memory.reasoning, memory.reasoning_of)

    def judged(self, incoming: Incoming, memory: Memory) -> Judged:  # noqa: ARG002
        """Reasoning is bound to nothing here."""
        return Judged()

    def blocks(self, incoming: Incoming, memory: Memory, judged: Judged) -> list[Block]:  # noqa: ARG002
        """Return tools, instructions and input in the order of the cache."""
        body, model = incoming.body, incoming.model
        default = request_ttl(body, incoming.profile.cache.ttl[0].seconds)
        found = [Block(cache_key("tools", tool), count_tools([tool], model)) for tool in body.get("tools") or []]
        if body.get("instructions"):
            key = cache_key("system", {"text": body["instructions"]})
            found.append(Block(key, count_system(body["instructions"], model)))
        for item in items_of(body):
            for piece in _pieces(item):
                tokens = memory.tokens(exactly(piece), piece, "responses", model)
                found.append(Block(cache_key("", piece), tokens, ttl_of(piece, default)))
        return found

    def asked(self, incoming: Incoming) -> Asked:
        """Return the request as a script sees it."""
        body, items = incoming.body, items_of(incoming.body)
        own = (place for place, each in enumerate(items) if kind_of(each) in _OWN or each.get("role") == "assistant")
        since = items[max(own, default=-1) + 1 :]
        said = [words_of(each.get("content")) for each in items if each.get("role") == "user"]
        system = [words_of(each.get("content")) for each in items if each.get("role") in ("system", "developer")]
        return Asked(
            shape=self.name,
            model=incoming.model,
            body=body,
            number=incoming.number,
            system="\n".join([*([body["instructions"]] if body.get("instructions") else []), *system]),
            user=said[-1] if said else "",
            results=tuple(words_of(each.get("output")) for each in since if kind_of(each).endswith("_call_output")),
            tools=tuple(str(tool.get("name")) for tool in body.get("tools") or []),
        )

    def write(self, incoming: Incoming, reply: Reply, memory: Memory, judged: Judged) -> Written:  # noqa: ARG002
        """Write an answer; reasoning is sealed, and kept for the items behind it."""
        body = {
            "id": f"resp_{incoming.number}",
            "object": "response",
            "created_at": 0,
            "model": incoming.model,
            "status": "incomplete" if reply.truncated else "completed",
            "incomplete_details": {"reason": "max_output_tokens"} if reply.truncated else None,
            "error": None,
            "output": _output(incoming, reply, memory),
            "instructions": incoming.body.get("instructions"),
            "metadata": {},
            "parallel_tool_calls": True,
            "temperature": 1.0,
            "tool_choice": "auto",
            "tools": [],
            "top_p": 1.0,
        }
        return Written(body, output_tokens(reply, incoming.model), reasoning_tokens(reply, incoming.model))

    def with_usage(self, answer: dict[str, Any], usage: Usage, profile: Profile) -> dict[str, Any]:
        """Put the usage into an answer."""
        return {**answer, "usage": responses_usage(usage, profile)}

    def events(self, answer: dict[str, Any], incoming: Incoming) -> Events:  # noqa: ARG002
        """Yield an answer as events."""
        numbers = count()
        for name, fields in _events(answer):
            yield name, {"type": name, "sequence_number": next(numbers), **fields}

    def error(self, refused: Refused, number: int) -> dict[str, Any]:  # noqa: ARG002
        """Return the body of an error."""
        return openai_error(refused)


def _pieces(item: Body) -> Iterator[dict[str, Any]]:
    """Yield an item as items of one part each."""
    content = item.get("content")
    if kind_of(item) != "message" or not isinstance(content, str | list):
        yield {key: value for key, value in item.items() if key not in ("id", "status")}
        return
    kind = "output_text" if item["role"] == "assistant" else "input_text"
    for part in [{"type": kind, "text": content}] if isinstance(content, str) else content:
        known = {key: value for key, value in part.items() if key not in ("annotations", "logprobs")}
        yield {"type": "message", "role": item["role"], "content": [known]}


def _output(incoming: Incoming, reply: Reply, memory: Memory) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = []
    for index, part in enumerate(reply.parts):
        at = f"{incoming.number}_{index}"
        if isinstance(part, ThinkingPart):
            items.append(_reasoning(incoming, part, at, memory))
            continue
        item = _call(part, at) if isinstance(part, CallPart) else _message(part, at)
        if items and items[-1]["type"] == "reasoning":
            memory.reasoning_of[item["id"]] = items[-1]["id"]
        items.append(item)
    return items


def _reasoning(incoming: Incoming, part: ThinkingPart, at: str, memory: Memory) -> dict[str, Any]:
    item: dict[str, Any] = {"type": "reasoning", "id": f"rs_{at}", "summary": []}
    if not part.redacted:
        item["summary"] = [{"type": "summary_text", "text": part.text}]
    sealed = memory.signatures.sign(Issued(part.text, incoming.model, at, ()), part.signature)
    memory.reasoning[item["id"]] = sealed
    if "reasoning.encrypted_content" in (incoming.body.get("include") or ()):
        item["encrypted_content"] = sealed
    return item


def _call(call: CallPart, at: str) -> dict[str, Any]:
    told = {"call_id": call.id, "name": call.name, "arguments": arguments(call)}
    return {"type": "function_call", "id": f"fc_{at}", "status": "completed", **told}


def _message(text: str, at: str) -> dict[str, Any]:
    content = [{"type": "output_text", "text": text, "annotations": []}]
    return {"type": "message", "id": f"msg_{at}", "status": "completed", "role": "assistant", "content": content}


def _events(answer: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    begun = {**answer, "status": "in_progress", "output": [], "usage": None}
    yield "response.created", {"response": begun}
    yield "response.in_progress", {"response": begun}
    for index, item in enumerate(answer["output"]):
        at = {"output_index": index}
        inside = {**at, "item_id": item["id"]}
        yield "response.output_item.added", {**at, "item": {**item, **_EMPTY.get(item["type"], {})}}
        if item["type"] == "message":
            yield from _text_events(item["content"][0], {**inside, "content_index": 0})
        elif item["type"] == "function_call":
            for piece in pieces(item["arguments"]):
                yield "response.function_call_arguments.delta", {**inside, "delta": piece}
            ended = {"arguments": item["arguments"], "name": item["name"]}
            yield "response.function_call_arguments.done", {**inside, **ended}
        yield "response.output_item.done", {**at, "item": item}
    yield f"response.{answer['status']}", {"response": answer}


_EMPTY: Mapping[str, Mapping[str, Any]] = {
    "message": {"content": [], "status": "in_progress"},
    "function_call": {"arguments": "", "status": "in_progress"},
}


def _text_events(part: Mapping[str, Any], at: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    yield "response.content_part.added", {**at, "part": {**part, "text": ""}}
    for piece in pieces(part["text"]):
        yield "response.output_text.delta", {**at, "delta": piece, "logprobs": []}
    yield "response.output_text.done", {**at, "text": part["text"], "logprobs": []}
    yield "response.content_part.done", {**at, "part": part}
