"""The model behind the server: it checks a request, says what the script says, and counts what that used."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from elision.own_values import OwnProfile, own_profile
from elision.profiles import profile_for
from elision.testing.server.anthropic import AnthropicShape
from elision.testing.server.chat import UNREADABLE, ChatShape
from elision.testing.server.content import mapping, request_ttl
from elision.testing.server.incoming import Incoming, Memory, Shape
from elision.testing.server.prefix_cache import Block, PrefixCache
from elision.testing.server.refused import Refused
from elision.testing.server.responses import ResponsesShape
from elision.testing.server.script import Failure, Prompter, Reply, Script
from elision.testing.server.usage import Usage, used
from elision.testing.server.window import too_long

SHAPES: Mapping[str, Shape] = {
    "/v1/chat/completions": ChatShape(),
    "/v1/messages": AnthropicShape(),
    "/v1/responses": ResponsesShape(),
}
"""Which protocol is spoken under which path."""


@dataclass(frozen=True, slots=True)
class Invalid:
    """A request that was refused: which one it was, the rule that it broke, and what it was told.

    ``request`` is its index in ``server.requests``; -1 where it was not even JSON.
    """

    request: int
    rule: str
    message: str
    status: int


@dataclass(frozen=True, slots=True)
class Answer:
    """What goes back: a body, or events where the request asked for them; status 0 closes the connection."""

    status: int
    body: dict[str, Any]
    events: tuple[tuple[str | None, Any], ...] | None = None
    delay_seconds: float = 0.0
    retry_after: int | None = None


class Answering:
    """One model, and all that it remembers; requests come one at a time."""

    def __init__(self, script: Script, own: OwnProfile | None, clock: Callable[[], float]) -> None:
        self.requests: list[dict[str, Any]] = []
        self.usage: list[Usage] = []
        self.invalid: list[Invalid] = []
        self._own = own
        self._prompter = Prompter(script)
        self._cache = PrefixCache(clock)
        self._memory = Memory()
        self._valid = 0

    def answer(self, path: str, headers: Mapping[str, str], raw: bytes) -> Answer:
        """Answer a request."""
        with own_profile(self._own):
            try:
                return self._answer(path, headers, raw)
            except RecursionError:
                return self.refuse(SHAPES[path], Refused("json", "The request body is nested too deeply"))

    def _answer(self, path: str, headers: Mapping[str, str], raw: bytes) -> Answer:
        shape = SHAPES.get(path)
        if shape is None:
            return self.refuse(SHAPES["/v1/messages"], Refused("path", f"Not Found: {path}", 404), known=False)
        body = _parsed(raw)
        if body is None:
            told = "The request body is not valid JSON" if shape.name == "anthropic" else UNREADABLE
            return self.refuse(shape, Refused("json", told), known=False)
        self.requests.append(body)
        model = body.get("model")
        profile = profile_for(model if isinstance(model, str) else None)
        incoming = Incoming(body, headers, profile, self._valid)
        refused = next(shape.refusals(incoming, self._memory), None)
        return self.refuse(shape, refused) if refused is not None else self._served(shape, incoming)

    def refuse(self, shape: Shape, refused: Refused, *, known: bool = True) -> Answer:
        """Refuse a request, and note it."""
        number = len(self.requests) - 1 if known else -1
        self.invalid.append(Invalid(number, refused.rule, refused.message, refused.status))
        return _refusal(shape, refused, number)

    def _served(self, shape: Shape, incoming: Incoming) -> Answer:
        judged = shape.judged(incoming, self._memory)
        blocks = shape.blocks(incoming, self._memory, judged)
        total = sum(block.tokens for block in blocks)
        overlong = next(too_long(shape.name, incoming.profile, total), None)
        if overlong is not None and incoming.body.get("truncation") != "auto":
            return self.refuse(shape, overlong)
        try:
            said = self._prompter.next(shape.asked(incoming))
        except Exception as error:  # noqa: BLE001 (a script is the user's, and the user is told)
            return self.refuse(shape, Refused("script", f"{type(error).__name__}: {error}"))
        self._valid += 1
        if isinstance(said, Failure):
            told = said.message or f"scripted failure {said.status}"
            answer = _refusal(shape, Refused("scripted", told, said.status, retry_after=said.retry_after), self._valid)
            return Answer(answer.status, answer.body, None, said.delay_seconds, said.retry_after)
        written = shape.write(incoming, said, self._memory, judged)
        usage = self._used(incoming, blocks, total, written.output_tokens, written.reasoning_tokens)
        return _whole(shape, incoming, said, shape.with_usage(written.body, usage, incoming.profile))

    def _used(self, incoming: Incoming, blocks: list[Block], total: int, output: int, reasoning: int) -> Usage:
        scope = f"{incoming.model}\n{incoming.body.get('prompt_cache_key')}"
        rules = incoming.profile.cache
        explicit = mapping(incoming.body.get("prompt_cache_options")).get("mode") == "explicit"
        implicit = None if explicit else request_ttl(incoming.body, rules.ttl[0].seconds)
        found = self._cache.ask(scope, blocks, rules, implicit=implicit)
        usage = used(incoming.model, total, found, output, reasoning)
        self.usage.append(usage)
        return usage


def _parsed(raw: bytes) -> dict[str, Any] | None:
    try:
        body = json.loads(raw)
    except (ValueError, RecursionError):
        return None
    return body if isinstance(body, dict) else None


def _refusal(shape: Shape, refused: Refused, number: int) -> Answer:
    return Answer(refused.status, shape.error(refused, number), retry_after=refused.retry_after)


def _whole(shape: Shape, incoming: Incoming, reply: Reply, body: dict[str, Any]) -> Answer:
    events = tuple(shape.events(body, incoming)) if incoming.streams else None
    return Answer(200, body, events, reply.delay_seconds)
