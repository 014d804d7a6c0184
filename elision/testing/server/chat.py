"""Chat completions: ``/v1/chat/completions``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

from elision.profiles import Profile
from elision.testing.parts import CallPart, arguments
from elision.testing.server import chat_checks as checks
from elision.testing.server.content import cache_key, exactly, has_lone_surrogate, request_ttl, ttl_of, words_of
from elision.testing.server.incoming import Events, Incoming, Memory, Written, output_tokens, pieces, reasoning_tokens
from elision.testing.server.prefix_cache import Block
from elision.testing.server.refused import Body, Refusals, Refused, openai_error
from elision.testing.server.script import Asked, Reply, WireShape
from elision.testing.server.signatures import Judged
from elision.testing.server.usage import Usage, chat_usage
from elision.tokens import count_tools

UNREADABLE = "We could not parse the JSON body of your request."


class ChatShape:
    """Chat completions."""

    name: ClassVar[WireShape] = "openai"

    def refusals(self, incoming: Incoming, memory: Memory) -> Refusals:  # noqa: ARG002
        """Yield what is wrong with a request, the gravest first."""
        body, profile = incoming.body, incoming.profile
        if has_lone_surrogate(body):
            yield Refused("surrogates", UNREADABLE)
            return
        yield from checks.structure(body, profile)
        yield from checks.pairing(body)
        yield from checks.reasoning(body, profile)
        yield from checks.breakpoints(body, profile)

    def judged(self, incoming: Incoming, memory: Memory) -> Judged:  # noqa: ARG002
        """Nothing is signed here."""
        return Judged()

    def blocks(self, incoming: Incoming, memory: Memory, judged: Judged) -> list[Block]:  # noqa: ARG002
        """Return tools and messages in the order of the cache."""
        body, model = incoming.body, incoming.model
        default = request_ttl(body, incoming.profile.cache.ttl[0].seconds)
        found = [
            Block(cache_key("tools", tool), count_tools([tool], model), ttl_of(tool, default))
            for tool in body.get("tools") or []
        ]
        for message in body["messages"]:
            pieces_of = list(_pieces(message))
            for index, piece in enumerate(pieces_of):
                whole = message.get("cache_control") if index == len(pieces_of) - 1 else None
                mark = ttl_of({"cache_control": whole}, default) if whole else ttl_of(piece, default)
                tokens = memory.tokens(exactly(piece), piece, "openai", model)
                found.append(Block(cache_key("", piece), tokens, mark))
        return found

    def asked(self, incoming: Incoming) -> Asked:
        """Return the request as a script sees it."""
        body = incoming.body
        messages = body["messages"]
        last = max((place for place, each in enumerate(messages) if each["role"] == "assistant"), default=-1)
        said = [words_of(each.get("content")) for each in messages if each["role"] == "user"]
        system = [words_of(each.get("content")) for each in messages if each["role"] in ("system", "developer")]
        return Asked(
            shape=self.name,
            model=incoming.model,
            body=body,
            number=incoming.number,
            system="\n".join(system),
            user=said[-1] if said else "",
            results=tuple(words_of(each.get("content")) for each in messages[last + 1 :] if each["role"] == "tool"),
            tools=tuple(str((tool.get("function") or tool).get("name")) for tool in body.get("tools") or []),
        )

    def write(self, incoming: Incoming, reply: Reply, memory: Memory, judged: Judged) -> Written:  # noqa: ARG002
        """Write an answer; OpenAI keeps its reasoning to itself."""
        message: dict[str, Any] = {"role": "assistant", "content": reply.text or (None if reply.calls else "")}
        if reply.thinking and incoming.profile.name != "openai":
            message["reasoning_content"] = "\n".join(part.text for part in reply.thinking)
        if reply.calls:
            message["tool_calls"] = [_call(call) for call in reply.calls]
        stop = "length" if reply.truncated else "tool_calls" if reply.calls else "stop"
        body = {
            "id": f"chatcmpl-{incoming.number}",
            "object": "chat.completion",
            "created": 0,
            "model": incoming.model,
            "choices": [{"index": 0, "message": message, "logprobs": None, "finish_reason": stop}],
        }
        return Written(body, output_tokens(reply, incoming.model), reasoning_tokens(reply, incoming.model))

    def with_usage(self, answer: dict[str, Any], usage: Usage, profile: Profile) -> dict[str, Any]:
        """Put the usage into an answer."""
        return {**answer, "usage": chat_usage(usage, profile)}

    def events(self, answer: dict[str, Any], incoming: Incoming) -> Events:
        """Yield an answer as chunks."""
        (choice,) = answer["choices"]
        head = {key: answer[key] for key in ("id", "created", "model")} | {"object": "chat.completion.chunk"}
        for delta in _deltas(choice["message"]):
            yield None, {**head, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]}
        yield None, {**head, "choices": [{"index": 0, "delta": {}, "finish_reason": choice["finish_reason"]}]}
        options = incoming.body.get("stream_options")
        if isinstance(options, Mapping) and options.get("include_usage"):
            yield None, {**head, "choices": [], "usage": answer["usage"]}
        yield None, "[DONE]"

    def error(self, refused: Refused, number: int) -> dict[str, Any]:  # noqa: ARG002
        """Return the body of an error."""
        return openai_error(refused)


def _pieces(message: Body) -> Iterator[dict[str, Any]]:
    """Yield a message as messages of one block each."""
    role, content = message["role"], message.get("content")
    beside = {key: message[key] for key in ("tool_call_id", "name") if key in message}
    if message.get("reasoning_content"):
        yield {"role": role, "content": None, "reasoning_content": message["reasoning_content"]}
    for part in content if isinstance(content, list) else [{"type": "text", "text": content}] if content else []:
        yield {"role": role, **beside, "content": [part]}
    for call in message.get("tool_calls") or ():
        yield {"role": role, "content": None, "tool_calls": [call]}


def _call(call: CallPart) -> dict[str, Any]:
    return {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": arguments(call)}}


def _deltas(message: Body) -> Iterator[dict[str, Any]]:
    yield {"role": "assistant", "content": ""}
    for piece in pieces(message.get("reasoning_content") or ""):
        yield {"reasoning_content": piece}
    for piece in pieces(message["content"] or ""):
        yield {"content": piece}
    for index, call in enumerate(message.get("tool_calls") or ()):
        function = call["function"]
        yield {"tool_calls": [{**call, "index": index, "function": {"name": function["name"], "arguments": ""}}]}
        for piece in pieces(function["arguments"]):
            yield {"tool_calls": [{"index": index, "function": {"arguments": piece}}]}
