"""``completion`` and ``acompletion``: litellm's, with a chain."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any

from elision.chain import Chain
from elision.errors import InputError
from elision.session import Session
from elision.transport.attempts import Attempts, Call, attempts
from elision.transport.library import litellm, provider_of
from elision.transport.reaching import addresses_of, without_keys
from elision.transport.reported import note_reports
from elision.transport.streaming import Stream

_NOTHING: Exception | None = None

_OURS = ("chain", "session", "fallbacks")
_NEAR = 0.8
"""Least ratio of ``difflib`` at which an option that litellm would pass on is a slip for one of ours."""


def completion(
    model: str,
    messages: Sequence[Any] = (),
    *,
    chain: Chain | str | Path | None = None,
    session: Session | None = None,
    **options: Any,
) -> Any:
    """Send a request as ``litellm.completion`` does, reduced by a chain; returns litellm's response.

    ``chain`` is a chain, or what :func:`elision.load` takes; ``session`` is that of a run, which looks at each message
    once, and collects ``session.usage``.  ``fallbacks`` are further models, for each of which the chain decides anew.
    A request that the provider refuses as too long is sent once more, reduced without any model, and is an
    :class:`OverBudgetError` then.  The messages that are given are never changed.
    """
    library = litellm()
    running = attempts(_call(model, messages, chain, session, options), library)
    arguments, error = next(running), _NOTHING
    while True:
        try:
            answer = library.completion(**arguments)
            answer = Stream(answer).begun() if _streams(arguments, answer, "__next__") else answer
        except Exception as raised:  # noqa: BLE001 (what comes of it is for the attempts to say)
            error = raised
        try:
            arguments = running.throw(error) if error is not None else running.send(answer)
        except StopIteration as ended:
            return ended.value
        error = _NOTHING


async def acompletion(
    model: str,
    messages: Sequence[Any] = (),
    *,
    chain: Chain | str | Path | None = None,
    session: Session | None = None,
    **options: Any,
) -> Any:
    """Send a request as ``litellm.acompletion`` does; all else is as with :func:`completion`."""
    library = litellm()
    running: Attempts = attempts(_call(model, messages, chain, session, options), library)
    arguments, error = next(running), _NOTHING
    while True:
        try:
            answer = await library.acompletion(**arguments)
            answer = await Stream(answer).has_begun() if _streams(arguments, answer, "__anext__") else answer
        except Exception as raised:  # noqa: BLE001 (what comes of it is for the attempts to say)
            error = raised
        try:
            arguments = running.throw(error) if error is not None else running.send(answer)
        except StopIteration as ended:
            return ended.value
        error = _NOTHING


def _call(
    model: str,
    messages: Sequence[Any],
    chain: Chain | str | Path | None,
    session: Session | None,
    options: dict[str, Any],
) -> Call:
    if options.get("context_window_fallback_dict"):
        raise InputError(
            "completion: context_window_fallback_dict would send to another model what was reduced for this one; name "
            "the models in fallbacks=[...]"
        )
    for name in options:
        _refuse_slip(name)
    if not isinstance(messages, Iterable) or isinstance(messages, str | bytes | Mapping):
        raise InputError(f"completion: messages is of type {type(messages).__name__}; give a list of messages")
    if session is not None and not isinstance(session, Session):
        raise InputError(f"completion: session is {session!r:.80}; give one that chain.session() returns")
    if session is not None and chain is not None and chain is not session.chain:
        raise InputError("completion: session has a chain of its own; give one of the two")
    given = {key: value for key, value in options.items() if key != "fallbacks"}
    models = [{"model": model}, *_fallbacks(options.get("fallbacks"), model, given)]
    running = session or Session(_chain(chain), lives=False)
    running.sets_params = True
    running.decided = note_reports
    return Call(list(messages), given, models, running, reduces=session is not None or chain is not None)


def _refuse_slip(name: str) -> None:
    """Refuse an option that is one of ours but for a letter or two: the whole history would go out with it."""
    for ours in _OURS:
        alike = abs(len(name) - len(ours)) <= 1 and SequenceMatcher(None, name.lower(), ours).ratio() >= _NEAR
        if alike and name not in _OURS:
            raise InputError(f"completion: there is no option {name!r}; did you mean {ours!r}? correct it")


def _fallbacks(fallbacks: Any, model: str, options: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Yield further models with what they change in the options; a key goes to the provider that it is for."""
    if isinstance(fallbacks, str | Mapping):
        raise InputError(f"completion: fallbacks is one {type(fallbacks).__name__}; give a list: fallbacks=[...]")
    for fallback in fallbacks or ():
        found = {"model": fallback} if isinstance(fallback, str) else fallback
        if not (isinstance(found, Mapping) and isinstance(found.get("model"), str)):
            # Without values: one of them may be a key.
            said = f"a mapping of {', '.join(map(repr, fallback))}" if isinstance(fallback, Mapping) else repr(fallback)
            raise InputError(
                f"completion: fallbacks: {said:.80} names no model; give a name, or a mapping with `model`"
            )
        own, shared = addresses_of(found), addresses_of(options)
        elsewhere = any(value != shared.get(name) for name, value in own.items())
        foreign = not (own or shared) and provider_of(found["model"]) != provider_of(model)
        yield {**without_keys(options), **found} if foreign or elsewhere else found


def _streams(arguments: Mapping[str, Any], answer: Any, step: str) -> bool:
    return bool(arguments.get("stream")) and hasattr(answer, step)


def _chain(chain: Chain | str | Path | None) -> Chain:
    if isinstance(chain, Chain):
        return chain
    if chain is None:
        # Nothing is taken out here, so a request may ask its provider to.
        return Chain((), archive="none", classification=None, owner="provider")
    if not isinstance(chain, str | Path):
        raise InputError(f"completion: chain is {chain!r:.80}; give a chain, the path of one, or a shipped name")
    from elision.config import load

    return load(chain)
