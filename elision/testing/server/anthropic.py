"""Anthropic's messages: ``/v1/messages``."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar

from elision.profiles import Profile
from elision.testing.parts import CallPart, ThinkingPart
from elision.testing.server import anthropic_checks as checks
from elision.testing.server.content import cache_key, exactly, has_lone_surrogate, mapping, ttl_of, words_of
from elision.testing.server.incoming import Events, Incoming, Memory, Written, output_tokens, pieces, reasoning_tokens
from elision.testing.server.prefix_cache import Block
from elision.testing.server.refused import Body, Refusals, Refused, anthropic_error
from elision.testing.server.script import Asked, Reply, WireShape
from elision.testing.server.signatures import THINKING, Issued, Judged, blocks_of, bound, drops, judge
from elision.testing.server.usage import Usage, anthropic_usage
from elision.tokens import count_system, count_tools


class AnthropicShape:
    """The Messages API."""

    name: ClassVar[WireShape] = "anthropic"

    def refusals(self, incoming: Incoming, memory: Memory) -> Refusals:
        """Yield what is wrong with a request, the gravest first."""
        body, profile = incoming.body, incoming.profile
        if has_lone_surrogate(body):
            yield Refused("surrogates", "The request body is not valid JSON: no low surrogate in string")
            return
        yield from checks.structure(body)
        binds = profile.thinking.rule == "bound_to_prefix"
        always = binds and any(each in incoming.model for each in ("opus", "fable", "mythos"))
        yield from checks.parameters(body, incoming.headers, adaptive=binds, always=always)
        yield from checks.order(body, system_between=binds)
        yield from checks.blank_texts(body)
        yield from checks.pairing(body)
        yield from checks.breakpoints(body, profile.cache.breakpoints)
        fault = judge(body, memory.signatures, profile.thinking.rule).fault
        if fault is not None:
            yield fault

    def judged(self, incoming: Incoming, memory: Memory) -> Judged:
        """Say what became of its thinking."""
        return judge(incoming.body, memory.signatures, incoming.profile.thinking.rule)

    def blocks(self, incoming: Incoming, memory: Memory, judged: Judged) -> list[Block]:
        """Return tools, system and messages in the order of the cache."""
        body, model, default = incoming.body, incoming.model, incoming.profile.cache.ttl[0].seconds
        found = [
            Block(cache_key("tools", tool), count_tools([tool], model), ttl_of(tool, default))
            for tool in body.get("tools") or []
        ]
        found += [
            Block(cache_key("system", block), count_system([block], model), ttl_of(block, default))
            for block in blocks_of(body.get("system") or [])
        ]
        settings = _settings(body)
        for number, role, block in _standing(body, judged):
            key = cache_key(f"{settings if not number else ''}{role}", block)
            tokens = memory.tokens(key, {"role": role, "content": [block]}, "anthropic", model)
            found.append(Block(key, tokens, ttl_of(block, default)))
        if found and isinstance(body.get("cache_control"), Mapping) and found[-1].ttl is None:
            found[-1] = replace(found[-1], ttl=ttl_of(body, default))
        return found

    def asked(self, incoming: Incoming) -> Asked:
        """Return the request as a script sees it."""
        body = incoming.body
        last = max((place for place, each in enumerate(body["messages"]) if each["role"] == "assistant"), default=-1)
        since = [block for each in body["messages"][last + 1 :] for block in blocks_of(each["content"])]
        said = [words_of([block]) for block in _of_user(body["messages"]) if block["type"] == "text"]
        return Asked(
            shape=self.name,
            model=incoming.model,
            body=body,
            number=incoming.number,
            system=words_of(body.get("system")),
            user=said[-1] if said else "",
            results=tuple(words_of(block.get("content")) for block in since if block["type"] == "tool_result"),
            tools=tuple(str(tool.get("name")) for tool in body.get("tools") or []),
        )

    def write(self, incoming: Incoming, reply: Reply, memory: Memory, judged: Judged) -> Written:
        """Write an answer, and sign its thinking."""
        content = list(_content(reply, incoming, memory, judged))
        signatures = tuple(
            str(block.get("signature") or block["data"]) for block in content if block["type"] in THINKING
        )
        memory.signatures.of_call.update({str(call.id): signatures for call in reply.calls})
        stop = "max_tokens" if reply.truncated else "tool_use" if reply.calls else "end_turn"
        body = {
            "id": f"msg_{incoming.number}",
            "type": "message",
            "role": "assistant",
            "model": incoming.model,
            "content": content,
            "stop_reason": stop,
            "stop_sequence": None,
        }
        if drops(incoming.body) or judged.dropped:
            body["input_transformations"] = [
                {"type": "thinking_dropped", "reason": reason, "path": f"messages.{number}.content.{index}"}
                for (number, index), reason in judged.dropped.items()
            ]
        model = incoming.model
        return Written(body, output_tokens(reply, model), reasoning_tokens(reply, model))

    def with_usage(self, answer: dict[str, Any], usage: Usage, profile: Profile) -> dict[str, Any]:  # noqa: ARG002
        """Put the usage into an answer."""
        return {**answer, "usage": anthropic_usage(usage)}

    def events(self, answer: dict[str, Any], incoming: Incoming) -> Events:  # noqa: ARG002
        """Yield an answer as events."""
        usage = answer["usage"]
        begun = {**answer, "content": [], "stop_reason": None, "usage": {**usage, "output_tokens": 1}}
        yield "message_start", {"type": "message_start", "message": begun}
        yield "ping", {"type": "ping"}
        for index, block in enumerate(answer["content"]):
            empty, deltas = _streamed(block)
            yield _event("content_block_start", index=index, content_block=empty)
            for delta in deltas:
                yield _event("content_block_delta", index=index, delta=delta)
            yield _event("content_block_stop", index=index)
        ended = {"stop_reason": answer["stop_reason"], "stop_sequence": None}
        yield _event("message_delta", delta=ended, usage=usage)
        yield _event("message_stop")

    def error(self, refused: Refused, number: int) -> dict[str, Any]:
        """Return the body of an error."""
        return anthropic_error(refused, number)


def _standing(body: Body, judged: Judged) -> Iterator[tuple[int, str, Body]]:
    """Yield the blocks that the model sees, with their role and how many came before."""
    count = 0
    for number, message in enumerate(body["messages"]):
        for index, block in enumerate(blocks_of(message["content"])):
            if (number, index) not in judged.dropped:
                yield count, message["role"], block
                count += 1


def _settings(body: Body) -> str:
    """Return what the cache of messages depends on beside them: how the model thinks, and how it chooses tools."""
    thinking = {key: value for key, value in mapping(body.get("thinking")).items() if key != "block_binding"}
    return exactly([body.get("tool_choice"), thinking])


def _of_user(messages: Sequence[Body]) -> Iterator[Body]:
    for message in messages:
        if message["role"] == "user":
            yield from blocks_of(message["content"])


def _content(reply: Reply, incoming: Incoming, memory: Memory, judged: Judged) -> Iterator[dict[str, Any]]:
    prefix, before = judged.prefix, judged.standing
    omitted = _omits(incoming)
    for part in reply.parts:
        if isinstance(part, ThinkingPart):
            shown = replace(part, text="") if omitted else part
            signature = memory.signatures.sign(Issued(shown.text, incoming.model, prefix, before), part.signature)
            before = (*before, signature)
            yield _thought(shown, signature)
        else:
            block = _call(part) if isinstance(part, CallPart) else {"type": "text", "text": part}
            prefix = bound(prefix, block)
            yield block


def _omits(incoming: Incoming) -> bool:
    """Whether thinking comes without its text: newer models show it only when they are asked to."""
    shown = mapping(incoming.body.get("thinking")).get("display") == "summarized"
    return incoming.profile.thinking.rule == "bound_to_prefix" and not shown


def _thought(part: ThinkingPart, signature: str) -> dict[str, Any]:
    if part.redacted:
        return {"type": "redacted_thinking", "data": signature}
    return {"type": "thinking", "thinking": part.text, "signature": signature}


def _call(call: CallPart) -> dict[str, Any]:
    given = call.arguments
    if isinstance(given, str):
        try:
            given = json.loads(given)
        except ValueError:
            given = {"INVALID_JSON": given}
    arguments = dict(given) if isinstance(given, Mapping) else {"INVALID_JSON": given}
    return {"type": "tool_use", "id": call.id, "name": call.name, "input": arguments}


def _event(name: str, **fields: Any) -> tuple[str, dict[str, Any]]:
    return name, {"type": name, **fields}


def _streamed(block: Body) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Return how a block begins, and what is added to it."""
    match block["type"]:
        case "text":
            return {**block, "text": ""}, [{"type": "text_delta", "text": piece} for piece in pieces(block["text"])]
        case "thinking":
            deltas = [{"type": "thinking_delta", "thinking": piece} for piece in pieces(block["thinking"])]
            signed = {"type": "signature_delta", "signature": block["signature"]}
            return {**block, "thinking": "", "signature": ""}, [*deltas, signed]
        case "tool_use":
            written = pieces(json.dumps(block["input"], ensure_ascii=False))
            return {**block, "input": {}}, [{"type": "input_json_delta", "partial_json": piece} for piece in written]
        case _:
            return dict(block), []
