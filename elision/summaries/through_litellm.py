"""A model that is asked for a summary through litellm: how it is reached, what it says, and what that has used."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from elision.redaction import redact
from elision.summaries.asking import Answered, PromptTooLongError
from elision.summaries.writing import SummaryError

FROM_ENVIRONMENT = "os.environ/"
"""What litellm's own configuration files have before the name of a variable."""

_SECRET = re.compile(
    r"(?i)api[-_]?key|secret|passw(?:or)?d|passphrase|authorization|cookie|credential|token$|(?:^|[-_])(?:key|auth|pwd)$"
)
_HEADERS = ("extra_headers.", "headers.")
_SHORTEST_KEY = 6
_NO_KEY = frozenset({"", "none", "empty"})
_OWN_OPTIONS: Mapping[str, str] = {
    "model": "it is the option `model`",
    "messages": "it is what the prompt says",
    "stream": "the answer is awaited as a whole",
    "timeout": "it is the option `timeout_seconds`",
    "request_timeout": "it is the option `timeout_seconds`",
    "fallbacks": "a model that fails is left alone",
}
_LENGTHS = ("max_tokens", "max_completion_tokens")


@dataclass(frozen=True, slots=True)
class ThroughLitellm:
    """Asks a model, with the chain's own arguments, and else as the call reaches its model that it is asked for."""

    arguments: Mapping[str, Any] = field(default_factory=dict)

    def begin(self) -> None:
        """Import litellm, which takes longer than many an answer, and look for what the arguments name."""
        from elision.transport.library import litellm

        litellm()
        _with_values(self.arguments)

    def __call__(self, prompt: str, *, model: str, timeout_seconds: float, max_tokens: int) -> Answered:
        """Return the answer, and what it has used."""
        from elision.transport.library import litellm
        from elision.transport.overflow import overflow_of
        from elision.transport.reaching import ways_to
        from elision.transport.usage import usage_of

        library, own = litellm(), _with_values(self.arguments)
        length = {} if any(name in own for name in _LENGTHS) else {"max_tokens": max_tokens}
        ways = ways_to(model, own)
        try:
            response = library.completion(
                **{"num_retries": 0, "max_retries": 0, **length, **ways},
                model=model,
                messages=[{"role": "user", "content": prompt}],
                timeout=timeout_seconds,
            )
        except Exception as error:
            if overflow_of(error, library) is not None:
                raise PromptTooLongError(without_keys_of(ways, str(error))) from None
            if (told := without_keys_of(ways, str(error))) != str(error):
                raise SummaryError(f"{type(error).__name__}: {told}") from None
            raise
        return Answered(str(response.choices[0].message.content or ""), usage_of(response, model))


def without_keys_of(ways: Mapping[str, Any], told: str) -> str:
    """Return what an error says without the keys of a call: a server may quote the one that it refuses."""
    for name, value in _strings(ways, ""):
        last = name.rpartition(".")[2]
        if len(value) >= _SHORTEST_KEY and (_SECRET.search(last) or name.startswith(_HEADERS)):
            told = told.replace(value.strip(), "[removed: key]")
    return told


def problem_of_arguments(arguments: Mapping[str, Any]) -> str:
    """Say what is wrong with arguments that a chain gives; nothing where they are fine."""
    for name, why in _OWN_OPTIONS.items():
        if name in arguments:
            return f"{name}: {why}; remove it here"
    for name, value in _strings(arguments, ""):
        if value.startswith(FROM_ENVIRONMENT):
            if not value.removeprefix(FROM_ENVIRONMENT).isidentifier():
                return f"{name}: {value!r:.80} names no environment variable; write {FROM_ENVIRONMENT}NAME"
        elif value.lower() not in _NO_KEY and (
            _SECRET.search(name.rpartition(".")[2]) or redact(value, "secrets").removed
        ):
            # Without the value: it may be a key.
            return (
                f"{name}: a key does not belong in a chain; write {FROM_ENVIRONMENT}NAME for that of an environment "
                "variable, or none where the server wants none"
            )
    return ""


def _strings(value: Any, name: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, str):
        yield name, value
    elif isinstance(value, Mapping):
        for key, each in value.items():
            yield from _strings(each, f"{name}.{key}".lstrip("."))
    elif isinstance(value, list | tuple):
        for each in value:
            yield from _strings(each, name)


def _with_values(value: Any) -> Any:
    """Return arguments with the values of environment variables in place of their names."""
    if isinstance(value, Mapping):
        return {key: _with_values(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_with_values(each) for each in value]
    if not isinstance(value, str) or not value.startswith(FROM_ENVIRONMENT):
        return value
    name = value.removeprefix(FROM_ENVIRONMENT)
    if name not in os.environ:
        raise SummaryError(f"model_kwargs name the environment variable {name}, and there is none; set it")
    return os.environ[name]
