"""litellm, imported late, quiet and offline."""

from __future__ import annotations

import logging
import os
import warnings
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from elision.errors import ElisionError

KNOWN_BAD = frozenset({"1.82.7", "1.82.8", "1.107.0"})
"""Releases that carried somebody else's code (2026-03-24 and 2026-10-21)."""

_OFFLINE = ("LITELLM_LOCAL_MODEL_COST_MAP", "LITELLM_LOCAL_ANTHROPIC_BETA_HEADERS")
"""What keeps litellm from asking the network when it is imported, and at its first call."""
_LOGGERS = ("LiteLLM", "LiteLLM Router", "LiteLLM Proxy")


_NOISE = r"Items? '.*on TypedDict class '.*`ReadOnly` qualifier"
"""What pydantic says of classes of litellm, of some only when they are first needed."""


def litellm() -> Any:
    """Return litellm; a release that is known to be bad is not imported."""
    library = _imported()
    # Whoever restores the filters of warnings takes this one away.
    if not any(message is not None and message.pattern == _NOISE for _, message, *_ in warnings.filters):
        warnings.filterwarnings("ignore", message=_NOISE, category=UserWarning)
    return library


@cache
def _imported() -> Any:
    refuse_known_bad(_installed())
    for name in _OFFLINE:
        os.environ.setdefault(name, "True")
    with warnings.catch_warnings():
        # Its own, and those of pydantic about it: nothing that who sends a request could mend.
        warnings.simplefilter("ignore")
        import litellm as library

    library.suppress_debug_info = True
    for name in _LOGGERS:
        logger = logging.getLogger(name)
        if logger.level in {logging.NOTSET, logging.WARNING}:
            logger.setLevel(logging.ERROR)
    return library


def provider_of(model: str, named: str | None = None) -> str:
    """Return the provider of a model; ``named`` is what a call says of it."""
    if named:
        return str(named)
    try:
        return str(litellm().get_llm_provider(model)[1])
    except Exception:  # noqa: BLE001 (a model that it does not know)
        return model.partition("/")[0]


def refuse_known_bad(installed: str) -> None:
    """Raise for a release that must not run."""
    if installed in KNOWN_BAD:
        raise ElisionError(
            f"litellm: release {installed} carried code that steals credentials, and is not imported; install another "
            "one (pip install -U litellm), and replace the keys that this machine held"
        )


def _installed() -> str:
    try:
        return version("litellm")
    except PackageNotFoundError:
        raise ElisionError(
            "litellm: it is not installed, and requests are sent through it; pip install litellm"
        ) from None
