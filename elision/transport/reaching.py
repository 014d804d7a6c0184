"""How the model of a call is reached: its address and keys, for what is asked of the same provider beside the call."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, NamedTuple

from elision.transport.library import provider_of

_ADDRESSES = ("api_base", "base_url")
_WAYS = frozenset(
    {
        *_ADDRESSES,
        "api_key",
        "api_version",
        "custom_llm_provider",
        "deployment_id",
        "extra_headers",
        "headers",
        "organization",
        "project",
        "region_name",
        "ssl_verify",
    }
)
_BEGINNINGS = ("aws_", "azure_", "vertex_", "watsonx_")
_ENDS_OF_ADDRESSES = ("_endpoint", "_url", "_base", "_host")
_HEADERS = ("extra_headers", "headers")
_KEY_IN_HEADER = re.compile(r"(?i)auth|key|token|secret|cookie|credential")


class _Reached(NamedTuple):
    model: str
    ways: Mapping[str, Any]


_IN_CALL: ContextVar[_Reached | None] = ContextVar("elision_reached", default=None)


def addresses_of(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return what options say of where a model is, by name."""
    return {
        name: value
        for name, value in options.items()
        if value and (name in _ADDRESSES or name.endswith(_ENDS_OF_ADDRESSES))
    }


def without_keys(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return what takes the keys out of options that are for another provider, or another address."""
    headers = {name: options[name] for name in _HEADERS if isinstance(options.get(name), Mapping)}
    return {"api_key": None} | {
        name: {key: value for key, value in given.items() if not _KEY_IN_HEADER.search(str(key))}
        for name, given in headers.items()
    }


@contextmanager
def reached(model: str, options: Mapping[str, Any]) -> Iterator[None]:
    """Have others of the same provider be reached as the model of a call is, as long as it lasts."""
    ways = {name: value for name, value in options.items() if name in _WAYS or name.startswith(_BEGINNINGS)}
    token = _IN_CALL.set(_Reached(model, ways))
    try:
        yield
    finally:
        _IN_CALL.reset(token)


def ways_to(model: str, own: Mapping[str, Any]) -> dict[str, Any]:
    """Return how a model is reached: by what is its own, else as the call does that it is asked for.

    A key goes to the provider that it is for, so nothing of the call is taken where the model has an address of its
    own, or is of another provider.
    """
    call = _IN_CALL.get()
    if call is None or addresses_of(own):
        return dict(own)
    provider = own.get("custom_llm_provider")
    if provider_of(model, provider) != provider_of(call.model, call.ways.get("custom_llm_provider")):
        return dict(own)
    return {**call.ways, **own}
