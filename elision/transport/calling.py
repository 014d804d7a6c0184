"""``completion`` and ``acompletion``: litellm's, with a chain."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from elision.chain import Chain
from elision.errors import InputError
from elision.session import Session
from elision.transport.attempts import Attempts, Call, attempts
from elision.transport.library import litellm

_NOTHING: Exception | None = None


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
    given = {key: value for key, value in options.items() if key != "fallbacks"}
    models = [{"model": model}, *map(_model, options.get("fallbacks") or ())]
    if session is not None and chain is not None and chain is not session.chain:
        raise InputError("completion: session has a chain of its own; give one of the two")
    running = session or _chain(chain).session()
    running.sets_params = True
    return Call(messages, given, models, running, reduces=session is not None or chain is not None)


def _model(fallback: Any) -> Mapping[str, Any]:
    if isinstance(fallback, str):
        return {"model": fallback}
    if isinstance(fallback, Mapping) and isinstance(fallback.get("model"), str):
        return fallback
    raise InputError(f"completion: fallbacks: {fallback!r:.80} names no model; give a name, or a mapping with `model`")


def _chain(chain: Chain | str | Path | None) -> Chain:
    if isinstance(chain, Chain):
        return chain
    if chain is None:
        return Chain((), archive="none", classification=None)
    from elision.config import load

    return load(chain)
