"""The requests that one call comes to: a model after the other, and one smaller request where one is too long.

A generator of keyword arguments for litellm; whoever runs it, waiting or not, sends back the answer or the error.
"""

from __future__ import annotations

import warnings
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from elision.errors import ElisionError, InputError, OverBudgetError
from elision.own_values import own_profile
from elision.profiles import profile_for
from elision.registry import plugins
from elision.report import SentView
from elision.session import ElisionWarning, Session
from elision.tokens import count_beside, count_messages
from elision.transport.leaving import copied, leaving
from elision.transport.overflow import Overflow, overflow_of
from elision.transport.reaching import reached
from elision.transport.reasoning import note_reasoning, with_reasoning
from elision.transport.reported import note_overflow, note_usage, takes
from elision.transport.streaming import Stream
from elision.transport.usage import cost_of, usage_of

Attempts: TypeAlias = Generator[dict[str, Any], Any, Any]

_PROVIDERS = ("context_management", "truncation", "transforms")
"""What asks a provider to manage the context; not sent where the chain says that Elision does."""
_SEEN = (*_PROVIDERS, "thinking", "betas", "extra_headers", "extra_body", "previous_response_id", "conversation")
"""What the engine looks at beside messages, tools and model."""
_OF_TOOLS = frozenset({"tools", "tool_choice", "parallel_tool_calls"})
_LESS = 0.8
"""Share of a request that is sent again where the provider does not say how much is too much."""
_NEARLY = 0.95
"""Share of what the provider says that it takes."""


@dataclass(frozen=True, slots=True)
class Call:
    """What the host asks for: its messages, litellm's options, and models in the order in which they are tried."""

    messages: Sequence[Any]
    options: Mapping[str, Any]
    models: Sequence[Mapping[str, Any]]
    session: Session
    reduces: bool
    """Whether a chain is there that may take something out of a request that is too long."""


@dataclass(frozen=True, slots=True)
class _Prepared:
    """One request, ready to be sent."""

    call: Call
    model: str
    options: Mapping[str, Any]
    view: SentView
    counted: int | None = None
    """Its tokens as we count them, where a processor asks how long requests are."""

    @property
    def arguments(self) -> dict[str, Any]:
        """What litellm is given; all of it new objects."""
        profile = profile_for(self.model)
        view = self.view
        options = dict(self.options)
        if view.owner == "elision" and self.call.session.chain.owner == "elision":
            options = _without_management(options)
        if view.tools:
            options["tools"] = view.tools
        elif options.get("tools") is not None:
            # An empty list is refused by most, and so is what says how to choose from it.
            options = {key: value for key, value in options.items() if key not in _OF_TOOLS}
        options |= view.params
        if self.asks_for_usage:
            options["stream_options"] = {**(options.get("stream_options") or {}), "include_usage": True}
        return {key: copied(value) if isinstance(value, list | dict) else value for key, value in options.items()} | {
            "model": self.model,
            "messages": leaving(view.messages, view.dialect, profile),
        }

    @property
    def asks_for_usage(self) -> bool:
        """Whether a stream is asked for its usage here, because the host says nothing of it."""
        told = self.options.get("stream_options")
        told = {} if told is None else told
        return bool(self.options.get("stream")) and isinstance(told, Mapping) and "include_usage" not in told

    def tokens(self) -> int:
        """Return the tokens of what is sent, as we count them."""
        if self.counted is not None:
            return self.counted
        (found,) = count_messages([self.view.messages], self.view.dialect, self.model)
        return found + count_beside(None, self.view.tools, self.model)


def _without_management(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return options, and what ``extra_body`` adds to the body, without what asks a provider to manage the context."""
    left = {key: value for key, value in options.items() if key not in _PROVIDERS}
    body = left.get("extra_body")
    if isinstance(body, Mapping):
        left["extra_body"] = {key: value for key, value in body.items() if key not in _PROVIDERS}
    return left


def attempts(call: Call, library: Any) -> Attempts:
    """Yield the requests, and return the answer to the last one."""
    with_own = call.session.chain.own_profile
    failed: Exception | None = None
    for overrides in call.models:
        options = {**call.options, **overrides}
        model = str(options.pop("model"))
        try:
            with own_profile(with_own):
                prepared = _as_told(_prepared(call, model, options))
            return (yield from _sent(prepared, library))
        except ElisionError as error:
            if not isinstance(error, OverBudgetError):
                raise
            failed = error
        except Exception as error:  # noqa: BLE001 (a provider may fail in any way; the next model is asked)
            failed = error
    raise failed or InputError("completion: no model is named; give model=...")


def _prepared(call: Call, model: str, options: Mapping[str, Any]) -> _Prepared:
    session = call.session
    given = with_reasoning(session, call.messages, profile_for(model))
    beside = {key: options[key] for key in _SEEN if options.get(key) is not None}
    with reached(model, options):
        view = session.process({"messages": given, "tools": options.get("tools"), "model": model, **beside})
    weighed = view.live and any(processor.weighs for processor in session.chain.processors)
    return _Prepared(call, model, options, view, session.size.tokens if weighed and session.size else None)


def _sent(prepared: _Prepared, library: Any) -> Attempts:
    """Yield a request, and where it is too long one that is strictly smaller; return the answer."""
    try:
        answer = yield from _tried(prepared, library)
    except Exception as error:
        overflow = overflow_of(error, library)
        if overflow is None or not (prepared.call.reduces and prepared.view.live):
            raise
        with own_profile(prepared.call.session.chain.own_profile):
            prepared = _smaller(prepared, overflow, error)
        try:
            answer = yield from _tried(prepared, library)
        except Exception as again:
            if overflow_of(again, library) is None:
                raise
            raise OverBudgetError(_told(prepared, again, "though it had been reduced")) from again
    return _taken(prepared, answer, library)


def _tried(prepared: _Prepared, library: Any) -> Attempts:
    """Yield a request, and again as often as ``num_retries`` says; one that is too long is so the next time, too."""
    retries = prepared.options.get("num_retries")
    if not isinstance(retries, int) or retries < 1:
        return (yield prepared.arguments)
    try:
        return (yield {**prepared.arguments, "num_retries": 0})
    except Exception as error:
        if overflow_of(error, library) is not None:
            raise
    return (yield {**prepared.arguments, "num_retries": retries - 1})


def _smaller(prepared: _Prepared, overflow: Overflow, error: Exception) -> _Prepared:
    """Return a request with less in it, as the budget processor makes it; no model is asked."""
    session, before = prepared.call.session, prepared.tokens()
    if prepared.view.owner == "provider":
        raise OverBudgetError(_told(prepared, error, "and the chain leaves its context to the provider")) from error
    sent, most = overflow
    share = _NEARLY * most / sent if sent and 0 < most < sent else _LESS
    limit = min(int(before * share), int(most * _NEARLY)) if most and not sent else int(before * share)
    note_overflow(session, prepared.model, before, sent, limit if 0 < most < sent else 0)
    try:
        made = _reduced(prepared, limit)
    except OverBudgetError as why:
        raise OverBudgetError(_told(prepared, error, f"and it cannot be shorter: {why}")) from error
    if made.tokens() >= before:
        raise OverBudgetError(_told(prepared, error, "and nothing more can be taken out of it")) from error
    return made


def _as_told(prepared: _Prepared) -> _Prepared:
    """Return a request that is no longer than its model has said before; the same where that cannot be."""
    most = takes.get(prepared.call.session, {}).get(prepared.model)
    if most is None or prepared.view.owner == "provider" or not prepared.view.live or prepared.tokens() <= most:
        return prepared
    try:
        return _reduced(prepared, most)
    except OverBudgetError:
        return prepared


def _reduced(prepared: _Prepared, limit: int) -> _Prepared:
    session, view = prepared.call.session, prepared.view
    budget = plugins().processors()["budget"]
    chain = replace(
        session.chain,
        processors=[budget.model_validate({"max_tokens": max(1, limit), "margin_share": 0})],
        tests=(),
        mode="live",
        share=None,
        on_error="raise",
    )
    with chain.session(session.id) as emergency:
        emergency.sets_params = True
        request = {**view.params, "messages": view.messages, "tools": view.tools, "model": prepared.model}
        smaller = emergency.process(request, dialect=view.dialect)
    made = replace(prepared, view=replace(smaller, params={**view.params, **smaller.params}), counted=None)
    return replace(made, counted=made.tokens())


def _told(prepared: _Prepared, error: Exception, what: str) -> str:
    return (
        f"completion: {prepared.model} refuses a request of {prepared.tokens():,} tokens (as we count them) as too "
        f"long, {what}; it says: {str(error)[:300]}; have the chain clear more and earlier, or name a model with a "
        "larger window in fallbacks=[...]"
    )


def _taken(prepared: _Prepared, answer: Any, library: Any) -> Any:
    """Take in what an answer says of its request; of a stream when it has ended."""

    def ended(chunks: list[Any]) -> None:
        with _unhindered(prepared):
            whole = library.stream_chunk_builder(chunks)
            told = [each for each in chunks if getattr(each, "usage", None)] if answer.reported else []
            if whole is not None:
                _note(prepared, whole, told[-1] if told else None)

    if isinstance(answer, Stream):
        answer.done, answer.hides_usage = ended, prepared.asks_for_usage
    else:
        with _unhindered(prepared):
            _note(prepared, answer, answer)
    return answer


@contextmanager
def _unhindered(prepared: _Prepared) -> Iterator[None]:
    """Warn where an answer cannot be taken in: it has been paid for, and the host gets it all the same."""
    try:
        yield
    except Exception as error:  # noqa: BLE001 (whatever it is)
        told = f"completion: what an answer of {prepared.model} says of itself could not be taken in ({error!r:.200})"
        warnings.warn(told, ElisionWarning, stacklevel=5)


def _note(prepared: _Prepared, answer: Any, reporting: Any) -> None:
    """Take in an answer, and what it used; of a stream one piece reports that."""
    session = prepared.call.session
    session.record(answer)
    choices = getattr(answer, "choices", None) or ()
    if choices and (message := getattr(choices[0], "message", None)) is not None:
        note_reasoning(session, prepared.call.messages, message, prepared.model)
    usage = usage_of(reporting, prepared.model) if reporting is not None else None
    if usage is not None:
        note_usage(session, replace(usage, cost=cost_of(answer)), prepared.counted)
