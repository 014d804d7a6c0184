"""Requests that a provider refuses as too long: recognised in everybody's words, and with what they say of sizes."""

from __future__ import annotations

import re
from typing import Any, NamedTuple


class Overflow(NamedTuple):
    """What a provider says of a request that is too long: its tokens, and how many it may have; 0 where it does not."""

    sent: int = 0
    most: int = 0


_STATUSES = frozenset({400, 422, 500, None})
"""Statuses with which it is said; 429 is about tokens in a minute, and says it only of a request over all of those."""

_TOO_LARGE, _RATE_LIMIT = 413, 429
_ALONE_TOO_LARGE = re.compile("request too large for", re.IGNORECASE)
_LONGEST = 4000
"""Characters that are looked at: behind them an error repeats what it was given."""

_TOLD = re.compile(
    "|".join(
        (
            "prompt is too long",
            "prompt exceeds max",
            "prompt too long",
            "input is too long",
            "input too long",
            "request_too_large",
            "request (body|entity) too large",
            "request too large for",
            "(payload|413 content) too large",
            "request exceeds the maximum (size|allowed number of bytes)",
            "context[ _]length[ _]exceeded",
            "maximum context (length|limit|window)",
            "maximum prompt length",
            "maximum input length",
            "maximum model length",
            "max(imum)? (input )?tokens? (length|limit|allowed)",
            "exceed(s|ed)? (the |your )?(maximum |model'?s? |available |model )*(context|token limit|token count)",
            "exceeds? (the )?maximum number of (input )?tokens",
            "exceeded model token limit",
            "context window (limit |size )?exceed",
            "input tokens exceed",
            "longer than the (model'?s?|maximum)",
            "range of input length should be",
            "reduce the length of the (messages|prompt|input)",
            "too large for model",
            "token count (of|is) [\\d,]+ (exceeds|but model only supports)",
            "`inputs` must have less than \\d+ tokens",
            "greater than the context length",
            "context length of only",
            "too many (input )?tokens",
            "tokens? \\+ .?max_new_tokens",
            "current length is \\d+ while limit is",
        )
    ),
    re.IGNORECASE,
)

_DIGITS = r"\d[\d,_]*"
_SENT, _MOST, _ANSWER = (rf"(?P<{name}>{_DIGITS})" for name in ("sent", "most", "answer"))
_SIZES = tuple(
    re.compile(pattern, re.IGNORECASE | re.DOTALL)
    for pattern in (
        rf"{_SENT} tokens? > {_MOST}",
        rf"{_SENT} \+ {_ANSWER} > {_MOST}",
        rf"maximum context length is {_MOST} tokens?.{{0,60}}?\({_SENT} in the messages, {_ANSWER} in",
        rf"maximum context length is {_MOST} tokens?.{{0,60}}?(requested|resulted in|has|contains) {_SENT} tokens?",
        rf"limit of {_MOST} tokens?.{{0,60}}?resulted in {_SENT} tokens?",
        rf"token count \({_SENT}\) exceeds.{{0,80}}?\({_MOST}\)",
        rf"maximum prompt length is {_MOST}.{{0,60}}?contains {_SENT} tokens?",
        rf"token limit: {_MOST} \(requested: {_SENT}\)",
        rf"limit:? {_MOST},? requested:? {_SENT}",
        rf"token count (?:of|is) {_SENT} (?:exceeds|but model only supports).{{0,40}}? {_MOST}",
        rf"less than {_MOST} tokens\. given: {_SENT}",
        rf"\({_SENT} tokens?\) exceeds the available context size \({_MOST} tokens?\)",
        rf"current length is {_SENT} while limit is {_MOST}",
        rf"range of input length should be \[\d+, {_MOST}\]",
        rf"maximum (context|input|model) length (is|of) {_MOST}",
    )
)


def overflow_of(error: BaseException, library: Any) -> Overflow | None:
    """Return what an error says of a request that is too long; ``None`` where it is about something else."""
    told = _words(error)
    if not isinstance(error, library.ContextWindowExceededError) and not _is_told(error, told):
        return None
    return sizes_in(told)


def _words(error: BaseException) -> str:
    """Return what an error says, and the body of the response, which litellm leaves out where its form is unusual."""
    told, body = str(error), getattr(error, "body", None)
    return f"{told[:_LONGEST]} {str(body)[:_LONGEST]}" if body else told[:_LONGEST]


def sizes_in(told: str) -> Overflow:
    """Return the sizes that a text names; what it counts for the answer is taken off what the request may have."""
    found = next(filter(None, (pattern.search(told) for pattern in _SIZES)), None)
    if found is None:
        return Overflow()
    sizes = {name: int(re.sub(r"[,_]", "", digits)) for name, digits in found.groupdict().items()}
    return Overflow(sizes.get("sent", 0), max(0, sizes["most"] - sizes.get("answer", 0)))


def _is_told(error: BaseException, told: str) -> bool:
    status = getattr(error, "status_code", None)
    if status == _RATE_LIMIT:
        sizes = sizes_in(told)
        return bool(_ALONE_TOO_LARGE.search(told)) and sizes.sent > sizes.most > 0
    return status == _TOO_LARGE or (status in _STATUSES and bool(_TOLD.search(told)))
