"""Requests that are longer than the window, in the words of each provider."""

from __future__ import annotations

from collections.abc import Mapping

from elision.profiles import Profile
from elision.testing.server.refused import Refusals, Refused
from elision.testing.server.script import WireShape

CODE = "context_length_exceeded"

_CLAUDE = "prompt is too long: {tokens} tokens > {most} maximum"
_BEDROCK = "Input is too long for requested model."
_TOLD: Mapping[str, str] = {
    "anthropic": _CLAUDE,
    "bedrock": _CLAUDE,
    "deepseek": (
        "This model's maximum context length is {most} tokens. However, you requested {tokens} tokens "
        "({tokens} in the messages, 0 in the completion). Please reduce the length of the messages or completion."
    ),
    "gemini": "The input token count ({tokens}) exceeds the maximum number of tokens allowed ({most}).",
    "glm": "Prompt exceeds max length",
    "grok": "This model's maximum prompt length is {most} but the request contains {tokens} tokens.",
    "kimi": "Invalid request: Your request exceeded model token limit: {most} (requested: {tokens})",
    "minimax": "invalid params, context window exceeds limit (2013)",
    "qwen": "<400> InternalError.Algo.InvalidParameter: Range of input length should be [1, {most}]",
}
_OPENAI = (
    "This model's maximum context length is {most} tokens. However, your messages resulted in {tokens} tokens. "
    "Please reduce the length of the messages."
)
_OPENAI_REASONING = (
    "Input tokens exceed the configured limit of {most} tokens. Your messages resulted in {tokens} tokens. "
    "Please reduce the length of the messages."
)
_CODES = {"glm": "1261", "qwen": "invalid_parameter_error"}
_RESPONSES = "Your input exceeds the context window of this model. Please adjust your input and try again."


def too_long(shape: WireShape, profile: Profile, tokens: int) -> Refusals:
    """Refuse a request that does not fit."""
    most = profile.window.input_tokens
    if tokens <= most:
        return
    if shape == "responses":
        yield Refused("window", _RESPONSES, param="input", code=CODE)
    elif shape == "anthropic":
        told = _BEDROCK if profile.name == "bedrock" else _CLAUDE
        yield Refused("window", told.format(tokens=tokens, most=most))
    else:
        told = _TOLD.get(profile.name) or (_OPENAI if profile.thinking.rule == "none" else _OPENAI_REASONING)
        code = _CODES.get(profile.name, None if profile.name in _TOLD else CODE)
        yield Refused("window", told.format(tokens=tokens, most=most), param="messages", code=code)
